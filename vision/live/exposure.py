"""Other exposures of a still scene: which to request from the camera, and how they help with unread tiles.

If a lamp's reflection is overexposed, a shorter exposure may show the mark in it; a longer one shows dark tiles.
Exposures are in stops relative to the camera's own: at -1 it takes in half the light.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import cv2
import numpy as np

from vision.geometry import Picture
from vision.live.agreement import AgreedReading, agree_on_frames, tile_at, with_places, without_repeated_serials
from vision.reading import Corners, PictureReading, PlaceState, TileRead, TrayPlace

SHORTEST: Final = -2
LONGEST: Final = 1

READINGS: Final = 3
"""Most frames of one exposure to read; two that agree are enough."""

PATIENCE: Final = 40
"""Frames after which a camera that has not reached the requested exposure never will."""

STEADY: Final = 20
"""Frames after which motion can no longer be due to the camera's own change of exposure."""

_FULL, _BURNT = 250, 0.1  # level from which a pixel is overexposed; share of such pixels that hides a tile's mark
_DIM, _BRIGHTEST = 60, 90  # a tile is dark if the 90th percentile of its levels is below 60


def light_of_unread(picture: Picture, reading: PictureReading) -> int:
    """Return -1 if an unread tile is overexposed, 1 if one is too dark, 0 if light is not to blame.

    Empty places are checked for overexposure only: an overexposed tile may seem to be an empty place, but a dark empty
    place is empty.
    """
    unread = [read.quad for read in reading.reads if read.serial is None and not read.face_up]
    bare = [place.quad for place in reading.places if place.read is None and place.quad is not None]
    if any((patch.min(axis=2) >= _FULL).mean() > _BURNT for patch in _patches(picture, unread + bare)):
        return -1
    return int(any(np.percentile(patch, _BRIGHTEST) < _DIM for patch in _patches(picture, unread)))


def _patches(picture: Picture, quads: Iterable[Corners]) -> Iterator[Picture]:
    for quad in quads:
        left, top, width, height = cv2.boundingRect(np.array(quad, dtype=np.float32))
        patch = picture[max(0, top) : max(0, top + height), max(0, left) : max(0, left + width)]
        if patch.size:
            yield patch


class ExposureSearch:
    """The exposures of one still scene: the one requested now, and the readings of those that were tried."""

    def __init__(self) -> None:
        self.wanted = 0
        self._tried = {0}
        self._readings: list[PictureReading] = []  # at the requested exposure
        self._every: list[PictureReading] = []  # at all exposures but the camera's own
        self._agreed: list[PictureReading] = []  # combined, one for each exposure
        self._late = self._steady = 0

    @property
    def may_disturb(self) -> bool:
        """Whether apparent motion may be due to the camera's own change of exposure."""
        return len(self._tried) > 1 and (self.wanted != 0 or self._steady < STEADY)

    def record(self, exposure: int | None) -> bool:
        """Record a frame's exposure, None while it is changing; return whether it is the requested one.

        If the camera does not reach the requested exposure in time, no other is requested.
        """
        reached = exposure == self.wanted
        self._steady += reached
        self._late += not reached
        if self._late > PATIENCE:
            self._tried |= {*range(SHORTEST, LONGEST + 1)}
            self.request(0)
        return reached

    def request(self, direction: int) -> None:
        """Request the next exposure in the given `direction`; the camera's own if that was tried or is out of range."""
        step = self.wanted + direction
        self.wanted = step if SHORTEST <= step <= LONGEST and step not in self._tried else 0
        self._tried.add(self.wanted)
        self._readings, self._late, self._steady = [], 0, 0

    def take(self, reading: PictureReading) -> bool:
        """Record a reading at the requested exposure; return whether there are enough of them."""
        self._readings.append(reading)
        self._every.append(reading)
        agreed = agree_on_frames(self._readings)
        enough = agreed.settled or len(self._readings) >= READINGS
        if enough:
            self._agreed.append(agreed.reading)
        return enough

    def fill(self, agreed: AgreedReading, frames: Sequence[PictureReading]) -> AgreedReading:
        """Return the combined reading with unread tiles filled in from other exposures.

        A serial counts if two frames of one exposure show it, and no frame of the scene shows another one there.
        """
        reading = agreed.reading
        for other in self._agreed:
            reading = _filled(reading, other, (*frames, *self._every))
        return replace(agreed, reading=reading, doubtful=agreed.doubtful.intersection(reading.reads))


def _filled(reading: PictureReading, other: PictureReading, frames: Iterable[PictureReading]) -> PictureReading:
    read_tiles = [[read for read in frame.reads if read.serial is not None] for frame in frames]

    def tile(read: TileRead | None, seen: TileRead | None) -> TileRead | None:
        if seen is None or seen.serial is None or (read is not None and (read.serial is not None or read.face_up)):
            return read
        claims = {(one.set, one.serial) for reads in read_tiles if (one := tile_at(seen, reads)) is not None}
        return seen if len(claims) == 1 else read

    def place(here: TrayPlace, others: TrayPlace | None) -> TrayPlace:
        seen = others.read if others is not None else here.read and tile_at(here.read, other.reads)
        read = tile(here.read, seen)
        if read is here.read or read is None:
            return here
        lying = replace(read, row=here.row, col=here.col, seat=here.seat)
        return replace(here, state=PlaceState.BACK, read=lying)

    alike = len(reading.places) == len(other.places)
    others = other.places if alike else (None,) * len(reading.places)
    strays = (tile(read, tile_at(read, other.reads)) for read in reading.strays)
    places = tuple(map(place, reading.places, others))
    return without_repeated_serials(with_places(reading, places, (read for read in strays if read is not None)))
