"""The fewest moves that put a carrier right, one by one, in an order for hands.

Draw an arrow from each place whose tile belongs elsewhere to where it belongs. No place has two arrows out or in, so
they form rings and chains. No movement takes away more than one of: an arrow that is no ring's last, an empty place
without an arrow in, a tile of another set, a face, a tile that lies badly in its own place. Each move given here takes
one away, so there are never fewer (tests hold this against trying everything out). Of tiles that are not read nothing
is assumed: they are moved only where a tile that is read belongs in their place.

The next move follows from what lies there alone. So when staff do what is said, the rest of the plan stays as it was,
and when they do something else the plan follows them.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from broker.contract.words import Seat
from kiosk.table.restoring.lying import Carrier, What, where
from kiosk.table.restoring.moves import Move, PutIn, Shift, Swap, TakeOut, Turn, after, crosses, places_of
from kiosk.table.restoring.places import Deal, Place


def plan(carrier: Carrier, deal: Deal, near: Seat | None = None) -> Iterator[Move]:
    """Give all moves in their order."""
    while (move := next_move(carrier, deal, near)) is not None:
        yield move
        carrier = after(carrier, move)


def next_move(carrier: Carrier, deal: Deal, near: Seat | None = None) -> Move | None:
    """Give the next move; None where nothing more is known to be wrong.

    Moves inside one tray come first, those of the tray that is `near` (under the camera) before all. Strange tiles and
    faces are seen to before tiles are moved, for they tell more then. Tiles that somebody has to look for come last:
    they may turn up. Else in the order of reading.
    """
    lies = where(carrier)
    moves = [move for place in carrier if (move := _putting_right(place, carrier, deal, lies)) is not None]
    return min(moves, key=lambda move: _rank(move, near), default=None)


def _rank(move: Move, near: Seat | None) -> tuple[object, ...]:
    away = near is not None and any(place.seat != near for place in places_of(move))
    later = (crosses(move), isinstance(move, PutIn), not isinstance(move, TakeOut | Turn))
    return (away, *later, min(place.order for place in places_of(move)))


def _putting_right(place: Place, carrier: Carrier, deal: Deal, lies: Mapping[int, Place]) -> Move | None:
    """Give the move that puts one place right, or brings it nearer to that; None where it is right or must wait."""
    lying, wanted = carrier[place], deal[place]
    if lying.what is What.FOREIGN:
        return TakeOut(place)
    if lying.what is What.FACE_UP:
        return Turn(place)
    if lying.serial == wanted:
        return None if lying.well else Turn(place)
    if (there := lies.get(wanted)) is not None:
        return Shift(there, place) if lying.what is What.EMPTY else _swap(place, there)
    if lying.what is What.EMPTY:
        return PutIn(place, wanted)
    return None  # a tile of elsewhere waits for its own place's move; a back that is not read may be the right one


def _swap(one: Place, other: Place) -> Swap:
    first, second = sorted((one, other), key=lambda place: place.order)
    return Swap(first, second)


def fewest(carrier: Carrier, deal: Deal) -> int:
    """Give how many moves there are, without making them up."""
    lies = where(carrier)
    into = {place: lies[serial] for place, serial in deal.items() if lies.get(serial, place) != place}
    badly = sum(not lying.well and lying.serial == deal[place] for place, lying in carrier.items())
    return len(into) - _rings(into) + badly + sum(_EXTRA.get(lying.what, 0) for lying in carrier.values())


_EXTRA: Final = {What.EMPTY: 1, What.FOREIGN: 2, What.FACE_UP: 1}
"""What a chain that ends so takes beside its arrows. The tile that is missing at the beginning of a chain with an empty
end is put in; a tile of another set is taken out first; a face is turned over."""


def _rings(into: Mapping[Place, Place]) -> int:
    """Count rings among arrows, given as a place and the place that its tile comes from."""
    rings, seen = 0, set[Place]()
    for start in into:
        place: Place | None = start
        trail = set[Place]()
        while place is not None and place not in seen:
            seen.add(place)
            trail.add(place)
            place = into.get(place)
        rings += place in trail
    return rings
