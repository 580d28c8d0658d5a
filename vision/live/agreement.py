"""Combine the readings of the last still frames, and remember tiles that a hand covers.

A serial counts if two frames show it, no newer frame contradicts it, no frame of the still scene shows another serial,
and the combined confidence of all frames reaches that required of a single reading. Frames of a still scene share
light, focus and print, so if one misreads a number, the next probably will too. They are one witness: their log-odds
are averaged rather than added. More frames that agree are no further evidence, one that contradicts them is a doubt,
and a mark that noise lifts over the threshold now and then falls below it again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from vision.marks.read import SURE
from vision.reading import PictureReading, PlaceState, TileRead, TrayPlace

FRAMES: Final = 3
"""How many of the newest still frames are combined."""

_ENOUGH = 2  # frames that must agree
_LEGIBLE = 0.3  # confidence from which a frame shows some mark on a back; below, glare or a hand hides it
_SUREST = 0.9999
_NEAR = 0.35  # of a tile's shorter side: distance up to which two reads are of the same tile

_Claim = tuple[object, ...] | None  # what a frame shows of one tile; None if it shows nothing definite


@dataclass(frozen=True, slots=True, eq=False)
class AgreedReading:
    """Combined frames: the newest reading, without the serials on which the frames do not agree.

    `doubtful` are the tiles of `reading` that only one frame has read, or on which frames contradict one another.
    `settled` is whether there are none, and at least two frames were compared.
    """

    reading: PictureReading
    doubtful: frozenset[TileRead]
    settled: bool


def agree_on_frames(readings: Sequence[PictureReading]) -> AgreedReading:
    """Combine readings of at least one still frame, oldest first; the last `FRAMES` of them decide.

    Older ones can only speak against a serial, by showing another one. Nothing may have moved between the frames,
    because tiles are identified by where they lie.
    """
    recent = readings[-FRAMES:]
    doubts: list[TileRead] = []
    places, open_places = _settle_places(readings, doubts)
    strays = tuple(_settle_strays(readings, doubts))
    merged = without_repeated_serials(with_places(recent[-1], places, strays))
    last = recent[-_ENOUGH:]
    alike = len(last) == _ENOUGH and len({len(reading.places) for reading in last}) == 1
    return AgreedReading(merged, frozenset(doubts), alike and not doubts and not open_places)


def tile_at(tile: TileRead, others: Sequence[TileRead]) -> TileRead | None:
    """Return the one of `others` that lies where `tile` lies, if any."""
    quad = np.array(tile.quad)
    reach = _NEAR * min(float(np.linalg.norm(quad[1] - quad[0])), float(np.linalg.norm(quad[2] - quad[1])))
    centre = quad.mean(axis=0)
    return next((one for one in others if np.linalg.norm(np.mean(one.quad, axis=0) - centre) <= reach), None)


def _settle_places(readings: Sequence[PictureReading], doubts: list[TileRead]) -> tuple[tuple[TrayPlace, ...], int]:
    """Return the newest frame's places as the frames agree on them, and on how many they do not agree.

    Tiles whose serial is withheld for that are added to `doubts`.
    """
    settled, still_open = [], 0
    recent = readings[-FRAMES:]
    count = len(recent[-1].places)
    same = [reading for reading in recent if len(reading.places) == count]
    all_frames = [reading for reading in readings if len(reading.places) == count]
    for index in range(count):
        seen = [reading.places[index] for reading in same]
        reads = [reading.places[index].read for reading in all_frames]
        agreed = None if _is_contradicted(reads) else _agreed([_claim_of_place(place) for place in seen])
        if agreed is not None:
            read = _with_mean_confidence(seen[agreed].read, reads)
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
    """Yield the tiles outside trays as the frames agree on them; one that only an older frame shows is left out."""
    known: list[TileRead] = []
    recent = readings[-FRAMES:]
    for reading in reversed(recent):
        for stray in reading.strays:
            if tile_at(stray, known) is not None:
                continue
            known.append(stray)
            seen = [tile_at(stray, other.reads) for other in recent]
            all_frames = [tile_at(stray, other.reads) for other in readings]
            agreed = None if _is_contradicted(all_frames) else _agreed([_claim_of_read(read) for read in seen])
            best = None if agreed is None else _with_mean_confidence(seen[agreed], all_frames)
            if best is not None:
                yield best
            elif seen[-1] is not None:
                withheld = _withheld(stray)
                doubts.append(withheld)
                yield withheld


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
    """Return the index of the frame to use: the later of the last two with a definite claim, if these two are equal.

    If at least two frames show nothing definite at all, the newest is used. Otherwise return None.
    """
    definite = [index for index, claim in enumerate(claims) if claim is not None]
    if not definite:
        return len(claims) - 1 if len(claims) >= _ENOUGH else None
    latest = definite[-_ENOUGH:]
    return latest[-1] if len(latest) == _ENOUGH and claims[latest[0]] == claims[latest[-1]] else None


def _with_mean_confidence(read: TileRead | None, frames: Iterable[TileRead | None]) -> TileRead | None:
    """Return a read with the mean confidence of all frames of its scene; None if a serial then falls below SURE.

    A frame that shows a mark without reading it counts as even odds.
    """
    if read is None or read.serial is None:
        return read
    odds = [
        0.0 if one.serial is None else float(np.log(1 / (1 / min(one.confidence, _SUREST) - 1)))
        for one in frames
        if one is not None and one.confidence >= _LEGIBLE
    ]
    confidence = round(float(1 / (1 + np.exp(-np.mean(odds)))), 4)
    return replace(read, confidence=confidence) if confidence >= SURE else None


def _is_contradicted(reads: Iterable[TileRead | None]) -> bool:
    """Return whether reads of one tile in several frames have different serials."""
    return len({(read.set, read.serial) for read in reads if read is not None and read.serial is not None}) > 1


def _withheld(read: TileRead) -> TileRead:
    return replace(read, serial=None, set=None, confidence=0.0)


def with_places(reading: PictureReading, places: tuple[TrayPlace, ...], strays: Iterable[TileRead]) -> PictureReading:
    """Return a reading with other places, and other tiles outside them."""
    inside = (place.read for place in places if place.read is not None)
    return replace(reading, reads=(*inside, *strays), places=places)


def without_repeated_serials(reading: PictureReading) -> PictureReading:
    """Withhold serials that two tiles have; these may come from different frames, and a set has each serial once."""
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


_SAME_TRAY = 0.5  # share of the visible tiles that must still lie where they lay for the tray to be the same


def recall_covered_places(
    now: PictureReading, before: PictureReading | None
) -> tuple[PictureReading, tuple[TrayPlace, ...]]:
    """Return a settled reading with its covered places as they were last seen, and the list of these places.

    A tile that is now visible elsewhere is not remembered. If so much is covered that the tray is not found, the whole
    previous reading stays.
    """
    if before is None or len(before.places) != len(now.places):
        if before is not None and before.places and _still_there(now, before):
            return before, tuple(place for place in before.places if not _is_visible(place, now))
        return now, tuple(place for place in now.places if place.state is PlaceState.OCCLUDED)
    remembered = {
        id(place): _recall(place, previous, now)
        for place, previous in zip(now.places, before.places, strict=True)
        if place.state is PlaceState.OCCLUDED
    }
    places = tuple(remembered.get(id(place), place) for place in now.places)
    return with_places(now, places, now.strays), tuple(remembered.values())


def _recall(place: TrayPlace, before: TrayPlace, now: PictureReading) -> TrayPlace:
    """Return the place as it was before, unless its tile is visible elsewhere now, or nothing was known."""
    visible = {_identity(read) for read in now.reads if read.serial is not None}
    if before.read is None or _identity(before.read) in visible:
        return place
    return before


def _still_there(now: PictureReading, before: PictureReading) -> bool:
    """Return whether most of the tiles that are visible now lie where they lay in the previous tray."""
    seen = [read for read in now.reads if read.serial is not None]
    tray = [place.read for place in before.places if place.read is not None]
    return sum(_identity(tile_at(read, tray)) == _identity(read) for read in seen) > _SAME_TRAY * len(seen)


def _is_visible(place: TrayPlace, now: PictureReading) -> bool:
    return place.read is not None and _identity(place.read) in {_identity(read) for read in now.reads}


def _identity(read: TileRead | None) -> tuple[str | None, int | None] | None:
    return (read.set, read.serial) if read is not None else None
