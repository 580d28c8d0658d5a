"""What lies under a hand: as it was last seen, and marked as covered."""

from dataclasses import replace

from vision.live.agreement import tile_at
from vision.reading import Place, Read, Reading, State

_SAME = 0.5  # share of the tiles still seen that lie in the tray that was there before


def with_memory(now: Reading, before: Reading | None) -> tuple[Reading, tuple[Place, ...]]:
    """Give a settled reading with its covered places as they were last seen, and these places.

    A tile that is seen elsewhere now is remembered nowhere. Where so much is covered that no tray is found, the
    reading before stays as a whole.
    """
    if before is None or len(before.places) != len(now.places):
        if before is not None and before.places and _still_there(now, before):
            return before, tuple(place for place in before.places if not _seen(place, now))
        return now, tuple(place for place in now.places if place.state is State.OCCLUDED)
    remembered = {
        id(place): _recall(place, then, now)
        for place, then in zip(now.places, before.places, strict=True)
        if place.state is State.OCCLUDED
    }
    places = tuple(remembered.get(id(place), place) for place in now.places)
    placed = {id(place.read) for place in now.places}
    strays = tuple(read for read in now.reads if id(read) not in placed)
    inside = tuple(place.read for place in places if place.read is not None)
    return replace(now, reads=inside + strays, places=places), tuple(remembered.values())


def _recall(place: Place, then: Place, now: Reading) -> Place:
    """Give what lay at a place before, unless that tile is seen now or nothing was known."""
    if then.read is None or _name(then.read) in {_name(read) for read in now.reads if read.serial is not None}:
        return place
    return then


def _still_there(now: Reading, before: Reading) -> bool:
    """Tell whether most of the tiles that are seen now lie where they lay in the tray that was there before."""
    seen = [read for read in now.reads if read.serial is not None]
    tray = [place.read for place in before.places if place.read is not None]
    return sum(_name(tile_at(read, tray)) == _name(read) for read in seen) > _SAME * len(seen)


def _seen(place: Place, now: Reading) -> bool:
    return place.read is not None and _name(place.read) in {_name(read) for read in now.reads}


def _name(read: Read | None) -> tuple[str | None, int | None] | None:
    return (read.set, read.serial) if read is not None else None
