"""What the last still frames agree on, and what lies under a hand as it was last seen.

A serial counts if two frames show it, nothing newer speaks against it, no frame of the still scene shows another, and
all frames together are as sure of it as a reader must be. Frames of a still scene have the same light, focus and print:
what one takes for another number, the next is likely to take for it, too. They are one witness, so their log-odds are
not added up but averaged: more frames that say the same are no more evidence, one that contradicts them is a doubt, and
a mark that only noise lifts over the bar now and then falls below it again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from vision.marks.read import SURE
from vision.reading import PictureReading, PlaceState, TileRead, TrayPlace

FRAMES: Final = 3
"""How many still frames, the newest, may show a serial."""

_ENOUGH = 2  # of these frames
_MADE_OUT = 0.3  # confidence from which a frame shows that something stands on a back; else glare or a hand hides it
_SUREST = 0.9999
_NEAR = 0.35  # of a tile's shorter side: nearer than that it is the same tile

_Claim = tuple[object, ...] | None  # what a frame says of one tile; None: it does not say


@dataclass(frozen=True, slots=True, eq=False)
class AgreedReading:
    """Combined frames: the newest reading, without the serials on which frames do not agree.

    `doubtful` are the tiles of `reading` of which only one frame has spoken, or frames contradict one another.
    `settled` tells that there are none, and that at least two frames were held against one another.
    """

    reading: PictureReading
    doubtful: frozenset[TileRead]
    settled: bool


def agree_on_frames(readings: Sequence[PictureReading]) -> AgreedReading:
    """Combine readings of still frames, oldest first, at least one; of many the last `FRAMES` count.

    Older ones count only against a serial: by showing another. Nothing may have moved between the frames: a tile is
    known again by where it lies.
    """
    window = readings[-FRAMES:]
    doubts: list[TileRead] = []
    places, open_places = _settle_places(readings, doubts)
    strays = tuple(_settle_strays(readings, doubts))
    merged = without_repeated_serials(with_places(window[-1], places, strays))
    recent = window[-_ENOUGH:]
    alike = len(recent) == _ENOUGH and len({len(reading.places) for reading in recent}) == 1
    return AgreedReading(merged, frozenset(doubts), alike and not doubts and not open_places)


def tile_at(tile: TileRead, others: Sequence[TileRead]) -> TileRead | None:
    """Return the one of `others` that lies where `tile` lies."""
    quad = np.array(tile.quad)
    reach = _NEAR * min(float(np.linalg.norm(quad[1] - quad[0])), float(np.linalg.norm(quad[2] - quad[1])))
    centre = quad.mean(axis=0)
    return next((one for one in others if np.linalg.norm(np.mean(one.quad, axis=0) - centre) <= reach), None)


def _settle_places(readings: Sequence[PictureReading], doubts: list[TileRead]) -> tuple[tuple[TrayPlace, ...], int]:
    """Return the newest frame's places as frames agree on them, and how many they do not agree on."""
    settled, still_open = [], 0
    window = readings[-FRAMES:]
    count = len(window[-1].places)
    same = [reading for reading in window if len(reading.places) == count]
    ever = [reading for reading in readings if len(reading.places) == count]
    for index in range(count):
        seen = [reading.places[index] for reading in same]
        reads = [reading.places[index].read for reading in ever]
        agreed = None if _is_contradicted(reads) else _agreed([_claim_of_place(place) for place in seen])
        if agreed is not None:
            read = _weighed(seen[agreed].read, reads)
            if (read is None) == (seen[agreed].read is None):
                settled.append(replace(seen[agreed], read=read))
                continue
        backs = [place for place in seen if place.state is PlaceState.BACK] or seen
        read = _withheld(backs[-1].read) if backs[-1].read is not None else None
        settled.append(replace(backs[-1], read=read))
        still_open += 1
        if read is not None:
            doubts.append(read)
    return tuple(settled), still_open


def _settle_strays(readings: Sequence[PictureReading], doubts: list[TileRead]) -> Iterator[TileRead]:
    """Return the tiles that lie at no place, as frames agree on them; one that only an older frame saw is gone."""
    known: list[TileRead] = []
    window = readings[-FRAMES:]
    for reading in reversed(window):
        for stray in reading.strays:
            if tile_at(stray, known) is not None:
                continue
            known.append(stray)
            seen = [tile_at(stray, other.reads) for other in window]
            ever = [tile_at(stray, other.reads) for other in readings]
            agreed = None if _is_contradicted(ever) else _agreed([_claim_of_read(read) for read in seen])
            best = None if agreed is None else _weighed(seen[agreed], ever)
            if best is not None:
                yield best
            elif seen[-1] is not None:
                held = _withheld(stray)
                doubts.append(held)
                yield held


def _claim_of_place(place: TrayPlace) -> _Claim:
    read = place.read
    if read is None or read.serial is None:
        return None if place.state is PlaceState.BACK else (place.state,)
    return (place.state, place.seat, place.row, place.col, read.set, read.serial, read.turn)


def _claim_of_read(read: TileRead | None) -> _Claim:
    if read is None or (read.serial is None and not read.face_up):
        return None
    return (read.face_up, read.set, read.serial)


def _agreed(claims: Sequence[_Claim]) -> int | None:
    """Return which frame to believe: the later of the last two that say anything, if they say the same.

    Frames that say nothing at all agree as well, once there are two; then the newest is as good as any.
    """
    said = [index for index, claim in enumerate(claims) if claim is not None]
    if not said:
        return len(claims) - 1 if len(claims) >= _ENOUGH else None
    last = said[-_ENOUGH:]
    return last[-1] if len(last) == _ENOUGH and claims[last[0]] == claims[last[-1]] else None


def _weighed(read: TileRead | None, frames: Iterable[TileRead | None]) -> TileRead | None:
    """Return a read with the confidence of all frames of its scene together; None for a serial that falls below SURE.

    A frame that makes a mark out and is not sure of it speaks neither for a serial nor against it: even odds.
    """
    if read is None or read.serial is None:
        return read
    odds = [
        0.0 if one.serial is None else float(np.log(1 / (1 / min(one.confidence, _SUREST) - 1)))
        for one in frames
        if one is not None and one.confidence >= _MADE_OUT
    ]
    confidence = round(float(1 / (1 + np.exp(-np.mean(odds)))), 4)
    return replace(read, confidence=confidence) if confidence >= SURE else None


def _is_contradicted(reads: Iterable[TileRead | None]) -> bool:
    """Return whether reads of one tile in several frames say more than one serial."""
    return len({(read.set, read.serial) for read in reads if read is not None and read.serial is not None}) > 1


def _withheld(read: TileRead) -> TileRead:
    return replace(read, serial=None, set=None, confidence=0.0)


def with_places(reading: PictureReading, places: tuple[TrayPlace, ...], strays: Iterable[TileRead]) -> PictureReading:
    """Return a reading with other places, and other tiles that lie at none."""
    inside = (place.read for place in places if place.read is not None)
    return replace(reading, reads=(*inside, *strays), places=places)


def without_repeated_serials(reading: PictureReading) -> PictureReading:
    """Withhold serials that two tiles have: each may come from another frame, and one set has each serial once."""
    times: Counter[tuple[object, object]] = Counter(
        (read.set, read.serial) for read in reading.reads if read.serial is not None
    )
    twins = {id(read) for read in reading.reads if times[read.set, read.serial] > 1}
    if not twins:
        return reading
    single = {id(read): _withheld(read) if id(read) in twins else read for read in reading.reads}
    places = tuple(
        place if place.read is None else replace(place, read=single[id(place.read)]) for place in reading.places
    )
    return replace(reading, reads=tuple(single[id(read)] for read in reading.reads), places=places)


_SAME_TRAY = 0.5  # share of the tiles still seen that lie in the tray that was there before


def recall_covered_places(
    now: PictureReading, before: PictureReading | None
) -> tuple[PictureReading, tuple[TrayPlace, ...]]:
    """Return a settled reading with its covered places as they were last seen, and these places.

    A tile that is seen elsewhere now is remembered nowhere. Where so much is covered that no tray is found, the
    reading before stays as a whole.
    """
    if before is None or len(before.places) != len(now.places):
        if before is not None and before.places and _still_there(now, before):
            return before, tuple(place for place in before.places if not _seen(place, now))
        return now, tuple(place for place in now.places if place.state is PlaceState.OCCLUDED)
    remembered = {
        id(place): _recall(place, then, now)
        for place, then in zip(now.places, before.places, strict=True)
        if place.state is PlaceState.OCCLUDED
    }
    places = tuple(remembered.get(id(place), place) for place in now.places)
    return with_places(now, places, now.strays), tuple(remembered.values())


def _recall(place: TrayPlace, then: TrayPlace, now: PictureReading) -> TrayPlace:
    """Return what lay at a place before, unless that tile is seen now or nothing was known."""
    if then.read is None or _name(then.read) in {_name(read) for read in now.reads if read.serial is not None}:
        return place
    return then


def _still_there(now: PictureReading, before: PictureReading) -> bool:
    """Return whether most of the tiles that are seen now lie where they lay in the tray that was there before."""
    seen = [read for read in now.reads if read.serial is not None]
    tray = [place.read for place in before.places if place.read is not None]
    return sum(_name(tile_at(read, tray)) == _name(read) for read in seen) > _SAME_TRAY * len(seen)


def _seen(place: TrayPlace, now: PictureReading) -> bool:
    return place.read is not None and _name(place.read) in {_name(read) for read in now.reads}


def _name(read: TileRead | None) -> tuple[str | None, int | None] | None:
    return (read.set, read.serial) if read is not None else None
