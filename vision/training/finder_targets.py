"""What the finder's network shall answer for a scene: a frame for each tile, and maps of cells."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.finder.frames import OFFSET_UNIT, SIZE_UNIT
from vision.training.scene import CELL, Scene

LEAST, MOST = 6.5, 42.0  # half sizes (pixels) between which a tile shall be found
_NEVER_BELOW, _NEVER_ABOVE = 4.5, 58.0  # beyond these it shall not; in between nothing is asked

_Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Maps of one scene, channels first: `logits` and `regressions` as the network gives them, with their weights."""

    logits: _Array  # shape (3, h, w): back core, face core, hand, 0..1
    logit_weights: _Array  # shape (3, h, w)
    regressions: _Array  # shape (9, h, w)
    regression_weights: _Array  # shape (h, w)


def frames_of(quads: NDArray[np.floating]) -> _Array:
    """Encode quads, shape (n, 4, 2), as centre, log of the frame's root, four and two times its angle: shape (n, 9).

    The frame of a tile is its half axes a (along the short end) and b in the picture, at its centre. With
    R = (a a' + b b')^(1/2), the vectors R^-1 a and R^-1 b are unit and square to each other, whatever the tilt: one
    angle tells both. log R and four times that angle are smooth in every rotation, and do not care which end is which.
    """
    centre, a, b = _half_axes(quads.astype(np.float64))
    spread = np.einsum("ni,nj->nij", a, a) + np.einsum("ni,nj->nij", b, b)
    values, vectors = np.linalg.eigh(spread)
    values = np.maximum(values, 1e-6)
    log = np.einsum("nij,nj,nkj->nik", vectors, 0.5 * np.log(values) - np.log(SIZE_UNIT), vectors)
    unit = np.einsum("nij,nj,nkj,nk->ni", vectors, values**-0.5, vectors, a)
    angle = np.arctan2(unit[:, 1], unit[:, 0])
    turns = [np.cos(4 * angle), np.sin(4 * angle), np.cos(2 * angle), np.sin(2 * angle)]
    return np.column_stack([centre, log[:, 0, 0], log[:, 0, 1], log[:, 1, 1], *turns]).astype(np.float32)


def _half_axes(quads: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Give the centre and the homography's derivatives there (Heckbert 1989, section 2.2.3, squares to quads)."""
    p0, p1, p2, p3 = (quads[:, k] for k in range(4))
    d1, d2, d3 = p1 - p2, p3 - p2, p0 - p1 + p2 - p3
    det = _cross(d1, d2)
    g, h = _cross(d3, d2) / det, _cross(d1, d3) / det
    along, down = p1 - p0 + g[:, None] * p1, p3 - p0 + h[:, None] * p3
    weight = (1 + 0.5 * g + 0.5 * h)[:, None]
    centre = (p0 + 0.5 * along + 0.5 * down) / weight
    a = 0.5 * (along - centre * g[:, None]) / weight
    b = 0.5 * (down - centre * h[:, None]) / weight
    return centre, a, b


def _cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def targets(scene: Scene) -> Targets:
    """Spread a scene's truth over its cells."""
    frames = frames_of(scene.quads) if len(scene.quads) else np.zeros((0, 9), np.float32)
    size = SIZE_UNIT * np.exp((frames[:, 2] + frames[:, 4]) / 2)
    asked = (size >= LEAST) & (size <= MOST)
    open_ = ~asked & (size >= _NEVER_BELOW) & (size <= _NEVER_ABOVE)
    owner = scene.cores.astype(np.intp)  # 0: no tile
    cells = np.bincount(owner.ravel(), minlength=len(frames) + 1).astype(np.float32)
    core = _per_cell(asked, owner)
    face = _per_cell(scene.faces, owner)
    sure = 1 - np.maximum(_per_cell(open_, owner), scene.unsure)
    # Every tile weighs alike in what is learnt of its frame, up to a point: one of few cells is cut off or hidden.
    weights = core * (1 / np.maximum(cells, 6))[owner]
    hands = scene.hands.astype(np.float32) / 255
    return Targets(
        logits=np.stack([core * (1 - face), core * face, hands]),
        logit_weights=np.stack([sure, sure, np.ones_like(sure)]),
        regressions=_spread(frames, owner),
        regression_weights=weights.astype(np.float32),
    )


def _per_cell(flags: NDArray[np.bool_], owner: NDArray[np.intp]) -> _Array:
    return np.concatenate([[0], flags]).astype(np.float32)[owner]


def _spread(frames: _Array, owner: NDArray[np.intp]) -> _Array:
    table = np.vstack([np.zeros((1, 9), np.float32), frames])
    maps = table[owner].transpose(2, 0, 1).copy()
    down, across = np.indices(owner.shape).astype(np.float32)
    maps[0] = (maps[0] - CELL * (across + 0.5)) / OFFSET_UNIT
    maps[1] = (maps[1] - CELL * (down + 0.5)) / OFFSET_UNIT
    return maps
