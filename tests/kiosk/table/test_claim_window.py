"""A claim window by itself: what follows from presses and holds, in whatever order they are reported."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Seat
from kiosk.table import NotNow
from kiosk.table.state import HOLD_NS, ClaimWindow
from tests.kiosk.tables import MS, WINDOW, S

START = 100 * S


@dataclass(frozen=True)
class Finger:
    """One finger: down at an instant (ns after the start), and up after this long."""

    seat: Seat
    down: int
    long: int

    @property
    def calls(self) -> bool:
        return self.long >= HOLD_NS

    def reports(self) -> list[tuple[str, Seat, int]]:
        """Return the reports of its button, in order."""
        down, up = START + self.down, START + self.down + self.long
        held = [("held", self.seat, down)] if self.calls else []
        return [("pressed", self.seat, down), *held, ("released", self.seat, up)]


def told(window: ClaimWindow, what: str, seat: Seat, at: int) -> ClaimWindow:
    """Report one thing to a window; a refusal leaves it as it was."""
    try:
        after: ClaimWindow = getattr(window, what)(seat, at)
    except NotNow:
        return window
    return after


def after(reports: list[tuple[str, Seat, int]], window: ClaimWindow | None = None) -> ClaimWindow:
    window = window or ClaimWindow(WINDOW)
    for report in reports:
        window = told(window, *report)
    return window


fingers = st.lists(
    st.builds(
        Finger,
        seat=st.sampled_from(SEATS),
        down=st.integers(0, 8_000).map(lambda ms: ms * MS),
        long=st.sampled_from([40 * MS, 400 * MS, HOLD_NS - 1, HOLD_NS, HOLD_NS + 300 * MS]),
    ),
    min_size=1,
    max_size=7,
)


def one_at_a_time(drawn: list[Finger]) -> list[Finger]:
    """A seat has one button, so its next press begins after the last has ended."""
    free: dict[Seat, int] = {}
    done = []
    for finger in sorted(drawn, key=lambda one: one.down):
        if finger.down > free.get(finger.seat, -1):
            done.append(finger)
            free[finger.seat] = finger.down + finger.long
    return done


def by_definition(hands: list[Finger]) -> list[tuple[Seat, int]]:
    """The expected declarations: each seat's first press that is no hold, in the window that the first opens."""
    first = {one.seat: one for one in reversed(hands) if not one.calls}
    opened = min((one.down for one in first.values()), default=0)
    ordered = sorted(first.values(), key=lambda one: (one.down, SEATS.index(one.seat)))
    return [(one.seat, START + one.down) for one in ordered if one.down < opened + WINDOW]


@given(fingers.map(one_at_a_time), st.data())
def test_declarations_do_not_depend_on_the_order_in_which_seats_are_reported(
    hands: list[Finger], data: st.DataObject
) -> None:
    """Each seat's reports come in order, as its button sends them; how the four mix is random."""
    waiting = {seat: [report for one in hands if one.seat == seat for report in one.reports()] for seat in SEATS}
    window = ClaimWindow(WINDOW)
    while left := [seat for seat in SEATS if waiting[seat]]:
        window = told(window, *waiting[data.draw(st.sampled_from(left))].pop(0))
    assert [(one.seat, one.at) for one in window.declared] == by_definition(hands)
    assert not any(one.down for one in window.presses)
    called = [START + one.down for one in hands if one.calls]
    assert window.called_at == max(called, default=None)


@given(fingers.map(one_at_a_time))
def test_a_window_closed_when_it_may_be_is_not_changed_by_timely_reports(hands: list[Finger]) -> None:
    """With reports as things happen, the outcome is certain from `closes_at` on."""
    reports = sorted((report for one in hands for report in one.reports()), key=when_told)
    for count in range(1, len(reports) + 1):
        window, rest = after(reports[:count]), reports[count:]
        if window.presses and all(when_told(report) > window.closes_at for report in rest):
            assert after(rest, window).declared == window.declared


def when_told(report: tuple[str, Seat, int]) -> int:
    what, _, at = report
    return at + HOLD_NS if what == "held" else at


@given(fingers.map(one_at_a_time))
def test_no_finger_is_waited_for_longer_than_a_hold_after_the_deadline(hands: list[Finger]) -> None:
    window = after([report for one in hands for report in one.reports()[:1]])
    assert window.deadline <= window.closes_at < window.deadline + HOLD_NS


@given(fingers.map(one_at_a_time), st.integers(0, 8_000), st.booleans())
def test_after_nobody_won_the_wait_reveals_no_finger(
    hands: list[Finger],
    ended_ms: int,
    said_first: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    ended = START + ended_ms * MS
    pressed = [report for one in hands if START + one.down >= ended for report in one.reports()]
    silent = ClaimWindow(WINDOW).ended(ended)
    window = after(pressed, silent) if said_first else after(pressed).ended(ended)
    assert window.closes_at == silent.closes_at == ended + WINDOW + HOLD_NS


@given(fingers.map(one_at_a_time), st.integers(-(10**12), 10**12))
def test_a_window_moved_to_another_clock_is_the_same_window(hands: list[Finger], by: int) -> None:
    window = after([report for one in hands for report in one.reports()])
    moved = window.moved(by)
    assert moved.moved(-by) == window
    assert [one.seat for one in moved.declared] == [one.seat for one in window.declared]
    assert moved.closes_at - window.closes_at == by


def test_a_press_is_a_hu_unless_a_hold_is_reported_however_late_its_end() -> None:
    """A box that comes back after its cable was out reports all buttons as released."""
    window = after([("pressed", "east", START), ("released", "east", START + 5 * HOLD_NS)])
    assert ([one.seat for one in window.declared], window.called_at) == (["east"], None)


def test_a_finger_without_further_reports_has_declared() -> None:
    """Unplugging a cable takes no hu away."""
    window = after([("pressed", "east", START), ("pressed", "north", START + WINDOW - 1)])
    assert [one.seat for one in window.declared] == ["east", "north"]
    assert window.closes_at == START + WINDOW - 1 + HOLD_NS


def test_a_window_holds_at_most_four_presses() -> None:
    window = after([("pressed", seat, START + at * MS) for at in range(5_000) for seat in SEATS])
    assert len(window.presses) == 4


@given(st.integers(0, 8_000), st.integers(0, 8_000))
def test_a_window_reopened_twice_ends_by_the_later_time(one_ms: int, two_ms: int) -> None:
    window = ClaimWindow(WINDOW).pressed("east", START)
    twice = window.reopened(START + one_ms * MS).reopened(START + two_ms * MS)
    assert twice.deadline == START + max(one_ms, two_ms) * MS + WINDOW
