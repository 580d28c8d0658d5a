"""Fingers at a simulated box bounce, at times that do not depend on the machine's load."""

from firmware.reports import Seat
from firmware.sim.box import BoxFingers, BoxSimulator

NOW = 5_000
MS = 1_000_000


class Contacts(BoxSimulator):
    """A box with contacts only."""

    def __init__(self) -> None:
        self.edges = list[tuple[int | None, Seat, bool]]()

    def touch(self, seat: Seat, *, closed: bool, at: int | None = None) -> None:
        self.edges.append((at, seat, closed))


def fingers(*, bounces: int, hold_s: float = 0.2) -> tuple[BoxFingers, Contacts, list[float]]:
    """Return fingers, their box, and the recorded sleeps."""
    box, slept = Contacts(), list[float]()
    return BoxFingers(box, bounces=bounces, hold_s=hold_s, seed=3, sleep=slept.append, clock_ns=lambda: NOW), box, slept


def test_a_simulated_press_bounces_and_ends_open() -> None:
    hand, box, slept = fingers(bounces=6)
    hand.press("east")
    times = [at for at, _, _ in box.edges if at is not None]
    assert times == sorted(times)
    assert [(seat, closed) for _, seat, closed in box.edges] == [("east", at % 2 == 0) for at in range(len(times))]
    assert len(times) > 4
    assert slept == [(times[-1] - NOW) / 1e9]


def test_without_bounces_a_press_is_two_edges() -> None:
    hand, box, slept = fingers(bounces=0)
    hand.press("north")
    assert box.edges == [(NOW, "north", True), (NOW + 200 * MS, "north", False)]
    assert slept == [0.2]


def test_only_a_stuck_button_stays_down() -> None:
    hand, box, _ = fingers(bounces=0)
    hand.stuck = {"east"}
    hand.press("east")
    hand.press("north")
    assert [(seat, closed) for _, seat, closed in box.edges] == [("east", True), ("north", True), ("north", False)]
