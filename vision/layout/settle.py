"""Step 5, rows to places: which end is the player's, and where the rows begin; nothing where that cannot be told.

Every way in which a tray could lie about the tiles is tried: which end is the player's, which of the rows are seen,
left-aligned or centred, and where column 0 stands. A way is the better the more tiles lie on places of the tray, and
the more marks stand upright towards its player. Where two ways that put the tiles elsewhere do nearly equally well,
the picture does not tell.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vision.geometry import Points
from vision.layout.frames import Flags, Indices
from vision.layout.rows import Rows
from vision.layout.tray import CENTRED, LEFT, ROW_LENGTHS, ROWS, Indents

_ON_PLACE = 0.38  # pitches a tile may lie off its place: play in the tray, and what the lens still bends
_ONE_SPOT = 0.5  # pitches
_FEWEST = 6  # tiles on places; fewer make no tray
_MOST = 0.7  # share of the group that must lie on places
_PLAIN = 0.3  # weight by which the best way must be better than any other
_LENGTHS = np.array(ROW_LENGTHS)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """How a tray lies: turned by half or not, its short rows' indents, its tiles' rows and columns (-1: none)."""

    half_turned: bool
    row: Indices
    col: Indices
    indents: Indents
    inside: float  # weight of the tiles that lie on places


def settle(rows: Rows, votes: float, weights: Points | None = None) -> Settled | None:
    """Give the one way in which the tray lies; None when the picture does not tell.

    `votes` counts marks that stand upright along the rows' own y, less those that stand upside down; `weights`, shape
    (n,), 0..1, how much each tile counts, all alike by default.
    """
    weights = _once(rows, np.ones(len(rows.row)) if weights is None else weights)
    ways = [way for half in (False, True) for way in _ways(rows, weights, half_turned=half)]
    if not ways:
        return None
    scores = np.array([way.inside + (-votes if way.half_turned else votes) for way in ways])
    best = ways[int(scores.argmax())]
    rivals = [way for way, score in zip(ways, scores, strict=True) if score > scores.max() - _PLAIN]
    held = int((best.row >= 0).sum())
    if any(not _same(best, rival) for rival in rivals) or held < max(_FEWEST, _MOST * (weights > 0).sum()):
        return None
    return best


def _same(one: Settled, other: Settled) -> bool:
    return (
        one.half_turned == other.half_turned
        and np.array_equal(one.row, other.row)
        and np.array_equal(one.col, other.col)
    )


def _once(rows: Rows, weights: Points) -> Points:
    """Let only the weightiest of the tiles on one spot count: a finder may see one thing twice."""
    order = np.argsort(-weights, kind="stable")
    row, along = rows.row[order], rows.along[order]
    same = (row[:, None] == row) & (np.abs(along[:, None] - along) < _ONE_SPOT)
    counts = np.empty(len(order))
    counts[order] = np.where(np.tril(same, -1).any(axis=1), 0.0, weights[order])
    return counts


def _ways(rows: Rows, weights: Points, *, half_turned: bool) -> Iterator[Settled]:
    there = rows.row >= 0
    last = int(rows.row.max())
    row = np.where(there, last - rows.row, -1) if half_turned else rows.row
    along = -rows.along if half_turned else rows.along
    for first in range(ROWS - last):
        moved = np.where(there, row + first, -1)
        for indents in (LEFT, CENTRED):
            yield from _starts(moved, along, weights, indents, half_turned=half_turned)


def _starts(row: Indices, along: Points, weights: Points, indents: Indents, *, half_turned: bool) -> Iterator[Settled]:
    """Try every half pitch at which row 0 may begin."""
    at = along - np.array([*indents, 0.0])[row]
    starts = np.arange(np.floor(at.min()) - ROW_LENGTHS[0], np.ceil(at.max()) + 1, 0.5)
    steps = at[None] - starts[:, None]
    col = np.round(steps).astype(int)
    inside: Flags = (row >= 0) & (np.abs(steps - col) < _ON_PLACE) & (col >= 0) & (col < _LENGTHS[row])
    weight = inside @ weights
    for number in np.nonzero(weight > weight.max() - _PLAIN)[0]:
        held = inside[number]
        where = np.where(held, row, -1), np.where(held, col[number], -1)
        yield Settled(half_turned, *where, indents, float(weight[number]))
