"""A table that is described rather than drawn: what lies on it, a sketch of a frame, and its reading."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vision.geometry import Picture
from vision.live.exposure import light_of_unread
from vision.live.watcher import Sketch, TableWatcher, WatchedTable, sketch
from vision.reading import Corners, PictureReading, PlaceState, TileRead, TrayPlace, tray_places

CELL = 4  # cells of a sketch per place, each way


@dataclass(frozen=True)
class Table:
    """A tray with these serials at its places, in reading order, None for empty ones; a hand covers some places."""

    serials: tuple[int | None, ...]
    hand: frozenset[int] = frozenset()

    def laid(self, index: int, serial: int | None) -> "Table":
        return replace(self, serials=(*self.serials[:index], serial, *self.serials[index + 1 :]))

    def under(self, *hidden: int) -> "Table":
        return replace(self, hand=frozenset(hidden))


FULL = Table(tuple(range(1, 35)))


def corners(left: float, top: float, width: float = 22, height: float = 30) -> Corners:
    return ((left, top), (left + width, top), (left + width, top + height), (left, top + height))


def tile(serial: int | None, row: int, col: int, number: str = "03") -> TileRead:
    quad = corners(col * 24.0, row * 34.0)
    return TileRead(serial, number if serial else None, quad, 0.99 if serial else 0.0, 0.0, row, col)


def stray(serial: int | None, left: float, top: float) -> TileRead:
    return TileRead(serial, "03" if serial else None, corners(left, top), 0.99 if serial else 0.0, 0.0)


def heap(*strays: TileRead) -> PictureReading:
    return PictureReading(strays, ())


def place(index: int, serial: int | None, state: PlaceState = PlaceState.BACK) -> TrayPlace:
    row, col = list(tray_places())[index]
    return TrayPlace(row, col, state, None if state is PlaceState.EMPTY else tile(serial, row, col))


def reading(table: Table, *, unread: frozenset[int] = frozenset()) -> PictureReading:
    """Return the reading of a perfect reader, except that places of `unread` are seen but not read."""
    held = tuple(_held(table, index, unread) for index in range(len(table.serials)))
    return PictureReading(tuple(one.read for one in held if one.read is not None), held)


def _held(table: Table, index: int, unread: frozenset[int]) -> TrayPlace:
    if index in table.hand:
        return place(index, None, PlaceState.OCCLUDED)
    serial = table.serials[index]
    return place(index, None if index in unread else serial, PlaceState.EMPTY if serial is None else PlaceState.BACK)


def frame(table: Table, seed: int = 0, light: float = 1.0, noise: float = 1.5) -> Sketch:
    """Return the sketch of a table: another serial changes it a little, an empty place or a hand a lot."""
    cells = np.full((3 * CELL, 13 * CELL), 60.0)
    for index, (row, col) in enumerate(tray_places()):
        serial = table.serials[index]
        level = 60.0 if serial is None else 120.0 + (serial * 37) % 90
        cells[row * CELL : (row + 1) * CELL, col * CELL : (col + 1) * CELL] = 20.0 if index in table.hand else level
    grain = np.random.default_rng(seed).normal(0, noise, cells.shape)
    return np.asarray(np.clip(cells * light + grain, 0, 255), dtype=np.uint8)


class WaitingStream:
    """A watcher with a reader that answers at once."""

    def __init__(self, read: Callable[[Picture], PictureReading]) -> None:
        self.read, self.watcher = read, TableWatcher()

    @property
    def watched(self) -> WatchedTable:
        return self.watcher.watched

    def see(self, at: float, picture: Picture, exposure: int | None = 0) -> WatchedTable:
        if self.watcher.see(at, sketch(picture), exposure):
            read = self.read(picture)
            self.watcher.take(read, exposure or 0, light_of_unread(picture, read))
        return self.watched
