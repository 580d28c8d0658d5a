"""Par is reproducible with breaks and in parallel, and starts over with other deals or players."""

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


def test_par_is_the_same_with_breaks_and_in_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.sim.par.CHUNK", 5)  # several chunks per deal
    whole = played(12, deals=2)
    assert {deal: one.plays for deal, one in whole.deals.items()} == {1: 12, 2: 12}
    assert played(12, played(6), deals=2) == whole
    assert played(12, deals=2, jobs=2) == whole


def test_earlier_plays_are_neither_repeated_nor_dropped() -> None:
    par = played(20)
    assert still_to_play(par, DEALS[:1], OEDMC, 20) == (par, [])
    assert still_to_play(par, DEALS[:1], OEDMC, 10) == (par, [])


def test_another_deal_with_the_same_number_starts_over() -> None:
    par = played(4)
    other = new_deal(1, "east", "east", Random("other"))
    restarted, left = still_to_play(par, [other], OEDMC, 4)
    assert (restarted.deals[1].plays, [one.first for one in left]) == (0, [0])


def test_another_version_of_the_players_starts_over() -> None:
    par = EventPar(1, "cup", 1, PLAYERS + 1, played(4).deals)
    assert still_to_play(par, DEALS[:1], OEDMC, 4)[0].deals[1].plays == 0


def test_plays_are_reproducible_by_seed() -> None:
    again = EventPar(1, "cup", 2, PLAYERS, {})
    assert played(20) == played(20)
    assert played(20, again).deals[1].points != played(20).deals[1].points


def test_the_points_of_all_plays_are_counted_for_each_seat() -> None:
    found = played(20).deals[1]
    for points in found.points.values():
        assert sum(points.values()) == 20
