"""Training examples for the finder's networks: targets for a scene, views of it, and cut-outs for the closer look."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder import CLOSEUP_SQUARE, OFFSET_UNIT, SIZE_UNIT, cut_square, square_to_pixels
from vision.geometry import Picture, Points, Quad
from vision.training.scene import CELL, Scene

LEAST, MOST = 6.5, 42.0  # range of half sizes (pixels) of tiles that must be found
_NEVER_BELOW, _NEVER_ABOVE = 4.5, 58.0  # half sizes of tiles that must not be found; between these, either is fine

_Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class FinderTargets:
    """Target maps of one scene, channels first: `logits` and `regressions`, with their weights in the loss."""

    logits: _Array  # shape (3, h, w): back core, face core, hand, 0..1
    logit_weights: _Array  # shape (3, h, w)
    regressions: _Array  # shape (9, h, w)
    regression_weights: _Array  # shape (h, w)


def frames_of(quads: NDArray[np.floating]) -> _Array:
    """Encode quads, shape (n, 4, 2), as centre, log of the frame's root, and four and two times its angle.

    The result has shape (n, 9). The frame of a tile is its half axes a (along the short end) and b in the picture, at
    its centre. With R = (a a' + b b')^(1/2), the vectors R^-1 a and R^-1 b are perpendicular unit vectors, whatever the
    tilt, so that one angle gives both. log R and four times that angle change smoothly with any rotation, and do not
    depend on which end is which.
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
    """Return the centre and the homography's derivatives there (Heckbert 1989, section 2.2.3, squares to quads)."""
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


def finder_targets(scene: Scene) -> FinderTargets:
    """Return the targets for each cell of a scene."""
    frames = frames_of(scene.quads) if len(scene.quads) else np.zeros((0, 9), np.float32)
    size = SIZE_UNIT * np.exp((frames[:, 2] + frames[:, 4]) / 2)
    wanted = (size >= LEAST) & (size <= MOST)
    optional = ~wanted & (size >= _NEVER_BELOW) & (size <= _NEVER_ABOVE)
    owner = scene.cores.astype(np.intp)  # 0: no tile
    cells = np.bincount(owner.ravel(), minlength=len(frames) + 1).astype(np.float32)
    core = _per_cell(wanted, owner)
    face = _per_cell(scene.faces, owner)
    sure = 1 - np.maximum(_per_cell(optional, owner), scene.unsure)
    # All tiles have equal weight for their frames, except those with few cells, which are cut off or partly hidden.
    weights = core * (1 / np.maximum(cells, 6))[owner]
    hands = scene.hands.astype(np.float32) / 255
    return FinderTargets(
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


_NONE = np.zeros((0, 4, 2), np.float32)  # no decoys: only cut-outs use them, and these are not mirrored


def view_of_scene(scene: Scene, rng: np.random.Generator, *, portrait: bool) -> Scene:
    """Return a random view of a scene: mirrored, recoloured, and transposed if `portrait`."""
    if portrait:
        scene = _transposed(scene)
    if rng.random() < 0.5:
        scene = _mirrored(scene)
    if rng.random() < 0.5:
        scene = _transposed(_mirrored(_transposed(scene)))
    return recoloured(scene, rng)


def _transposed(scene: Scene) -> Scene:
    return _reordered(scene, scene.quads[:, :, ::-1], lambda seen: seen.swapaxes(0, 1))


def _mirrored(scene: Scene) -> Scene:
    quads = scene.quads.copy()
    quads[:, :, 0] = scene.picture.shape[1] - quads[:, :, 0]
    return _reordered(scene, quads, lambda seen: seen[:, ::-1])


def _reordered(scene: Scene, quads: np.ndarray, move: Callable[[Picture], Picture]) -> Scene:
    picture, cores, unsure, hands = map(move, (scene.picture, scene.cores, scene.unsure, scene.hands))
    # Mirroring reverses the corners: in the order 1, 0, 3, 2 they are clockwise again, and 0-1 is still a short end.
    quads = quads[:, [1, 0, 3, 2]]
    return replace(scene, picture=picture, quads=quads, cores=cores, unsure=unsure, hands=hands, decoys=_NONE)


def recoloured(scene: Scene, rng: np.random.Generator) -> Scene:
    """Swap channels and change their gains and gammas at random, with a table of 256 values per channel."""
    picture = scene.picture
    if rng.random() < 0.5:
        picture = picture[:, :, rng.permutation(3)]
    levels = np.linspace(0, 1, 256)
    gains = np.exp(rng.normal(0, 0.12, 3) + rng.normal(0, 0.25))
    curves = [255 * np.clip(gain * levels ** np.exp(rng.normal(0, 0.15)), 0, 1) for gain in gains]
    table = np.stack(curves, axis=1).astype(np.uint8)[None]
    return replace(scene, picture=np.asarray(cv2.LUT(np.ascontiguousarray(picture), table), dtype=np.uint8))


_LEAST_SIDE, _MOST_SIDE = 9.0, 80.0  # pixels: range of short ends of tiles to recognise
_NEAR, _FAR = 0.5, 0.7  # distance of a tile's centre: up to the first it is the tile, from the second none; else either
_ALIKE = 2.2  # factor in size, up or down, from which a tile is not the one cut out


@dataclass(frozen=True, slots=True, eq=False)
class CloseupCrop:
    """A cut-out and its truth: `corners` as offsets from the square's, shape (8,); flags with weights, shape (3,)."""

    picture: Picture
    corners: NDArray[np.float32]
    flags: NDArray[np.float32]  # a tile; face up; short and long ends exchanged
    weights: NDArray[np.float32]


def random_crop(rng: np.random.Generator, scene: Scene) -> CloseupCrop:
    """Cut something out of a scene at random: a tile, a decoy, or anything else."""
    wanted = _recognisable(scene)
    if len(scene.decoys) and rng.random() < 0.15:
        return _crop(scene, _roughly(rng, scene.decoys[rng.integers(len(scene.decoys))].astype(float), 0.3, 0.1))
    if not len(wanted):
        return _crop(scene, _anywhere(rng, scene))
    quad = scene.quads[rng.choice(wanted)].astype(float)
    kind = rng.random()
    if kind < 0.4:
        return _crop(scene, _roughly(rng, quad, 0.45, 0.15))
    if kind < 0.75:
        return _crop(scene, _roughly(rng, quad, 0.12, 0.05))
    return _crop(scene, _roughly(rng, quad, 1.2, 0.2) if kind < 0.93 else _anywhere(rng, scene))


def _roughly(rng: np.random.Generator, quad: Quad, off: float, wrong: float) -> Quad:
    """Return a parallelogram near a tile's quad: moved by up to `off`, with errors in size and rotation of `wrong`."""
    centre = quad.mean(axis=0)
    a, b = (quad[1] + quad[2] - quad[0] - quad[3]) / 4, (quad[2] + quad[3] - quad[0] - quad[1]) / 4
    centre = centre + rng.uniform(-off, off) * a + rng.uniform(-off, off) * b
    turn = float(rng.uniform(-0.7, 0.7) if rng.random() < 2 * wrong else rng.normal(0, wrong))
    c, s = np.cos(turn), np.sin(turn)
    a, b = (np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]]) for v in (a, b))
    a, b = a * np.exp(rng.normal(0, wrong)) + b * rng.normal(0, wrong / 2), b * np.exp(rng.normal(0, wrong))
    if rng.random() < 0.15:
        a, b = b, -a
    return np.asarray(centre + CLOSEUP_SQUARE @ np.stack([a, b]))


def _anywhere(rng: np.random.Generator, scene: Scene) -> Quad:
    height, width = scene.picture.shape[:2]
    side = np.exp(rng.uniform(np.log(_LEAST_SIDE), np.log(_MOST_SIDE))) / 2
    square = CLOSEUP_SQUARE * [side, side * 1.35] + rng.uniform([0, 0], [width, height])
    return _roughly(rng, np.asarray(square), 0.0, 0.7)


def _crop(scene: Scene, quad: Quad) -> CloseupCrop:
    """Cut out a quad and return it with its truth; outside the picture, the border pixels are repeated."""
    picture = cut_square(scene.picture, quad)
    corners, flags, weights = np.zeros((4, 2)), np.zeros(3), np.zeros(3)
    weights[0] = 1
    number, seen = _nearest(scene, quad)
    if number is not None:
        away, ratio = np.abs(seen.mean(axis=0)).max(), np.sqrt(cv2.contourArea(seen.astype(np.float32)) / 4)
        alike = 1 / _ALIKE < ratio < _ALIKE
        if away < _NEAR and alike and number in _recognisable(scene):
            turns = min(range(4), key=lambda k: float(np.abs(np.roll(seen, k, axis=0) - CLOSEUP_SQUARE).sum()))
            corners = np.roll(seen, turns, axis=0) - CLOSEUP_SQUARE
            flags[:] = 1, scene.faces[number], turns % 2
            weights[:] = 1
        elif away < _FAR and 0.3 < ratio < 3:
            weights[0] = 0
    return CloseupCrop(picture, *(np.asarray(x.ravel(), dtype=np.float32) for x in (corners, flags, weights)))


def _nearest(scene: Scene, quad: Quad) -> tuple[int | None, Points]:
    """Return the tile whose centre is nearest, measured in the cut-out's own square, and its corners in that square."""
    if not len(scene.quads):
        return None, np.zeros((4, 2))
    inverse = np.linalg.inv(square_to_pixels(quad))
    seen = cv2.perspectiveTransform(scene.quads.astype(np.float64).reshape(1, -1, 2) - 0.5, inverse).reshape(-1, 4, 2)
    number = int(np.abs(seen.mean(axis=1)).max(axis=1).argmin())
    return number, seen[number]


def _recognisable(scene: Scene) -> NDArray[np.intp]:
    """Return the numbers of the tiles to recognise: those in the range of sizes whose middle is visible."""
    sides = np.hypot(*(scene.quads[:, 1] - scene.quads[:, 0]).T)
    cells = np.bincount(scene.cores.ravel(), minlength=len(sides) + 1)[1:]
    return np.flatnonzero((sides > _LEAST_SIDE) & (sides < _MOST_SIDE) & (cells > 0))
