"""What is seen of a winner's hand that lies face down: groups of serials, and the picture with the groups drawn."""

from collections.abc import Iterable
from functools import partial
from typing import Final

import numpy as np

from kiosk.drawing import Drawing
from kiosk.heap_picture import Cut
from kiosk.heap_view import mark, short_side
from kiosk.looks import sighted
from kiosk.sight import HandSight, Winner
from vision.geometry import Picture, Points, Quad, rectangle
from vision.laid_hand import hand_groups, hand_rows
from vision.live.feed import Frame
from vision.live.overlay.pen import Pen
from vision.live.overlay.style import BLACK, FACE_UP, FAULT, UNREAD, WHITE
from vision.live.watcher import Stir, Watched
from vision.reader import read_picture
from vision.reading import Read, Reading

AROUND: Final = 0.12
"""Of a tile's width, between a group and the line about it."""

read_hand = partial(read_picture, close=False)
"""A hand is some tiles on a wide mat: none of them fills the picture."""


class LookingAtHand:
    """What is seen for one winner."""

    def __init__(self, winner: Winner, size: tuple[int, int]) -> None:
        self._set = winner.play.set
        self._drawing = Drawing(lambda picture, reading: HandView(picture, reading, size))
        self._told = HandSight()

    def see(self, watched: Watched, frame: Frame | None, now: int) -> tuple[HandSight, ...]:  # noqa: ARG002 - as of trays
        """Give what is new on the mat."""
        sight = self._sight(watched, frame)
        if sight == self._told:
            return ()
        self._told = sight
        return (sight,)

    def _sight(self, watched: Watched, frame: Frame | None) -> HandSight:
        shown = watched.shown
        if shown is None:
            return HandSight()
        rows = hand_rows(shown.reads)
        groups = tuple(tuple(sighted(read, self._set) for read in group) for row in rows for group in row)
        view = self._drawing.view(watched, shown, frame) if frame is not None else None
        return HandSight(groups, watched.stir is Stir.SETTLED, view, tuple(map(len, rows)))


class HandView:
    """One reading of a hand: each group in a frame with its number, tiles that cannot be counted with their sign."""

    def __init__(self, picture: Picture, reading: Reading, size: tuple[int, int]) -> None:
        """Take what was read, and how large (width, height) it is shown at most, pixels."""
        self._cut, self._reads = Cut.about(picture, reading, size), reading.reads
        self._line = max(1.0, 0.004 * max(size))

    def on(self, picture: Picture, lying: Iterable[bool]) -> Picture:
        """Give the part of a picture in which tiles lie, BGR; those of which one was moved have no frame."""
        drawn = self._cut.of(picture)
        lies = {id(read) for read, there in zip(self._reads, lying, strict=True) if there}
        pen = Pen(drawn, self._line)
        for number, group in enumerate(hand_groups(self._reads), 1):
            if all(id(read) in lies for read in group):
                self._draw(pen, group, str(number))
        return drawn

    def _draw(self, pen: Pen, group: tuple[Read, ...], number: str) -> None:
        quads = np.array([self._cut.shown(np.array(read.quad)) for read in group])
        _frame(pen, quads, number)
        for read, quad in zip(group, quads, strict=True):
            _doubt(pen, read, quad)


def _frame(pen: Pen, quads: Quad, number: str) -> None:
    """Draw a line about a group and its number in the upper left corner."""
    wide = short_side(quads[0])
    low, high = quads.min(axis=(0, 1)) - AROUND * wide, quads.max(axis=(0, 1)) + AROUND * wide
    corners: Points = np.array([low, [high[0], low[1]], high, [low[0], high[1]], low])
    pen.strokes([corners], pen.width, WHITE)
    middle = low + 0.24 * wide
    pen.shape(rectangle(middle, 0.48 * wide, 0.48 * wide), BLACK)
    pen.text(number, middle, 0.4 * wide, 0.34 * wide, WHITE)


def _doubt(pen: Pen, read: Read, quad: Quad) -> None:
    """Mark a tile that cannot be counted."""
    if read.face_up or read.foreign:
        mark(pen, quad, FACE_UP if read.face_up else FAULT)
    elif read.serial is None:
        mark(pen, quad, UNREAD)
