"""Fingers at a simulated box bounce as fingers do."""

from firmware.reports import Seat
from firmware.twins.box import BoxTwin
from firmware.twins.box_fingers import LONG_S, BoxFingers


class Contacts(BoxTwin):
    """A box of which only the contacts are there."""

    def __init__(self) -> None:
        self.levels = list[tuple[Seat, bool]]()

    def touch(self, seat: Seat, *, closed: bool) -> None:
        self.levels.append((seat, closed))


def test_a_press_bounces_and_ends_open() -> None:
    box, slept = Contacts(), list[float]()
    BoxFingers(box, bounces=6, hold_s=0.2, seed=3, sleep=slept.append).press("east")
    assert {seat for seat, _ in box.levels} == {"east"}
    assert [closed for _, closed in box.levels] == [at % 2 == 0 for at in range(len(box.levels))]
    assert len(box.levels) > 4
    assert sum(slept) > 0.2


def test_without_bounces_a_press_is_two_edges() -> None:
    box, slept = Contacts(), list[float]()
    BoxFingers(box, bounces=0, hold_s=0.2, sleep=slept.append).press("north")
    assert (box.levels, slept) == ([("north", True), ("north", False)], [0.2])


def test_a_call_for_the_arbiter_is_a_long_press() -> None:
    box, slept = Contacts(), list[float]()
    BoxFingers(box, bounces=0, sleep=slept.append).call("west")
    assert (box.levels, slept) == ([("west", True), ("west", False)], [LONG_S])
