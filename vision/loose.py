"""Labels that lie in no tray: heaps, single tiles, strays. Their backs are guessed from the label alone."""

import numpy as np

from vision.geometry import UNIT_SQUARE, Quad, project, rotation_degrees
from vision.old_marks import Mark
from vision.reading import Corners, Read

# A usual label covers 0.36 of the back's width and sits a little above its middle (mean of the development pictures).
_WIDTH, _HEIGHT = 2.75, 3.75
_ABOVE = 0.25


def loose_reads(marks: tuple[tuple[Mark, bool], ...]) -> tuple[Read, ...]:
    """Give a read without row and column for each label; a doubtful one has no serial."""
    return tuple(read_mark(mark, _back_about(mark), doubtful=doubtful) for mark, doubtful in marks)


def read_mark(
    mark: Mark, quad: Quad, *, doubtful: bool, row: int | None = None, col: int | None = None, turn: int = 0
) -> Read:
    """Give the read of one label on the tile back `quad`, shape (4, 2), pixels."""
    return Read(
        serial=None if doubtful else mark.payload.serial,
        set=None if doubtful else mark.payload.set_text,
        quad=corners(quad),
        confidence=0.0 if doubtful else mark.confidence,
        rotation=round(rotation_degrees(quad), 2),
        row=row,
        col=col,
        turn=turn,
    )


def corners(quad: Quad) -> Corners:
    """Give a quad as plain numbers, hundredths of a pixel."""
    a, b, c, d = ((round(float(x), 2), round(float(y), 2)) for x, y in quad)
    return a, b, c, d


def _back_about(mark: Mark) -> Quad:
    right = mark.right
    down = (mark.quad[2] + mark.quad[3] - mark.quad[0] - mark.quad[1]) / 2
    square = (UNIT_SQUARE - 0.5) * [_WIDTH, _HEIGHT] + [0, _ABOVE]
    affine = np.array([[right[0], down[0], mark.centre[0]], [right[1], down[1], mark.centre[1]], [0, 0, 1]])
    return project(affine, square)
