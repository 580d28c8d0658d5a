"""The simulated table and the tiles on it. Any thread may change it, and the camera sees the change at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from vision.reading import LAST_SERIAL, LAST_SET, ROW_LENGTHS


@dataclass(frozen=True, slots=True)
class SimulatedTile:
    """A tile: its set 0..99 and serial 1..136, and how it was put down."""

    set: int
    serial: int
    face_up: bool = False
    upside_down: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.set <= LAST_SET and 1 <= self.serial <= LAST_SERIAL):
            raise ValueError(f"no tile has set {self.set} and serial {self.serial}")


@dataclass(frozen=True, slots=True)
class LooseTile:
    """A tile outside a tray: the position of its middle, in mm from the table's left and top, and its rotation.

    `turn` is in degrees, clockwise.
    """

    tile: SimulatedTile
    at: tuple[float, float]
    turn: float


TileRows = tuple[tuple[SimulatedTile | None, ...], ...]
EMPTY_TRAY: TileRows = tuple((None,) * length for length in ROW_LENGTHS)


def deal_tiles(seed: int) -> list[list[SimulatedTile | None]]:
    """Return 34 different random tiles of set 3 in three rows."""
    serials = iter(np.random.default_rng(seed).permutation(LAST_SERIAL) + 1)
    return [[SimulatedTile(3, int(next(serials))) for _ in range(length)] for length in ROW_LENGTHS]


@dataclass(frozen=True, slots=True)
class CameraView:
    """Everything that a camera can see at one instant: rows of 13, 11 and 10 places, a hand, the light, the cable.

    If there are loose tiles, there is no tray.
    """

    rows: TileRows = EMPTY_TRAY
    loose: tuple[LooseTile, ...] = ()
    covered: bool = False
    hand_at: float = 0.5  # position of the covering hand: share of the table's width from the left
    dark: bool = False
    unplugged: bool = False


class SimulatedTable:
    """A tray on a table: `lay` tiles in it, `spread` them without a tray, cover it, turn off the light, or unplug."""

    def __init__(self, rows: Sequence[Sequence[SimulatedTile | None]] = EMPTY_TRAY) -> None:
        self._lock = Lock()
        self._view = CameraView()
        self._frames = 0
        self.lay(rows)

    @property
    def view(self) -> CameraView:
        """The current view."""
        with self._lock:
            return self._view

    def next_frame(self) -> int:
        """Return the number of the next frame, from 0; reopening the camera does not start over."""
        with self._lock:
            self._frames += 1
            return self._frames - 1

    def lay(self, rows: Sequence[Sequence[SimulatedTile | None]]) -> None:
        """Lay three rows of 13, 11 and 10 tiles, row 0 farthest from the player; None is an empty place."""
        if [len(row) for row in rows] != list(ROW_LENGTHS):
            raise ValueError("a tray has rows of 13, 11 and 10 places")
        laid = tuple(tuple(row) for row in rows)
        with self._lock:
            self._view = replace(self._view, rows=laid, loose=())

    def spread(self, loose: Sequence[LooseTile]) -> None:
        """Take the tray away and lay tiles on the bare table."""
        with self._lock:
            self._view = replace(self._view, rows=EMPTY_TRAY, loose=tuple(loose))

    def cover(self, *, covered: bool = True, at: float = 0.5) -> None:
        """Hold a hand over the tray, `at` a share of the table's width from the left, or take it away."""
        with self._lock:
            self._view = replace(self._view, covered=covered, hand_at=at)

    def darken(self) -> None:
        """Turn the light off; frames are black from then on."""
        with self._lock:
            self._view = replace(self._view, dark=True)

    def unplug(self, *, unplugged: bool = True) -> None:
        """Unplug the camera's cable, or plug it in again; while it is out, frames raise CameraUnpluggedError."""
        with self._lock:
            self._view = replace(self._view, unplugged=unplugged)
