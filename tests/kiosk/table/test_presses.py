"""What a press is, in every phase and at every time: taken in, or refused with its code, by its edge alone."""

from collections.abc import Callable
from copy import deepcopy
from typing import Final

import pytest

from broker.contract.words import SEATS
from kiosk.table.events import ButtonPressed, ResultRefused
from kiosk.table.state import Phase
from tests.kiosk.tables import HOLD, MS, SETTLE, WINDOW, S, Sitting, sitting_in

TAKEN: Final = ""


def claiming(*, down: bool = False) -> Sitting:
    """Give a play in which west has pressed."""
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(ButtonPressed(at=sitting.wait(), seat="west"))
    if not down:
        sitting = sitting_in(Phase.PLAYING)
        sitting.press("west")
    return sitting


def opened(sitting: Sitting) -> int:
    assert sitting.table.window is not None
    return sitting.table.window.opened_at


def code(sitting: Sitting, seat_at: int, at: int) -> str:
    return sitting.refusal(ButtonPressed(at=at, seat=SEATS[seat_at]))


EAST, SOUTH, WEST, NORTH = range(4)

REFUSED_IN: Final[dict[Phase, str]] = {
    Phase.WAITING: "press_before_play",
    Phase.RESTORING: TAKEN,
    Phase.SEATING: TAKEN,
    Phase.CONFIRMING: TAKEN,
    Phase.PLAYING: TAKEN,
    Phase.CLAIMING: TAKEN,
    Phase.DECLARED: "press_after_window",
    Phase.ACCEPTING: TAKEN,
    Phase.RECORDED: "press_after_play",
    Phase.FINISHED: "press_after_play",
}
"""A first press of a seat that has nothing against it, long after the phase began (the window still open)."""


@pytest.mark.parametrize("phase", Phase)
def test_a_press_in_its_time(phase: Phase) -> None:
    sitting = sitting_in(phase)
    wait = 500 * MS if phase is Phase.CLAIMING else 2 * S
    assert code(sitting, EAST, sitting.now + wait) == REFUSED_IN[phase]


TOO_SOON_IN: Final[dict[Phase, str]] = {
    **REFUSED_IN,
    Phase.RESTORING: "press_too_soon",
    Phase.SEATING: "press_too_soon",
    Phase.CONFIRMING: "press_too_soon",
    Phase.PLAYING: "press_too_soon",
    Phase.ACCEPTING: "press_too_soon",
}


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.CLAIMING])
def test_a_press_in_the_first_second_of_what_is_shown(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert code(sitting, EAST, sitting.table.since + SETTLE - 1) == TOO_SOON_IN[phase]


@pytest.mark.parametrize("phase", Phase)
def test_a_press_in_the_arbiters_pause_and_when_it_is_told_after_it(phase: Phase) -> None:
    sitting = sitting_in(phase)
    sitting.order("pause", sitting.wait(100 * MS))
    in_pause = sitting.wait(1 * S)
    assert code(sitting, EAST, in_pause) == "press_in_pause"
    sitting.order("resume", sitting.wait(1 * S))
    assert code(sitting, EAST, in_pause) == "press_in_pause"


@pytest.mark.parametrize("phase", [phase for phase in Phase if REFUSED_IN[phase] == TAKEN])
def test_a_press_just_outside_the_pause_is_as_if_there_had_been_none(phase: Phase) -> None:
    sitting = sitting_in(phase)
    began = sitting.wait(1500 * MS if phase is not Phase.CLAIMING else 100 * MS)
    sitting.order("pause", began)
    assert code(sitting, EAST, began - 1) == TAKEN
    sitting.order("resume", began + 9 * S)
    assert (code(sitting, EAST, began - 1), code(sitting, EAST, began + 9 * S)) == (TAKEN, TAKEN)


@pytest.mark.parametrize("phase", [Phase.PLAYING, Phase.CLAIMING, Phase.DECLARED])
def test_a_press_of_a_dead_hand(phase: Phase) -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    if phase is not Phase.PLAYING:
        sitting.press("east")
    before_the_close = sitting.now
    if phase is Phase.DECLARED:
        sitting.close_window()
    assert sitting.table.phase is phase
    assert code(sitting, SOUTH, before_the_close if phase is Phase.DECLARED else sitting.wait()) == "press_of_dead_hand"


AT: Final[dict[str, tuple[Callable[[Sitting], int], str]]] = {
    "before the play": (lambda sitting: sitting.table.since - 1, "press_before_play"),
    "as the play began": (lambda sitting: sitting.table.since, "press_too_soon"),
    "before the first press": (lambda sitting: opened(sitting) - 1, TAKEN),
    "with the first press": (opened, TAKEN),
    "just inside": (lambda sitting: opened(sitting) + WINDOW - 1, TAKEN),
    "just outside": (lambda sitting: opened(sitting) + WINDOW, "press_after_window"),
    "long after": (lambda sitting: opened(sitting) + 60 * S, "press_after_window"),
}


@pytest.mark.parametrize("when", AT)
def test_a_press_beside_another_that_is_a_hu(when: str) -> None:
    at, expected = AT[when]
    sitting = claiming()
    assert code(sitting, EAST, at(sitting)) == expected


@pytest.mark.parametrize("when", AT)
def test_a_press_beside_one_that_may_yet_be_a_call_is_kept_for_the_window_that_would_then_be_its_own(when: str) -> None:
    at, expected = AT[when]
    sitting = claiming(down=True)
    assert code(sitting, EAST, at(sitting)) == (TAKEN if expected == "press_after_window" else expected)


@pytest.mark.parametrize(
    ("after", "expected"), [(-1, TAKEN), (0, "press_again"), (MS, "press_again"), (WINDOW, "press_again")]
)
@pytest.mark.parametrize("down", [False, True])
def test_a_second_press_of_a_seat(after: int, expected: str, *, down: bool) -> None:
    sitting = claiming(down=down)
    assert code(sitting, WEST, opened(sitting) + after) == expected


@pytest.mark.parametrize("result", ["declared", "accepting"])
@pytest.mark.parametrize(
    ("seat", "before", "expected"),
    [(WEST, 1, "press_again"), (EAST, 1, "press_told_late"), (EAST, 0, "press_after_window")],
)
def test_a_press_that_is_told_when_the_window_is_closed(result: str, seat: int, before: int, expected: str) -> None:
    """It can neither be a hu any more, for the table has seen who declared, nor the acceptance of a result."""
    sitting = claiming()
    deadline = sitting.table.claim_deadline
    assert deadline is not None
    sitting.close_window()
    if result == "accepting":
        sitting.value("north", west=8)
        expected = expected if before else "press_too_soon"
    assert code(sitting, seat, deadline - before) == expected


def test_a_press_before_a_drawn_hand_was_shown_accepts_nothing() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.draw()
    assert sitting.table.phase is Phase.ACCEPTING
    assert sitting.table.closed_at is not None
    assert code(sitting, EAST, sitting.table.closed_at - 1) == "press_told_late"
    assert code(sitting, EAST, sitting.table.closed_at + HOLD) == "press_too_soon"


def test_a_press_of_the_play_before_a_false_hu_is_not_taken_for_one_of_the_play_that_goes_on() -> None:
    sitting = claiming()
    told_late = sitting.now
    sitting.close_window()
    sitting.false_hu("west")
    assert code(sitting, EAST, told_late) == "press_before_play"
    sitting.take(ButtonPressed(at=sitting.wait(), seat="east"))


def test_no_refused_press_changes_anything() -> None:
    for phase in Phase:
        sitting = sitting_in(phase)
        before = deepcopy(sitting.table)
        for at in (0, sitting.table.since, sitting.now, sitting.now + 60 * S):
            for seat in range(4):
                code(sitting, seat, at)
        assert sitting.table == before


def test_a_drawn_hand_that_is_refused_lets_presses_count_again() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.draw()
    sitting.take(ResultRefused(at=sitting.wait()))
    assert code(sitting, EAST, sitting.now + SETTLE) == TAKEN
