"""A label cut out flat, and where its modules lie in the cut-out."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Picture, Points, Quad, project

Grid = NDArray[np.float32]  # modules, samples or pixels: white above black
Affine = NDArray[np.float64]  # shape (2, 3)

QUIET = 1  # modules of white about a DataMatrix
PIXELS = 4  # of a patch, a module
_COARSEST = 1.5  # pixels of the picture that one of a patch may stand for
_FINEST = 8  # times that a patch is cut out finer, at most


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """How a picture's labels look: modules, and spot and size in shares of the tile's width and height.

    `spot`, shape (2,), is the DataMatrix's middle from the tile's centre, right and down as it stands itself; `size`,
    shape (2,), are its sides.
    """

    count: int
    spot: Points
    size: Points


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """Where a label of a kind should lie, with `margin` modules about it; shape of `grey`: (side, side).

    Cut out as it stands if the mark is `turned` in its tile's quad.
    """

    grey: Grid
    kind: Kind
    turned: bool
    margin: float


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Where modules lie in a patch: `affine` takes them, from the DataMatrix's corner, to OpenCV's pixels.

    `likeness`, -1..1, is the correlation of what was fitted.
    """

    affine: Affine
    likeness: float


def cut_patch(grey: Picture, quad: Quad, kind: Kind, *, turned: bool, margin: float) -> Patch:
    """Cut the place where a label of this kind should lie on the tile `quad`, shape (4, 2), out of a grey picture."""
    modules = kind.count + 2 * margin
    side = round(modules * PIXELS)
    on_tile = _shares(UNIT_SQUARE * modules - margin, kind)
    square = project(_map(UNIT_SQUARE, quad), on_tile * (-1 if turned else 1) + 0.5)
    finer = _oversampling(square, side)
    flat = _warp(grey, square, side * finer)
    if finer > 1:
        flat = np.asarray(cv2.resize(flat, (side, side), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return Patch(flat.astype(np.float32), kind, turned, margin)


def kind_at(patch: Patch, pose: Pose) -> Kind:
    """Say where on its tile a label was found, and how large."""
    kind = patch.kind
    pixels = UNIT_SQUARE * kind.count @ pose.affine[:, :2].T + pose.affine[:, 2]
    on_tile = _shares((pixels + 0.5) / PIXELS - patch.margin, kind)
    return Kind(kind.count, np.asarray(on_tile.mean(axis=0)), (on_tile[2] - on_tile[0]))


def _shares(modules: Points, kind: Kind) -> Points:
    """Take points in modules from the DataMatrix's corner, shape (n, 2), to shares of the tile from its centre."""
    return np.asarray(kind.spot + (modules / kind.count - 0.5) * kind.size)


def _oversampling(square: Quad, side: int) -> int:
    """Give how many times finer to cut out, so that no pixel of a large label goes unseen."""
    longest = float(np.linalg.norm(square - np.roll(square, 1, axis=0), axis=1).max())
    return int(np.clip(np.ceil(longest / side / _COARSEST), 1, _FINEST))


def _warp(grey: Picture, square: Quad, side: int) -> Picture:
    # OpenCV counts from the middle of the first pixel, this room from its corner: half a pixel each way.
    chain = _map(square - 0.5, UNIT_SQUARE * side - 0.5)
    flat = cv2.warpPerspective(grey, chain, (side, side), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(flat, dtype=np.uint8)


def _map(quad: Quad, other: Quad) -> NDArray[np.float64]:
    chain = cv2.getPerspectiveTransform(quad.astype(np.float32), other.astype(np.float32))
    return np.asarray(chain, dtype=np.float64)
