"""One hand movement each, and what it does. A tile that is moved is put down the right way round and straight."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kiosk.table.restoring.lying import EMPTY, Carrier, Lying, What, laid_well, turned
from kiosk.table.restoring.places import Place


@dataclass(frozen=True, slots=True)
class Swap:
    """Exchange what lies at two places."""

    one: Place
    other: Place


@dataclass(frozen=True, slots=True)
class Shift:
    """Move a tile to a place that is empty."""

    one: Place
    other: Place


@dataclass(frozen=True, slots=True)
class TakeOut:
    """Take out a tile that is of another set."""

    one: Place


@dataclass(frozen=True, slots=True)
class PutIn:
    """Put in a tile that lies in none of the places that are known: in the heap, on the floor, in a tray not seen."""

    one: Place
    serial: int


@dataclass(frozen=True, slots=True)
class Turn:
    """Lay a tile right where it lies: over, round or straight."""

    one: Place


Move: TypeAlias = Swap | Shift | TakeOut | PutIn | Turn


def places_of(move: Move) -> tuple[Place, ...]:
    """Give the places that a move touches."""
    return (move.one, move.other) if isinstance(move, Swap | Shift) else (move.one,)


def crosses(move: Move) -> bool:
    """Tell whether a move leads from one tray into another."""
    return len({place.seat for place in places_of(move)}) > 1


def after(carrier: Carrier, move: Move) -> dict[Place, Lying]:
    """Give what lies where once a move was made."""
    return {**carrier, **dict(_changed(carrier, move))}


def _changed(carrier: Carrier, move: Move) -> Iterator[tuple[Place, Lying]]:
    match move:
        case Swap(one, other) | Shift(one, other):
            yield one, laid_well(carrier[other])
            yield other, laid_well(carrier[one])
        case TakeOut(one):
            yield one, EMPTY
        case PutIn(one, serial):
            yield one, Lying(What.TILE, serial)
        case Turn(one):
            yield one, turned(carrier[one])


def is_done(move: Move, before: Carrier, now: Carrier) -> bool:
    """Tell whether the camera sees a move done: each place that it touches is as it should be after it.

    A tile that nobody could read before may be read by now.
    """
    wanted = dict(_changed(before, move))
    return all(_fits(now[place], lying) for place, lying in wanted.items())


def _fits(now: Lying, wanted: Lying) -> bool:
    if wanted.serial is None and wanted.what is What.UNREAD:
        return now.what in (What.TILE, What.UNREAD)
    return now == wanted
