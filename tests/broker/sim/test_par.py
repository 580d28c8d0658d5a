"""Par comes out the same in one go and with breaks, and again where something else is played."""

from random import Random

import pytest

from broker.event import EventPar
from broker.protocol import SEATS
from broker.rules import new_deal
from broker.sim.par import PLAYERS, play_par, still_to_play
from tests.broker.rules.variants import OEDMC

EMPTY = EventPar(1, "cup", 1, PLAYERS, {})
DEALS = [new_deal(number, "east", SEATS[number], Random(f"par {number}")) for number in (1, 2)]


def played(plays: int, since: EventPar = EMPTY, deals: int = 1, jobs: int = 1) -> EventPar:
    par, stretches = still_to_play(since, DEALS[:deals], OEDMC, plays)
    return [par, *play_par(par, stretches, jobs)][-1]


def test_with_breaks_and_in_several_processes_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.sim.par.CHUNK", 5)  # several chunks a deal, of plays that take their time
    whole = played(12, deals=2)
    assert {deal: one.plays for deal, one in whole.deals.items()} == {1: 12, 2: 12}
    assert played(12, played(6), deals=2) == whole
    assert played(12, deals=2, jobs=2) == whole


def test_what_is_there_is_not_played_again_and_nothing_is_forgotten() -> None:
    par = played(20)
    assert still_to_play(par, DEALS[:1], OEDMC, 20) == (par, [])
    assert still_to_play(par, DEALS[:1], OEDMC, 10) == (par, [])


def test_another_deal_of_the_same_number_begins_anew() -> None:
    par = played(4)
    other = new_deal(1, "east", "east", Random("other"))
    anew, left = still_to_play(par, [other], OEDMC, 4)
    assert (anew.deals[1].plays, [one.first for one in left]) == (0, [0])


def test_other_players_begin_anew() -> None:
    par = EventPar(1, "cup", 1, PLAYERS + 1, played(4).deals)
    assert still_to_play(par, DEALS[:1], OEDMC, 4)[0].deals[1].plays == 0


def test_a_seed_gives_the_same_plays_and_another_one_others() -> None:
    again = EventPar(1, "cup", 2, PLAYERS, {})
    assert played(20) == played(20)
    assert played(20, again).deals[1].points != played(20).deals[1].points


def test_points_of_a_play_are_those_that_the_rules_pay() -> None:
    found = played(20).deals[1]
    for points in found.points.values():
        assert sum(points.values()) == 20
