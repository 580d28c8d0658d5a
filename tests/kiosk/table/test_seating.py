"""Who sits where is asked of the players, and told with every play."""

from dataclasses import replace

import msgspec
import pytest

from broker.contract.facts import Result, Seated
from broker.contract.plans import PlannedPlay, Player
from broker.contract.words import SEATS, Seat
from kiosk.table.events import Assigned, ButtonPressed, SeatsSwapped
from kiosk.table.state import Phase
from tests.kiosk.tables import Sitting, plan, play, sitting_in

PLANNED: dict[Seat, str] = {"east": "p01", "south": "p02", "west": "p03", "north": "p04"}


def for_others(round_: int) -> PlannedPlay:
    """Plan a play in which one player is another."""
    players = {**play(round_).players, "north": Player(id="p09", name="Ada Holm")}
    return msgspec.structs.replace(play(round_), players=players)


def moved_round(round_: int) -> PlannedPlay:
    """Plan a play in which the same four sit one seat further."""
    had = [*play(round_).players.values()]
    return msgspec.structs.replace(play(round_), players=dict(zip(SEATS, [*had[1:], had[0]], strict=True)))


def seats_told(sitting: Sitting) -> list[dict[Seat, str]]:
    return [fact.players for fact in sitting.facts if isinstance(fact, Seated)]


def played_to_next(*plays: PlannedPlay) -> Sitting:
    sitting = Sitting(*plays)
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    sitting.next_deal()
    return sitting


def test_nobody_looks_at_tiles_before_all_four_have_checked_in() -> None:
    sitting = sitting_in(Phase.SEATING)
    sitting.press("east", "west", "north")
    assert sitting.table.arrived == {"east", "west", "north"}
    assert (sitting.table.phase, seats_told(sitting)) == (Phase.SEATING, [])
    sitting.press("south")
    assert sitting.table.phase is Phase.CONFIRMING
    assert seats_told(sitting) == [PLANNED]


def test_players_may_check_in_while_trays_are_still_laid() -> None:
    sitting = Sitting()
    sitting.press(*SEATS)
    assert (sitting.table.phase, seats_told(sitting)) == (Phase.RESTORING, [])
    sitting.lay()
    assert sitting.table.phase is Phase.CONFIRMING
    assert seats_told(sitting) == [PLANNED]


def test_the_same_seat_does_not_check_in_twice() -> None:
    sitting = sitting_in(Phase.SEATING)
    sitting.press("east")
    assert sitting.refusal(ButtonPressed(at=sitting.wait(), seat="east")) == "press_before_play"


def test_those_who_stay_seated_check_in_once_and_are_told_with_each_play() -> None:
    sitting = played_to_next(play(1), play(2))
    sitting.lay()
    assert sitting.table.phase is Phase.CONFIRMING
    assert seats_told(sitting) == [PLANNED, PLANNED]


def test_a_substitute_checks_in_though_the_seat_is_still_that_of_who_has_left() -> None:
    left = play(2).players["north"]
    players = {**play(2).players, "north": Player(id=left.id, name="Ada Reserve")}
    sitting = played_to_next(play(1), msgspec.structs.replace(play(2), players=players))
    assert sitting.table.arrived == frozenset()


@pytest.mark.parametrize("coming", [for_others, moved_round])
def test_others_or_the_same_in_other_seats_check_in_anew(coming: type) -> None:
    sitting = played_to_next(play(1), coming(2))
    sitting.lay()
    assert (sitting.table.phase, sitting.table.arrived) == (Phase.SEATING, frozenset())
    sitting.check_in()
    assert seats_told(sitting)[-1] == {seat: one.id for seat, one in coming(2).players.items()}


def swap(sitting: Sitting, one: Seat = "east", other: Seat = "west") -> None:
    sitting.admit()
    sitting.take(SeatsSwapped(at=sitting.wait(), one=one, other=other, reason="sat down so"))


@pytest.mark.parametrize("phase", [Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING])
def test_two_who_sit_in_each_others_seats_are_told_and_scored_where_they_sit(phase: Phase) -> None:
    sitting = sitting_in(phase)
    swap(sitting)
    sitting.lay(sitting.table.unverified)
    sitting.check_in()
    really = {**PLANNED, "east": "p03", "west": "p01"}
    assert seats_told(sitting)[-1] == really
    sitting.press(*SEATS)
    sitting.draw()
    sitting.press(*SEATS)
    results = [fact.players for fact in sitting.facts if isinstance(fact, Result)]
    assert results == [really]


def test_the_two_who_change_seats_check_in_again_and_everybody_confirms_anew() -> None:
    sitting = sitting_in(Phase.CONFIRMING)
    sitting.press("north")
    swap(sitting)
    assert sitting.table.arrived == {"south", "north"}
    assert sitting.table.agreed == frozenset()


def test_seats_swapped_twice_are_as_planned() -> None:
    sitting = Sitting()
    sitting.admit()
    before = sitting.table
    swap(sitting)
    swap(sitting)
    assert replace(sitting.table, since=before.since) == before


def test_who_sat_in_anothers_seat_checks_in_again_for_the_next_play() -> None:
    sitting = Sitting(play(1), play(2))
    swap(sitting)
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    sitting.next_deal()
    assert (sitting.table.arrived, sitting.table.seating) == (frozenset(), {})


def test_a_seat_is_not_swapped_with_itself_nor_once_the_play_has_begun() -> None:
    same = SeatsSwapped(at=10**12, one="east", other="east", reason="?")
    seating = sitting_in(Phase.SEATING)
    assert seating.refusal(same) == "arbiter_needed"
    seating.admit()
    assert seating.refusal(same) == "not_two_seats"
    assert sitting_in(Phase.PLAYING).refusal(msgspec.structs.replace(same, other="west")) == "not_now"


def test_an_emptied_plan_seats_nobody() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(play(1))))
    sitting.next_deal()
    assert (sitting.table.phase, sitting.table.players) == (Phase.FINISHED, {})
