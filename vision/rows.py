"""Stage 3a, points of the plane to rows: which label lies in which of three rows, and how many pitches along it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Points

Indices = NDArray[np.int_]

ROWS = 3
_ROW_BREAK = 1.5  # label sides between rows; rows lie 3.5 and more apart, a label 0.3 off its row
_PITCHES = (2.0, 5.0)  # label sides from tile to tile: no label is wider than half a tile
_NEARER_HALF = 0.25
_MOST = 0.7  # share of the labels that must lie on places
_ON_PLACE = 0.3  # pitches a label may lie off its place: gap, play in the tray and the label's own play


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Points sorted into rows: for each point its row (-1: none) and its count of pitches from the row's phase."""

    row: Points  # shape (n,), whole numbers
    step: Points  # shape (n,), whole numbers, not yet columns: where a row begins is not known here
    pitch: float  # label sides from tile to tile
    row_pitch: float  # label sides from row to row
    origin: Points  # shape (2,): where step 0 of row 0 lies in the plane
    half: bool  # row 2 is half a pitch off rows 0 and 1: its places stand in the gaps


def find_rows(points: Points) -> Rows | None:
    """Sort points of the plane, shape (n, 2), into three rows of one pitch; None when they do not lie so."""
    groups = _three_rows(points[:, 1])
    if groups is None:
        return None
    pitch = _pitch([np.sort(points[group, 0]) for group in groups])
    if pitch is None:
        return None
    return _fit(points, groups, pitch)


def _three_rows(heights: Points) -> list[Indices] | None:
    """Give the three evenly spaced groups of heights that hold most points, as indices."""
    order = np.argsort(heights)
    breaks = np.nonzero(np.diff(heights[order]) > _ROW_BREAK)[0] + 1
    groups = [np.asarray(group) for group in np.split(order, breaks)]
    best: list[Indices] | None = None
    for first in range(len(groups) - ROWS + 1):
        some = groups[first : first + ROWS]
        apart = np.diff([float(np.median(heights[group])) for group in some])
        # One label may stand for a row that is hard to read; two rows have to be plain.
        even = float(apart.max()) < 1.25 * float(apart.min()) and sorted(map(len, some))[1] > ROWS
        if even and (best is None or sum(map(len, some)) > sum(map(len, best))):
            best = some
    return best


def _pitch(rows: list[Points]) -> float | None:
    """Give the distance from tile to tile: the usual one between neighbours, then the best over all distances."""
    near = np.concatenate([np.diff(row) for row in rows])
    near = near[(near > _PITCHES[0]) & (near < _PITCHES[1])]
    if len(near) < ROWS:
        return None
    rough = float(np.median(near))
    spans = np.concatenate([row - row[0] for row in rows])
    steps = np.round(spans / rough)
    return float((spans @ steps) / (steps @ steps)) if steps.any() else None


def _fit(points: Points, groups: list[Indices], pitch: float) -> Rows | None:
    phases = [_phase(points[group, 0] / pitch) for group in groups]
    lag = [(phase - phases[0] + 0.5) % 1 - 0.5 for phase in phases]  # within half a pitch of row 0's phase
    half = abs(lag[2]) > _NEARER_HALF
    lag[2] -= np.copysign(0.5, lag[2]) if half else 0.0
    start = phases[0] + float(np.mean(lag))
    row = np.full(len(points), -1.0)
    step = np.zeros(len(points))
    for number, group in enumerate(groups):
        along = points[group, 0] / pitch - start - (0.5 if half and number == ROWS - 1 else 0.0)
        step[group] = np.round(along)
        row[group] = np.where(np.abs(along - step[group]) < _ON_PLACE, float(number), -1.0)
    if (row >= 0).mean() < _MOST:
        return None
    tops = [float(np.median(points[group, 1])) for group in groups]
    return Rows(row, step, pitch, (tops[2] - tops[0]) / 2, np.array([start * pitch, tops[0]]), half)


def _phase(turns: Points) -> float:
    return float(np.angle(np.exp(2j * np.pi * turns).mean()) / (2 * np.pi))
