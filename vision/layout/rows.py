"""Step 4, a group to rows: which of up to three rows each tile lies in, and how many pitches along it."""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Points
from vision.layout.frames import Indices
from vision.layout.plane import HEIGHT
from vision.layout.tray import ROWS

_BREAK = 0.45 * HEIGHT  # tile widths between rows; they lie 1.04 heights and more apart, a tile 0.2 off its row
_APART = 0.75 * HEIGHT  # nearer to a fuller row than this lies a false tile
_ROW_PITCH = 1.17 * HEIGHT  # the usual one: a row that is empty lies between two that are two of these apart
_PITCHES = np.arange(0.82, 1.25, 0.004)  # tile widths from tile to tile


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Tiles in rows: `row` counts from the topmost occupied one, -1 for none; `along` is in pitches, near halves.

    Both have shape (n,), one for each tile of the group, x along the rows and y across them. Where a row begins and
    which end is the player's is not known here.
    """

    row: Indices
    along: Points


def find_rows(spots: Points) -> Rows:
    """Sort a group's middles, shape (n, 2), tile widths, into rows of one pitch."""
    row = _best_three(_row_numbers(spots[:, 1]))
    pitch, phase = _pitch_and_phase(spots[:, 0], row)
    return Rows(row, np.asarray(spots[:, 0] / pitch - phase))


def _row_numbers(heights: Points) -> Indices:
    """Count rows from the top, -1 for what lies between them."""
    order = np.argsort(heights)
    groups = np.split(order, np.nonzero(np.diff(heights[order]) > _BREAK)[0] + 1)
    middles = np.array([np.median(heights[group]) for group in groups])
    kept: list[int] = []
    for at in sorted(range(len(groups)), key=lambda at: -len(groups[at])):
        if all(abs(middles[at] - middles[other]) > _APART for other in kept):
            kept.append(at)
    kept.sort()
    numbers = np.append(0, np.cumsum(np.maximum(1, np.round(np.diff(middles[kept]) / _ROW_PITCH)))).astype(int)
    row = np.full(len(heights), -1)
    for number, at in zip(numbers, kept, strict=True):
        row[groups[at]] = number
    return row


def _best_three(row: Indices) -> Indices:
    """Keep the three rows that hold most; a false tile may lie beyond them."""
    held = [int(((row >= first) & (row < first + ROWS)).sum()) for first in range(int(row.max()) + 1)]
    moved = row - int(np.argmax(held))
    moved = np.where((moved >= 0) & (moved < ROWS), moved, -1)
    return np.asarray(np.where(moved >= 0, moved - moved[moved >= 0].min(), -1))


def _pitch_and_phase(along: Points, row: Indices) -> tuple[float, float]:
    """Give the pitch at which all rows beat together, the first or the last perhaps by half a pitch aside."""
    beats = np.stack(
        [np.exp(2j * np.pi * along[None, row == number] / _PITCHES[:, None]).sum(axis=1) for number in range(ROWS)]
    )
    signs = np.array([[1, 1, 1], [1, 1, -1], [-1, 1, 1], [1, -1, 1]])
    strength = signs @ beats  # shape (4, pitches)
    best = np.unravel_index(int(np.abs(strength).argmax()), strength.shape)
    return float(_PITCHES[best[1]]), float(np.angle(strength[best]) / (2 * np.pi))
