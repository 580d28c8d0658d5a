"""Tiles in a heap: what has been seen of them, what has not, and what is wrong with those in view."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from broker.contract.words import SEATS, Seat
from kiosk.table.restoring.places import Place

Stage = Literal["seat", "place"]
"""What staff sort by now."""

MOST: Final = 0.8
"""Share of the tiles in view that one seat has when they are the pile of that seat."""

FEWEST: Final = 5
"""Tiles in view, below which nobody can tell whose pile it is."""


@dataclass(frozen=True, slots=True)
class Sighted:
    """One tile in view; `serial` None where it was not read, or is of another set."""

    serial: int | None
    face_up: bool = False
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Heap:
    """What is known of the tiles that lie in no tray."""

    seen: frozenset[int] = frozenset()
    """Serials that were in view at any time since the work began."""
    in_view: tuple[Sighted, ...] = ()

    def count(self, *, face_up: bool = False, foreign: bool = False) -> int:
        """Count tiles in view of one kind."""
        return sum((one.face_up, one.foreign) == (face_up, foreign) for one in self.in_view)

    @property
    def unread(self) -> int:
        """Backs in view that were not read."""
        return sum(one.serial is None and not one.face_up and not one.foreign for one in self.in_view)


def sighted(heap: Heap, in_view: Iterable[Sighted]) -> Heap:
    """Take in what is in view now."""
    in_view = tuple(in_view)
    seen = {one.serial for one in in_view if one.serial is not None and not one.foreign}
    return replace(heap, seen=heap.seen | seen, in_view=in_view)


def unseen(heap: Heap, laid: Collection[int]) -> tuple[int, ...]:
    """Give the serials that nobody has seen: neither in the heap, nor among those that lie in a tray."""
    return tuple(serial for serial in range(1, 137) if serial not in heap.seen and serial not in laid)


def stage(serials: Iterable[int], homes: dict[int, Place]) -> tuple[Stage, Seat | None]:
    """Tell what the tiles in view are to be sorted by: by seat, until nearly all are of one seat; then by place."""
    seats = [homes[serial].seat for serial in serials if serial in homes]
    if len(seats) < FEWEST:
        return "seat", None
    most = max(SEATS, key=seats.count)
    return ("place", most) if seats.count(most) >= MOST * len(seats) else ("seat", None)
