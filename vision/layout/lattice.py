"""Step 6, places to pixels: where each of a tray's 34 places lies, bent with what the lens model leaves over."""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Points, Quad, rectangle
from vision.layout.groups import QUARTERS
from vision.layout.plane import HEIGHT, Plane
from vision.layout.settle import Settled
from vision.layout.tray import Indents

_USUAL = np.array([[0.0, 0.0], [1.05, 0.0], [0.0, 1.16 * HEIGHT], [0.0, 0.0], [0.0, 0.0]])
_HELD = np.array([0.0, 0.3, 1.0, 300.0, 300.0])  # how much a term is held to what is usual, in tiles' worth
_TILE: Quad = rectangle(np.zeros(2), 1.0, HEIGHT)
_PLAY = 0.35  # widths: a tile further off than this is no measure of the lattice


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """A tray's places in the plane: `terms`, shape (5, 2), times 1, x, row, x row and x squared, x in pitches."""

    plane: Plane
    quarter: int  # of a turn from the plane's x to the player's left-to-right
    terms: Points
    indents: Indents

    @property
    def pitch(self) -> float:
        """Tile widths from tile to tile."""
        return float(self.terms[1, 0])

    @property
    def row_pitch(self) -> float:
        """Tile widths from row to row."""
        return float(self.terms[2, 1])

    @property
    def rotation(self) -> float:
        """The tray's own left-to-right in the picture, degrees 0..360, clockwise on the screen."""
        ends = self.quads(self.spots(np.array([1.0, 1.0]), np.array([2.0, 8.0]))).mean(axis=1)
        right = ends[1] - ends[0]
        return float(np.degrees(np.arctan2(right[1], right[0])) % 360)

    def spots(self, rows: Points, cols: Points) -> Points:
        """Where the middles of places lie in the tray's own directions, tile widths, shape (n, 2)."""
        return np.asarray(_basis(rows, cols, self.indents) @ self.terms)

    def own(self, flat: Points) -> Points:
        """Turn points of the plane, shape (n, 2), to the tray's own directions: x to the player's right."""
        return np.asarray(flat @ QUARTERS[self.quarter])

    def quads(self, spots: Points) -> Quad:
        """Give the pixels of upright tiles about `spots`, shape (n, 4, 2)."""
        corners = (spots[:, None] + _TILE) @ QUARTERS[self.quarter].T
        return self.plane.pixels(corners.reshape(-1, 2)).reshape(-1, 4, 2)


def fit_lattice(plane: Plane, quarter: int, flat: Points, settled: Settled) -> Lattice:
    """Fit a tray's places to its tiles' middles `flat`, shape (n, 2), in the plane."""
    here = settled.row >= 0
    own = flat[here] @ QUARTERS[quarter]
    basis = _basis(settled.row[here].astype(float), settled.col[here].astype(float), settled.indents)
    weight = np.ones(len(own))
    for _ in range(3):
        rows = np.vstack([basis * weight[:, None], np.diag(np.sqrt(_HELD))])
        aims = np.vstack([own * weight[:, None], np.sqrt(_HELD)[:, None] * _USUAL])
        terms, *_ = np.linalg.lstsq(rows, aims, rcond=None)
        weight = (np.abs(basis @ terms - own).max(axis=1) < _PLAY).astype(float)
    return Lattice(plane, quarter, np.asarray(terms), settled.indents)


def _basis(rows: Points, cols: Points, indents: Indents) -> Points:
    x = cols + np.array(indents)[np.asarray(rows, dtype=int)]
    return np.column_stack([np.ones(len(x)), x, rows, x * rows / 20, (x / 6 - 1) ** 2])
