"""Enrol a set tray by tray: take a picture of each tile, with the serials in order, 34 in each of four trays.

A tile is identified only by its place, so everything that could contradict its place is checked. A tile that the
readers are sure of must have the expected serial, and a tray that was enrolled before must not be taken for another.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from vision.enrolled.check import strength
from vision.enrolled.file import EnrolledSet
from vision.enrolled.likeness import SetPictures, ink_axis
from vision.errors import EnrolOrderError, EnrolPaleError, EnrolTrayError
from vision.geometry import Picture
from vision.marks.digits import cut_backs
from vision.reader import read_picture
from vision.reading import TILES, PictureReading, PlaceState, TrayPlace, tray_places

TRAYS: Final = 4
_FAINT: Final = 0.3  # share of the tray's usual contrast below which a tile has no visible mark
_INNER: Final = (slice(20, 92), slice(14, 66))  # rows and columns of a crop that are well inside the tile
_CLEAR_INK: Final = 3.5  # variance of ink relative to bare plastic; of calibration sets, 2.2 was useless, 4.9 harmless
_SAME: Final = TILES // 2  # tiles that match other serials' pictures, from which the tray is a different one
_SAME_LIKENESS: Final = 0.9  # likeness from which two pictures show the same tile; 117 and 17 reach at most 0.88
_UNFILLED: Final = 2  # most places without a tile; a tray taken upside down because of misread marks has three
_MISREAD: Final = 2  # most tiles that the readers may take for others, in a set that they can hardly read


@dataclass(frozen=True, slots=True)
class Doubt:
    """A tile that must be photographed again: its serial, and its row and column, counted from 0."""

    serial: int
    row: int
    col: int


def serials_of_tray(tray: int) -> dict[tuple[int, int], int]:
    """Return the serials that lie in tray 1, 2, 3 or 4, by row and column."""
    return dict(zip(tray_places(), range((tray - 1) * TILES + 1, tray * TILES + 1), strict=True))


def enrol_tray(enrolled: EnrolledSet, picture: Picture, tray: int) -> tuple[EnrolledSet, tuple[Doubt, ...]]:
    """Return the set with the pictures of a tray added, and the tiles of the tray that must be photographed again.

    Pictures of tiles that were enrolled before are replaced. Raises EnrolTrayError, EnrolOrderError, EnrolPaleError and
    PictureError.
    """
    reading = read_picture(picture)
    if len(reading.places) != TILES or _unfilled(picture, reading) > _UNFILLED:
        raise EnrolTrayError(
            "the picture does not show one whole tray with rows of 13, 11 and 10 tiles, and nothing else"
        )
    expected = serials_of_tray(tray)
    _check_order(enrolled, reading, expected)
    backs = cut_backs(picture, [np.array(place.quad) for place in reading.places])
    if ink_axis(backs)[1] < _CLEAR_INK:
        raise EnrolPaleError("this set is too pale to be enrolled: clouds in the plastic are as strong as its ink")
    _check_not_enrolled_elsewhere(enrolled, backs, expected)
    doubts = tuple(_doubts(reading, backs, expected))
    again = {doubt.serial for doubt in doubts}
    new = {
        expected[place.row, place.col]: back
        for place, back in zip(reading.places, backs, strict=True)
        if expected[place.row, place.col] not in again
    }
    return replace(enrolled, text=_text_of(reading) or enrolled.text, backs={**enrolled.backs, **new}), doubts


def _unfilled(picture: Picture, reading: PictureReading) -> int:
    """Return how many places are empty or outside the picture."""
    height, width = picture.shape[:2]
    middles = [np.array(place.quad).mean(axis=0) for place in reading.places]
    inside = [0 <= x < width and 0 <= y < height for x, y in middles]
    states = [place.state for place in reading.places]
    return sum(state is PlaceState.EMPTY or not within for state, within in zip(states, inside, strict=True))


def _check_order(enrolled: EnrolledSet, reading: PictureReading, expected: dict[tuple[int, int], int]) -> None:
    """Raise EnrolOrderError if the readers contradict the stated order, or the set's number.

    In a set that they can hardly read, a few misread tiles are allowed: in seven-segment digits, 120 is 021 upside
    down.
    """
    read = [(place, place.read.serial) for place in reading.places if place.read is not None and place.read.serial]
    wrong = [(place, found) for place, found in read if found != expected[place.row, place.col]]
    if wrong and (len(wrong) > _MISREAD or len(read) >= TILES // 2):
        place, found = wrong[0]
        belongs = f"{expected[place.row, place.col]:03d} belongs; nothing of it is kept"
        raise EnrolOrderError(f"row {place.row + 1}, tile {place.col + 1}: {found:03d} lies where {belongs}")
    text = _text_of(reading)
    if text is not None and text.isdecimal() and int(text) != enrolled.number:
        raise EnrolOrderError(f"the backs say set {int(text)}, not {enrolled.number}")


def _text_of(reading: PictureReading) -> str | None:
    """Return the set's letter or number that more than half of the backs name; None if there is none."""
    named = [place.read.set for place in reading.places if place.read is not None and place.read.set is not None]
    usual = max(set(named), key=named.count, default=None)
    return usual if usual is not None and 2 * named.count(usual) > len(reading.places) else None


def _check_not_enrolled_elsewhere(enrolled: EnrolledSet, backs: Picture, expected: dict[tuple[int, int], int]) -> None:
    """Raise EnrolOrderError if the tiles are enrolled already as others: a previous tray, or one laid the wrong way."""
    if len(enrolled.backs) < TILES:
        return
    known = SetPictures(np.stack([*enrolled.backs.values(), *backs]), list(enrolled.backs))
    seen = zip(known.match(backs), expected.values(), strict=True)
    others = [
        own.serial
        for own, serial in seen
        if own.serial != serial and own.likeness >= _SAME_LIKENESS and strength(own, own.others) >= 1
    ]
    if len(others) >= _SAME:
        raise EnrolOrderError(f"tiles already enrolled, from {min(others):03d} on: is this the right tray?")


def _doubts(reading: PictureReading, backs: Picture, expected: dict[tuple[int, int], int]) -> Iterator[Doubt]:
    contrasts = [float(back[_INNER].std(axis=(0, 1)).max()) for back in backs]
    usual = float(np.median(contrasts))
    for place, contrast in zip(reading.places, contrasts, strict=True):
        if contrast < _FAINT * usual or _is_not_back(place):
            yield Doubt(expected[place.row, place.col], place.row, place.col)


def _is_not_back(place: TrayPlace) -> bool:
    return place.state is not PlaceState.BACK or (
        place.read is not None and (place.read.sideways or place.read.foreign)
    )
