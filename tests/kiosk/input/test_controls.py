"""What buttons and keys do in each phase, that others do nothing, and when a claim window is closed."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules import Outcome
from firmware.presses import MS
from firmware.reports import Held, Pressed, Released
from kiosk.input import Form
from kiosk.input.controls import AGREEING, GRACE_NS, LONGEST_OPEN_NS, RECONNECT_NS, RELEASE_NS, TableButtons
from kiosk.table import (
    SETTLE_NS,
    Event,
    Phase,
    Table,
)
from kiosk.table.events import ButtonHeld, ButtonPressed, ButtonReleased
from kiosk.table.state import ClaimWindow, WindowPress
from tests.kiosk.keyed import Keyed
from tests.kiosk.tables import Sitting, sitting_in

OTHERS = [phase for phase in Phase if phase not in AGREEING]


class Touch:
    """The buttons of a table whose screen has asked the same for long."""

    def __init__(self) -> None:
        self._buttons = TableButtons(-SETTLE_NS)

    def event(self, report: Pressed | Released | Held, phase: Phase) -> Event | None:
        return self._buttons.event(report, Table(phase), report.at)


@pytest.mark.parametrize("phase", OTHERS)
def test_a_press_is_reported_at_once_and_its_release_after_it(phase: Phase) -> None:
    touch = Touch()
    assert touch.event(Pressed("east", 5), phase) == ButtonPressed(at=5, seat="east")
    assert touch.event(Released("east", 7), phase) == ButtonReleased(at=7, seat="east")


@pytest.mark.parametrize("phase", AGREEING)
def test_a_press_that_agrees_counts_on_release_with_the_time_of_its_edge(phase: Phase) -> None:
    touch = Touch()
    assert touch.event(Pressed("east", 5), phase) is None
    assert touch.event(Released("east", 7), phase) == ButtonPressed(at=5, seat="east")
    assert touch.event(Released("east", 8), phase) == ButtonReleased(at=8, seat="east")


@pytest.mark.parametrize("phase", AGREEING)
def test_a_hold_calls_and_agrees_to_nothing(phase: Phase) -> None:
    touch = Touch()
    assert touch.event(Pressed("east", 5), phase) is None
    assert touch.event(Held("east", 5), phase) == ButtonHeld(at=5, seat="east")
    assert touch.event(Released("east", 9), phase) == ButtonReleased(at=9, seat="east")


def test_an_agreeing_press_of_one_seat_does_not_affect_another() -> None:
    touch = Touch()
    touch.event(Pressed("east", 5), Phase.ACCEPTING)
    assert touch.event(Released("west", 7), Phase.ACCEPTING) == ButtonReleased(at=7, seat="west")
    assert touch.event(Released("east", 8), Phase.ACCEPTING) == ButtonPressed(at=5, seat="east")


def test_a_press_begun_before_the_play_keeps_the_time_of_its_edge() -> None:
    """The table then refuses it, by its edge."""
    touch = Touch()
    touch.event(Pressed("east", 5), Phase.CONFIRMING)
    assert touch.event(Released("east", 7), Phase.PLAYING) == ButtonPressed(at=5, seat="east")


OVER = 1_000_000 * MS


class Closing:
    """A claim window whose time is over at OVER, and the buttons."""

    def __init__(self, *, down: bool = False) -> None:
        self._buttons = TableButtons(0)
        self._state = Table(Phase.CLAIMING, window=ClaimWindow(OVER, (WindowPress("east", 0, down),)))
        self.health = self._buttons.health

    def heard(self, now: int) -> None:
        self._buttons.event(Released("west", 0), self._state, now)

    def may_close(self, now: int) -> bool:
        return self._buttons.may_close(self._state, now)


def test_edges_on_their_way_are_waited_for() -> None:
    closing = Closing()
    assert not closing.may_close(OVER + GRACE_NS - 1)
    assert closing.may_close(OVER + GRACE_NS)


def test_a_late_report_prolongs_the_wait_for_others() -> None:
    closing = Closing()
    closing.heard(OVER + 100 * MS)
    assert not closing.may_close(OVER + 100 * MS + GRACE_NS - 1)
    assert closing.may_close(OVER + 100 * MS + GRACE_NS)


def test_the_end_of_a_press_is_waited_for_longer_than_an_edge() -> None:
    closing = Closing(down=True)
    assert not closing.may_close(OVER + RELEASE_NS - 1)
    assert closing.may_close(OVER + RELEASE_NS)


def test_a_disconnected_box_is_waited_for_and_then_its_stored_presses() -> None:
    closing = Closing()
    closing.health("device_unplugged", OVER - 1)
    assert not closing.may_close(OVER + 5_000 * MS)
    closing.health("box_silent", OVER + 5_000 * MS)
    closing.health(None, OVER + 6_000 * MS)
    assert not closing.may_close(OVER + 6_000 * MS + RECONNECT_NS - 1)
    assert closing.may_close(OVER + 6_000 * MS + RECONNECT_NS)


def test_a_box_that_stayed_connected_is_waited_for_no_longer_than_pins() -> None:
    closing = Closing()
    closing.health(None, OVER)
    assert closing.may_close(OVER + GRACE_NS)


@given(
    st.lists(
        st.tuples(st.sampled_from(["heard", "gone", "back"]), st.integers(0, 2 * LONGEST_OPEN_NS)),
        max_size=20,
    )
)
def test_a_window_is_closed_after_the_longest_wait_in_any_case(happened: list[tuple[str, int]]) -> None:
    closing = Closing()
    for what, after in sorted(happened, key=lambda one: one[1]):
        if what == "heard":
            closing.heard(OVER + after)
        else:
            closing.health("box_silent" if what == "gone" else None, OVER + after)
    assert closing.may_close(OVER + LONGEST_OPEN_NS)
    assert not closing.may_close(OVER + GRACE_NS - 1)


KEYS = [*string.ascii_lowercase, *string.digits, "enter", "back"]

MEANT = {
    Phase.WAITING: set(),
    Phase.RESTORING: {"c"},
    Phase.CONFIRMING: {"c"},
    Phase.PLAYING: {"c", "d"},
    Phase.CLAIMING: {"c", "d"},
    Phase.ACCEPTING: {"c", "r"},
    Phase.RECORDED: {"c", "enter"},
    Phase.FINISHED: set(),
}


@pytest.mark.parametrize("phase", MEANT)
def test_only_these_keys_change_the_table(phase: Phase) -> None:
    changing = set()
    for key in KEYS:
        desk = Keyed(sitting_in(phase))
        before = desk.sitting.table
        desk.type(key)
        if desk.sitting.table != before:
            changing.add(key)
    assert changing == MEANT[phase]


def test_two_values_and_a_discarder_make_a_result() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))  # west and north have declared
    desk.type("e", "e", "1", "2", "enter", "8", "enter")
    assert desk.sitting.table.outcome == Outcome("discard", {"west": 12, "north": 8}, "east")


def test_a_value_below_the_minimum_is_refused_and_the_input_stays() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))
    desk.type("e", "e", "9", "enter", "7", "enter")
    assert (desk.keys.problem, desk.sitting.table.phase) == ("below_minimum", Phase.DECLARED)
    assert desk.keys.form == Form(("west", "north"), (9,), "7", 8, tiles=("east", "east"))
    desk.type("0", "enter")
    assert (desk.keys.problem, desk.sitting.table.phase) == (None, Phase.ACCEPTING)


def test_input_that_the_table_refuses_stays_to_be_corrected() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))
    desk.type("e", "e", "9", "enter", "1", "2")
    desk.keys._apply = lambda _: "journal_full"
    desk.type("enter")
    form = Form(("west", "north"), (9,), "12", 8, tiles=("east", "east"))
    assert (desk.keys.problem, desk.keys.form) == ("journal_full", form)


def test_after_a_false_hu_the_other_declarations_are_valued() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))
    desk.sitting.admit()
    desk.type("x", "8", "1")
    assert desk.sitting.table.fines["west"].imp == 8
    assert desk.keys.form is not None
    assert desk.keys.form.declared == ("north",)


def test_there_is_a_form_only_while_a_declaration_waits() -> None:
    forms = {phase: Keyed[Sitting](sitting_in(phase)).keys.form for phase in Phase}
    assert {phase for phase, form in forms.items() if form is not None} == {Phase.DECLARED}
