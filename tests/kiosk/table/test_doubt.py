"""Presses that may not be declarations are questioned: just as a play begins, or of all four."""

from itertools import combinations

import pytest

from broker.protocol import SEATS, Call, Declared, Press, Seat
from kiosk.table import DOUBTFUL_NS, Phase, Table
from kiosk.table.events import (
    ButtonPressed,
    ClaimWindowElapsed,
    DeclarationsCorrected,
    NoHuMeant,
    PlayVoided,
    Restarted,
)
from tests.kiosk.riichi_tables import RiichiSitting
from tests.kiosk.tables import MS, SETTLE, WINDOW, S, Sitting, sitting_in

SOME = [who for count in range(1, 4) for who in combinations(SEATS, count)]

LATER = DOUBTFUL_NS + 1 * S


def close(sitting: Sitting) -> tuple[object, ...]:
    """Let the window run out at a table whose program asks about doubtful presses."""
    closes_at = sitting.table.closes_at
    assert closes_at is not None
    return sitting.take(ClaimWindowElapsed(at=closes_at, asks=True))


def asked(*seats: Seat, after: int = SETTLE) -> Sitting:
    """Return a table at which these seats pressed, this long after the play began, and whose window has closed."""
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.table.since + after
    for number, seat in enumerate(seats):
        sitting.take(ButtonPressed(at=at + number * 100 * MS, seat=seat))
    assert close(sitting) == ()
    return sitting


def standing(table: Table) -> tuple[Phase, str | None, tuple[Seat, ...]]:
    return table.phase, table.doubt, tuple(one.seat for one in table.declarations)


@pytest.mark.parametrize("who", SOME, ids="-".join)
def test_a_press_just_as_the_play_begins_is_questioned(who: tuple[Seat, ...]) -> None:
    table = asked(*who).table
    assert standing(table) == (Phase.CLAIMING, "asked", ())
    assert table.public == "playing"


def test_a_later_press_is_not_questioned() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(ButtonPressed(at=sitting.table.since + DOUBTFUL_NS, seat="west"))
    (fact,) = close(sitting)
    assert fact == Declared(round=1, deal=1, presses=(Press(seat="west", after_ms=0),))
    assert standing(sitting.table) == (Phase.DECLARED, None, ("west",))


def test_four_presses_are_questioned_at_any_time() -> None:
    assert standing(asked(*SEATS, after=LATER).table) == (Phase.CLAIMING, "asked", ())


def test_pressing_again_confirms_a_hu_as_of_the_first_time() -> None:
    sitting = asked("north", "east", "west")
    sitting.press("west", "north")
    (fact,) = close(sitting)
    assert fact == Declared(
        round=1, deal=1, presses=(Press(seat="north", after_ms=0), Press(seat="west", after_ms=200))
    )
    assert standing(sitting.table) == (Phase.DECLARED, None, ("north", "west"))


def test_if_nobody_meant_hu_the_play_goes_on_and_nobody_is_named() -> None:
    sitting = asked("west", "east")
    assert close(sitting) == ()
    assert standing(sitting.table) == (Phase.PLAYING, None, ())
    assert (sitting.table.fines, sitting.table.doubted, sitting.table.window) == ({}, (), None)
    sitting.wait(LATER)
    sitting.press("west")
    assert [type(one) for one in close(sitting)] == [Declared]


def test_a_seat_that_was_not_questioned_cannot_declare_by_answering() -> None:
    sitting = asked("west")
    sitting.press("east")
    assert close(sitting) == ()
    assert standing(sitting.table) == (Phase.PLAYING, None, ())


def test_four_confirmed_presses_declare_nothing_and_the_play_goes_on() -> None:
    sitting = asked(*SEATS, after=LATER)
    sitting.press(*SEATS)
    assert close(sitting) == ()
    assert standing(sitting.table) == (Phase.PLAYING, "denied", ())
    sitting.wait(LATER)
    sitting.press("south")
    assert sitting.table.doubt == "denied", "a press must not change what the screen says"
    close(sitting)
    assert standing(sitting.table) == (Phase.DECLARED, None, ("south",))


def test_a_press_from_before_the_question_does_not_answer_it() -> None:
    sitting = asked("west", "north")
    before = sitting.table.since - 1
    assert sitting.refusal(ButtonPressed(at=before, seat="west")) == "press_before_play"
    assert sitting.refusal(ButtonPressed(at=sitting.table.since + SETTLE - 1, seat="west")) == "press_too_soon"


def test_the_question_takes_the_same_time_whoever_answers() -> None:
    ends = set()
    for who in ((), ("west",), ("west", "north")):
        sitting = asked("west", "north")
        sitting.press(*who)
        assert sitting.table.closes_at is not None
        ends.add(sitting.table.closes_at - sitting.table.since)
    assert ends == {2 * WINDOW + 2 * S}


@pytest.mark.parametrize("who", [(), ("west",), ("west", "north"), ("east",)], ids="-".join)
def test_ending_the_question_looks_the_same_whoever_has_answered(who: tuple[Seat, ...]) -> None:
    sitting = asked("west", "north")
    sitting.press(*who)
    sitting.take(NoHuMeant(at=sitting.wait()))
    assert (sitting.table.doubt, sitting.table.public) == ("leaving", "playing")
    assert sitting.table.closes_at == sitting.now + 2 * S
    sitting.take(NoHuMeant(at=sitting.wait(MS)))
    assert sitting.table.closes_at == sitting.now - MS + 2 * S, "said again it changes nothing"
    close(sitting)
    meant = tuple(seat for seat in ("west", "north") if seat in who)
    assert standing(sitting.table) == (Phase.DECLARED if meant else Phase.PLAYING, None, meant)


def test_a_player_too_slow_to_answer_can_press_anew() -> None:
    sitting = asked("west")
    sitting.take(NoHuMeant(at=sitting.wait()))
    close(sitting)
    sitting.press("west")
    close(sitting)
    assert standing(sitting.table) == (Phase.CLAIMING, "asked", ())
    sitting.press("west")
    close(sitting)
    assert standing(sitting.table) == (Phase.DECLARED, None, ("west",))


def test_the_answer_is_refused_without_a_question_or_in_a_pause() -> None:
    playing, claiming, paused = sitting_in(Phase.PLAYING), sitting_in(Phase.CLAIMING), asked("west")
    paused.order("pause")
    refused = [one.refusal(NoHuMeant(at=one.wait())) for one in (playing, claiming, paused)]
    assert refused == ["not_now", "not_now", "table_paused"]


def test_a_call_is_announced_with_the_question_and_stays() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(ButtonPressed(at=sitting.wait(), seat="west"))
    sitting.hold("south")
    (call,) = close(sitting)
    assert isinstance(call, Call)
    assert (sitting.table.doubt, sitting.table.calling) == ("asked", True)


def test_a_ruling_meanwhile_ends_the_question() -> None:
    for event in (
        DeclarationsCorrected(at=0, seats=("west",), reason="entered wrongly"),
        PlayVoided(at=0, reason="tiles lay wrong"),
    ):
        sitting = asked("west")
        sitting.admit()
        sitting.take(type(event)(**{**{f: getattr(event, f) for f in event.__struct_fields__}, "at": sitting.wait()}))
        assert (sitting.table.doubt, sitting.table.doubted, sitting.table.window) == (None, (), None)


def test_in_older_journals_early_presses_are_not_questioned() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(ButtonPressed(at=sitting.table.since + SETTLE, seat="west"))
    assert [type(one) for one in sitting.close_window()] == [Declared]


def test_early_presses_are_questioned_in_a_riichi_session_too() -> None:
    sitting = RiichiSitting()
    sitting.begin()
    sitting.take(ButtonPressed(at=sitting.table.since + SETTLE, seat="west"))
    assert close(sitting) == ()
    assert standing(sitting.table) == (Phase.CLAIMING, "asked", ())
    assert close(sitting) == ()
    assert standing(sitting.table) == (Phase.PLAYING, None, ())


@pytest.mark.parametrize(("after", "doubtful"), [(SETTLE, True), (LATER, False)])
def test_a_press_from_before_a_power_cut_stays_as_doubtful_as_it_was(after: int, *, doubtful: bool) -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(ButtonPressed(at=sitting.table.since + after, seat="west"))
    sitting.take(Restarted(at=5 * S, doubts=True))  # another clock, younger than the old
    close(sitting)
    assert sitting.table.doubt == ("asked" if doubtful else None)


def test_in_older_journals_no_press_is_doubtful_after_a_power_cut() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(ButtonPressed(at=sitting.table.since + SETTLE, seat="west"))
    sitting.take(Restarted(at=5 * S))
    close(sitting)
    assert standing(sitting.table) == (Phase.DECLARED, None, ("west",))
