"""Take a set's own pictures, tray by tray: the serials lie in order, 34 in each of four trays, row by row.

Only its place says which tile is which. So what can contradict it is checked: a tile that readers are sure of must
have the stated serial, and a tray that is enrolled already must not be taken for another one.
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
_FAINT: Final = 0.3  # of the usual contrast of a tray's marks: less is no mark that a camera sees
_INNER: Final = (slice(20, 92), slice(14, 66))  # rows and columns of a crop: well on the tile
_CLEAR_INK: Final = 3.5  # times the variance of bare plastic: on calibration sets 2.2 was useless, 4.9 did no harm
_SAME: Final = TILES // 2  # tiles that look like others' pictures, from which a tray is another one
_SAME_LIKENESS: Final = 0.9  # 117 is like 17 but for a digit: no more than 0.88
_UNFILLED: Final = 2  # places without a tile at most: of a tray whose misread marks turn it upside down it is three
_MISREAD: Final = 2  # tiles of a tray that readers may take for others, of a set that they hardly read


@dataclass(frozen=True, slots=True)
class Doubt:
    """A tile that has to be laid and photographed again: where it lies, rows and columns from 0, and its serial."""

    serial: int
    row: int
    col: int


def serials_of_tray(tray: int) -> dict[tuple[int, int], int]:
    """Return the serials that lie in tray 1, 2, 3 or 4, by row and column."""
    return dict(zip(tray_places(), range((tray - 1) * TILES + 1, tray * TILES + 1), strict=True))


def enrol_tray(enrolled: EnrolledSet, picture: Picture, tray: int) -> tuple[EnrolledSet, tuple[Doubt, ...]]:
    """Return the set with the pictures of a tray, and the tiles that are missing still.

    A tile that was enrolled before gets its new picture. Raises EnrolTrayError, EnrolOrderError, EnrolPaleError;
    PictureError.
    """
    reading = read_picture(picture)
    if len(reading.places) != TILES or _unfilled(picture, reading) > _UNFILLED:
        raise EnrolTrayError(
            "the picture does not show one whole tray with rows of 13, 11 and 10 tiles, and nothing else"
        )
    stated = serials_of_tray(tray)
    _check_order(enrolled, reading, stated)
    backs = cut_backs(picture, [np.array(place.quad) for place in reading.places])
    if ink_axis(backs)[1] < _CLEAR_INK:
        raise EnrolPaleError("this set is too pale to be enrolled: clouds in the plastic are as strong as its ink")
    _check_not_taken(enrolled, backs, stated)
    doubts = tuple(_doubts(reading, backs, stated))
    again = {doubt.serial for doubt in doubts}
    new = {
        stated[place.row, place.col]: back
        for place, back in zip(reading.places, backs, strict=True)
        if stated[place.row, place.col] not in again
    }
    return replace(enrolled, text=_text_of(reading) or enrolled.text, backs={**enrolled.backs, **new}), doubts


def _unfilled(picture: Picture, reading: PictureReading) -> int:
    """Return how many places are empty or outside of the picture."""
    height, width = picture.shape[:2]
    middles = [np.array(place.quad).mean(axis=0) for place in reading.places]
    inside = [0 <= x < width and 0 <= y < height for x, y in middles]
    states = [place.state for place in reading.places]
    return sum(state is PlaceState.EMPTY or not within for state, within in zip(states, inside, strict=True))


def _check_order(enrolled: EnrolledSet, reading: PictureReading, stated: dict[tuple[int, int], int]) -> None:
    """Refuse an order that readers contradict, unless they hardly read the set: then they misread a tile now and then.

    In seven segments, 120 is 021 upside down.
    """
    read = [(place, place.read.serial) for place in reading.places if place.read is not None and place.read.serial]
    wrong = [(place, serial) for place, serial in read if serial != stated[place.row, place.col]]
    if wrong and (len(wrong) > _MISREAD or len(read) >= TILES // 2):
        place, serial = wrong[0]
        where = f"row {place.row + 1}, tile {place.col + 1}: {serial:03d} lies where {stated[place.row, place.col]:03d}"
        raise EnrolOrderError(f"{where} belongs; nothing of it is kept")
    text = _text_of(reading)
    if text is not None and text.isdecimal() and int(text) != enrolled.number:
        raise EnrolOrderError(f"the backs say set {int(text)}, not {enrolled.number}")


def _text_of(reading: PictureReading) -> str | None:
    """Return what more than half of the backs call their set."""
    named = [place.read.set for place in reading.places if place.read is not None and place.read.set is not None]
    usual = max(set(named), key=named.count, default=None)
    return usual if usual is not None and 2 * named.count(usual) > len(reading.places) else None


def _check_not_taken(enrolled: EnrolledSet, backs: Picture, stated: dict[tuple[int, int], int]) -> None:
    """Refuse a tray whose tiles are known as others: it is one that was enrolled before, or laid the wrong way."""
    if len(enrolled.backs) < TILES:
        return
    known = SetPictures(np.stack([*enrolled.backs.values(), *backs]), list(enrolled.backs))
    seen = zip(known.look(backs), stated.values(), strict=True)
    others = [
        own.serial
        for own, serial in seen
        if own.serial != serial and own.likeness >= _SAME_LIKENESS and strength(own, own.others) >= 1
    ]
    if len(others) >= _SAME:
        raise EnrolOrderError(f"these tiles are enrolled already, from {min(others):03d} on: is it the right tray?")


def _doubts(reading: PictureReading, backs: Picture, stated: dict[tuple[int, int], int]) -> Iterator[Doubt]:
    contrasts = [float(back[_INNER].std(axis=(0, 1)).max()) for back in backs]
    usual = float(np.median(contrasts))
    for place, contrast in zip(reading.places, contrasts, strict=True):
        if contrast < _FAINT * usual or _is_no_back(place):
            yield Doubt(stated[place.row, place.col], place.row, place.col)


def _is_no_back(place: TrayPlace) -> bool:
    return place.state is not PlaceState.BACK or (
        place.read is not None and (place.read.sideways or place.read.foreign)
    )
