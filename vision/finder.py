"""The first stage of a reading: find all tiles in a picture, whether face down or face up, and the players' hands.

A network predicts for each cell of the picture whether it is near the middle of a tile, and how that tile lies; the
cells vote. A second, smaller network looks at each tile closely, cut out as a square, and corrects its corners.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Picture, Points, Quad, homography_between, quad_area
from vision.networks import run_network
from vision.picture import noise_of


@dataclass(frozen=True, slots=True, eq=False)
class DetectedTile:
    """A tile as the finder detects it, not read yet.

    `quad` has shape (4, 2), pixels, clockwise in the picture; corners 0-1 and 2-3 are the short ends. Which of them is
    the tile's top is not known yet. `likelihood`, 0..1, is how sure the finder is that there is a tile.
    """

    quad: Quad
    face_up: bool
    likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """All tiles of a picture. `hands` is how much of each cell (`cell` pixels square) hands cover, 0..255."""

    tiles: tuple[DetectedTile, ...]
    hands: Picture  # shape (rows, columns)
    cell: float


CELL = 4  # pixels a side of the network's cells
_MULTIPLE = 16  # the network's deepest layer is this many times smaller than the picture
MIDDLE = 128.0  # of the grey levels; the networks were trained on (grey - 128) / 128


@dataclass(frozen=True, slots=True, eq=False)
class CellMaps:
    """The network's output for each cell: maps of shape (rows, columns), the frames (9, rows, columns)."""

    back: NDArray[np.float32]  # 0..1: how likely the cell is in the middle part of a tile that shows its back
    face: NDArray[np.float32]
    hand: NDArray[np.float32]
    frames: NDArray[np.float32]  # see `half_axes`; meaningful where a tile's middle is


def as_blob(pictures: Picture) -> NDArray[np.float32]:
    """Return BGR pictures, shape (n, height, width, 3), as input for the finder's networks."""
    return (np.ascontiguousarray(pictures.transpose(0, 3, 1, 2)) - np.float32(MIDDLE)) / np.float32(MIDDLE)


def cell_maps(picture: Picture) -> CellMaps:
    """Run the finder's network on a BGR picture without scaling it; it detects tiles from 12 to 70 pixels wide."""
    height, width = picture.shape[:2]
    padded = cv2.copyMakeBorder(
        picture, 0, -height % _MULTIPLE, 0, -width % _MULTIPLE, cv2.BORDER_CONSTANT, value=(MIDDLE,) * 3
    )
    blob = as_blob(np.asarray(padded, dtype=np.uint8)[None])
    output = run_network("finder", blob)[0][0]
    output = output[:, : -(-height // CELL), : -(-width // CELL)]
    back, face, hand = 1 / (1 + np.exp(-np.clip(output[:3], -30, 30)))
    return CellMaps(back, face, hand, output[3:])


OFFSET_UNIT = 16.0  # pixels: unit of the network's offsets to a tile's centre
SIZE_UNIT = 16.0  # pixels: unit of the network's half sizes

_AGREED = 0.75

Frames = NDArray[np.float64]  # shape (n, 9): centre, log frame xx xy yy, cos and sin of 4 and of 2 times the angle


def frame_sizes(frames: Frames) -> NDArray[np.float64]:
    """Return half sizes in pixels, shape (n,): the geometric mean of a tile's half width and half height."""
    return np.asarray(SIZE_UNIT * np.exp((frames[:, 2] + frames[:, 4]) / 2))


def half_axes(frames: Frames, turned: float = 0.0) -> NDArray[np.float64]:
    """Return the half axes along the short and along the long ends in pixels, shape (n, 2, 2): one in each row.

    The frame's root R is the exponential of a symmetric matrix; the axes are the images under R of two perpendicular
    unit vectors (see `vision.training.finder_examples`). Frames hold the angle of these vectors four times over, which
    fixes it up to quarter turns, and twice over, which tells the short axis. `turned` (radians) is added to the angle.
    """
    log = frames[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    values, vectors = np.linalg.eigh(log)
    root = SIZE_UNIT * np.einsum("nij,nj,nkj->nik", vectors, np.exp(values), vectors)
    angle = np.arctan2(frames[:, 6], frames[:, 5]) / 4
    # `angle` is known up to quarter turns; half turns do not matter.
    other = np.cos(2 * angle) * frames[:, 7] + np.sin(2 * angle) * frames[:, 8] < 0
    angle = angle + other * np.pi / 2 + turned
    c, s = np.cos(angle), np.sin(angle)
    units = np.stack([np.stack([c, s], axis=1), np.stack([-s, c], axis=1)], axis=1)
    return np.asarray(np.einsum("nij,naj->nai", root, units))


def is_turn_sure(frames: Frames) -> NDArray[np.bool_]:
    """Return whether the votes for each tile agree on its rotation, shape (n,): their mean vector has length near 1."""
    return np.asarray(np.hypot(frames[:, 5], frames[:, 6]) > _AGREED)


def quads_of_frames(frames: Frames, turned: float = 0.0) -> NDArray[np.float64]:
    """Return the tiles as parallelograms, shape (n, 4, 2), clockwise; corners 0-1 and 2-3 are the short ends."""
    return np.asarray(frames[:, None, :2] + (2 * UNIT_SQUARE - 1) @ half_axes(frames, turned))


_LEAST_VOTE = 0.3  # least likelihood of a cell that votes
_TOGETHER = 0.5  # half sizes: votes closer than this are for the same tile
_LEAST_SUPPORT = 1.2  # votes


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes of cells, or the tiles they elect, one per row; centres in `frames` are in pixels of the picture."""

    frames: Frames  # shape (n, 9)
    back: NDArray[np.float64]  # shape (n,), 0..1
    face: NDArray[np.float64]

    @property
    def likelihood(self) -> NDArray[np.float64]:
        """How likely there is a tile, face down or face up."""
        return np.minimum(1.0, self.back + self.face)


def cast_votes(maps: CellMaps) -> Votes:
    """Return the votes of all cells that are likely to be the middle of a tile."""
    rows, columns = np.nonzero(maps.back + maps.face > _LEAST_VOTE)
    frames = maps.frames[:, rows, columns].T.astype(np.float64)
    frames[:, 2:5] = np.clip(frames[:, 2:5], -3, 3)  # prevents overflow in the exponential
    frames[:, 0] = CELL * (columns + 0.5) + OFFSET_UNIT * frames[:, 0]
    frames[:, 1] = CELL * (rows + 0.5) + OFFSET_UNIT * frames[:, 1]
    return Votes(frames, maps.back[rows, columns].astype(float), maps.face[rows, columns].astype(float))


def count_votes(votes: Votes) -> Votes:
    """Group votes by tile and return the mean of each group; the surest remaining vote claims all votes near it."""
    order = np.argsort(-votes.likelihood, kind="stable")
    x, y = votes.frames[order, :2].astype(np.float32).T
    reach = ((_TOGETHER * frame_sizes(votes.frames[order])) ** 2).astype(np.float32)
    left, group, number = np.ones(len(order), dtype=bool), np.zeros(len(order), dtype=np.intp), 0
    for vote in range(len(order)):
        if left[vote]:
            near = left & ((x - x[vote]) ** 2 + (y - y[vote]) ** 2 <= reach[vote])
            group[order[near]] = number
            left ^= near
            number += 1
    tiles = _mean_votes(votes, group, number)
    # A tile centred within the middle of a surer one comes from stray votes for that one.
    selected = _out_of_reach(tiles.frames[:, :2], 0.9 * frame_sizes(tiles.frames), -tiles.likelihood)
    return _select_votes(tiles, np.array(selected, dtype=np.intp))


def _mean_votes(votes: Votes, group: NDArray[np.intp], count: int) -> Votes:
    weight = votes.likelihood
    support = np.bincount(group, weight, count)

    def mean(column: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(group, weight * column, count) / support

    frames = np.column_stack([mean(column) for column in votes.frames.T]).reshape(-1, 9)
    return _select_votes(Votes(frames, mean(votes.back), mean(votes.face)), support >= _LEAST_SUPPORT)


def _out_of_reach(centres: Points, reach: NDArray[np.float64], rank: NDArray[np.float64]) -> list[int]:
    """Return indices in order of rank, leaving out centres within reach of an earlier one.

    Of the two reaches of a pair the smaller one counts.
    """
    left, selected = np.ones(len(rank), dtype=bool), list[int]()
    for index in np.argsort(rank, kind="stable").tolist():
        if left[index]:
            selected.append(index)
            left &= np.hypot(*(centres - centres[index]).T) > np.minimum(reach, reach[index])
    return selected


def _select_votes(votes: Votes, index: NDArray[np.intp] | NDArray[np.bool_]) -> Votes:
    """Return the selected votes."""
    return Votes(votes.frames[index], votes.back[index], votes.face[index])


Quads = NDArray[np.float64]  # shape (n, 4, 2)

CLOSEUP_SIDE = 48  # pixels: side of a cut-out
CLOSEUP_REACH = 1.6  # a cut-out reaches from -1.6 to 1.6, where the tile itself reaches from -1 to 1
CLOSEUP_SQUARE: Quad = 2 * UNIT_SQUARE - 1
_FROM_CLOSEUP = homography_between(CLOSEUP_SIDE * UNIT_SQUARE - 0.5, CLOSEUP_REACH * CLOSEUP_SQUARE)
_CORNERS = 8  # coordinates; the network outputs these, then logits of: a tile, face up, short and long ends exchanged
_WIDE_TILE = 36.0  # pixels: a tile's best width for a cut-out, which would skip pixels of a wider tile
_BATCH = 64  # cut-outs at once, to bound the memory


@dataclass(frozen=True, slots=True, eq=False)
class RefinedTiles:
    """Refined tiles: `quads`, shape (n, 4, 2), pixels; likelihoods `tile` and `face` (up), shape (n,), 0..1."""

    quads: Quads
    tile: NDArray[np.float64]
    face: NDArray[np.float64]


def cut_square(picture: Picture, quad: Quad) -> Picture:
    """Cut a quad with its surroundings out of a picture, as a square of `CLOSEUP_SIDE` pixels."""
    chain = square_to_pixels(quad) @ _FROM_CLOSEUP
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    square = cv2.warpPerspective(
        picture, chain, (CLOSEUP_SIDE, CLOSEUP_SIDE), flags=flags, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(square, dtype=np.uint8)


def square_to_pixels(quad: Quad) -> NDArray[np.float64]:
    """Return the homography from the square -1..1 to a quad, in OpenCV's pixels (0, 0 is the middle of the first)."""
    return homography_between(CLOSEUP_SQUARE, quad - 0.5)


def refine_tiles(picture: Picture, quads: Quads, others: Quads, sure: NDArray[np.bool_]) -> RefinedTiles:
    """Move quads to the corners of their tiles; where there is no tile, the quad returned is meaningless.

    `others` are alternatives for the quads that are not `sure`; the one that fits better is used.
    """
    output = _run_closeup(picture, quads)
    doubted = np.flatnonzero(~sure)
    other = _run_closeup(picture, others[doubted])
    better = _misfit(other) < _misfit(output[doubted])
    quads, output = quads.copy(), output.copy()
    quads[doubted[better]], output[doubted[better]] = others[doubted[better]], other[better]
    quads = _corrected(quads, output)
    output = _run_closeup(picture, quads)
    tile, face = (1 / (1 + np.exp(-np.clip(output[:, _CORNERS + k], -30, 30))) for k in (0, 1))
    return RefinedTiles(_corrected(quads, output), tile, face)


def refine_again(picture: Picture, quads: Quads) -> RefinedTiles:
    """Refine quads that are roughly right, in a picture of full size."""
    if not len(quads):
        return RefinedTiles(quads, np.zeros(0), np.zeros(0))
    sides = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2)
    reach = sides.max()  # cut-outs show no more than this around a tile; only that part of the picture is shrunk
    last = [picture.shape[1] - 1, picture.shape[0] - 1]
    low = np.clip(quads.min(axis=(0, 1)) - reach, 0, last).astype(int)
    high = np.clip(quads.max(axis=(0, 1)) + reach, low, last).astype(int) + 1
    part = picture[low[1] : high[1], low[0] : high[0]]
    factor = min(1.0, _WIDE_TILE / float(np.median(sides[:, 0])))
    size = (max(1, round(factor * part.shape[1])), max(1, round(factor * part.shape[0])))
    small = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    there, start = np.array(size) / [part.shape[1], part.shape[0]], quads - low
    judged = refine_tiles(small, start * there, start * there, np.ones(len(quads), dtype=bool))
    return replace(judged, quads=judged.quads / there + low)


def _misfit(output: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score of how badly quads fit, shape (n,): the mean corner correction, less a bonus for a likely tile."""
    return np.asarray(np.abs(output[:, :_CORNERS]).mean(axis=1) - output[:, _CORNERS] / 20)


def _corrected(quads: Quads, outputs: NDArray[np.float64]) -> Quads:
    corners = CLOSEUP_SQUARE + np.clip(outputs[:, :_CORNERS].reshape(-1, 4, 2), -0.95, 0.95)
    chains = (square_to_pixels(quad) for quad in quads)
    moved = [cv2.perspectiveTransform(tile[None], chain)[0] + 0.5 for tile, chain in zip(corners, chains, strict=True)]
    there = np.array(moved, dtype=np.float64).reshape(-1, 4, 2)
    return np.where(outputs[:, _CORNERS + 2, None, None] > 0, np.roll(there, 1, axis=1), there)


def _run_closeup(picture: Picture, quads: Quads) -> NDArray[np.float64]:
    outputs = [np.zeros((0, _CORNERS + 3))]
    for first in range(0, len(quads), _BATCH):
        crops = np.array([cut_square(picture, quad) for quad in quads[first : first + _BATCH]])
        outputs.append(run_network("closeup", as_blob(crops))[0].astype(np.float64))
    return np.concatenate(outputs)


_LONG_SIDE = 640  # pixels: longer side of the shrunk picture; 1920 and 1280 shrink fast, by whole numbers
_LONG_SIDE_OF_LARGE = 864  # pixels: the same for large pictures, in which a whole carrier may lie
_LARGE = 2200  # pixels: longer side from which a picture is large
_COARSER = 4  # factor by which the coarse look is smaller; it finds tiles that fill the picture
_FINE_SIZES = (5.0, 46.0)  # pixels: half sizes of tiles that the fine look finds reliably
_COARSE_SIZES = (10.5, 60.0)  # pixels: the same for the coarse look; smaller tiles are left to the fine one
_TILE_LIKELY = 0.5
_ALIKE_AREAS = 4.5  # factor from the usual area, up or down: allows for perspective and tiles of another set
_ONE_SIZE = 2.0  # factor between areas that still count as one size: tiles at both ends of a tilted tray
_SIZE_DOUBT = 0.1  # likelihood deducted from an outline whose area is e times the usual one, or 1/e
_LEAST_LIKELY = 0.75
_MOST_TILES = 200  # a set has 136 tiles; bounds the time for textures that look like many tiles


def find_tiles(picture: Picture, *, close: bool = True) -> Detections:
    """Find the tiles in a picture of any size, BGR, shape (height, width, 3), or grey, shape (height, width).

    `close`: whether a single tile may fill the picture; if not, the gap between tiles that lie far apart is not taken
    for a tile. The surest tile comes first. Deterministic and thread-safe.
    """
    if picture.ndim == 2:  # noqa: PLR2004 - grey has two dimensions
        picture = np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    longest = max(picture.shape[:2])
    if picture.size == 0:
        return Detections((), np.zeros((0, 0), np.uint8), 1.0)
    small = _shrunk(picture, _LONG_SIDE_OF_LARGE if longest > _LARGE else _LONG_SIDE)
    maps = cell_maps(small)
    fine = _tiles(small, maps, _FINE_SIZES)
    if is_noisy(small):
        soft = np.asarray(cv2.GaussianBlur(small, (0, 0), _BLUR), dtype=np.uint8)
        fine += _tiles(soft, cell_maps(soft), _FINE_SIZES)
    smaller = _shrunk(small, max(small.shape[:2]) // _COARSER)
    coarse = _tiles(smaller, cell_maps(smaller), _COARSE_SIZES) if close else []
    tiles = _of_one_size(_scaled(fine, small, picture) + _scaled(coarse, smaller, picture))
    tiles.sort(key=lambda tile: -tile.likelihood)
    hands = np.round(255 * maps.hand).astype(np.uint8)
    return Detections(tuple(tiles), hands, CELL * longest / max(small.shape[:2]))


_NOISY = (6.0, 30.0)  # grey levels: at 4.8 all tiles are found, at 8.5 a quarter is missed, at 11 nine in ten
_BLUR = 1.5  # pixels: large tiles are then found, but small ones are lost


def is_noisy(small: Picture) -> bool:
    """Return whether the middle of a shrunk picture is as noisy as at night, but not noise alone."""
    rows, columns = (slice(side // 4, side - side // 4) for side in small.shape[:2])
    grey = cv2.cvtColor(small[rows, columns], cv2.COLOR_BGR2GRAY)
    return _NOISY[0] < noise_of(np.asarray(grey, dtype=np.uint8)) < _NOISY[1]


def _shrunk(picture: Picture, longest: int) -> Picture:
    """Shrink a picture so that its longer side has `longest` pixels; a smaller one is returned as it is."""
    factor = longest / max(picture.shape[:2])
    if factor >= 1:
        return np.ascontiguousarray(picture)
    size = (max(1, round(factor * picture.shape[1])), max(1, round(factor * picture.shape[0])))
    while picture.shape[1] >= 2 * size[0] and picture.shape[1] % size[0]:  # halving and whole factors are fast
        half = (max(1, picture.shape[1] // 2), max(1, picture.shape[0] // 2))
        picture = np.asarray(cv2.resize(picture, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _tiles(picture: Picture, maps: CellMaps, between: tuple[float, float]) -> list[DetectedTile]:
    """Find tiles whose half size in pixels lies `between` two limits; quads are in pixels of this picture."""
    tiles = count_votes(cast_votes(maps))
    size = frame_sizes(tiles.frames)
    frames = tiles.frames[(size > between[0]) & (size < between[1])][:_MOST_TILES]  # they are sorted, surest first
    judged = refine_tiles(picture, quads_of_frames(frames), quads_of_frames(frames, np.pi / 4), is_turn_sure(frames))
    found = [
        DetectedTile(quad, bool(face > _TILE_LIKELY), float(tile))
        for quad, tile, face in zip(judged.quads, judged.tile, judged.face, strict=True)
        if tile > _LEAST_LIKELY
    ]
    return _without_duplicates(found)


def _without_duplicates(tiles: list[DetectedTile], usual: float | None = None) -> list[DetectedTile]:
    """Keep the surest of tiles that share a middle; if two are about as sure, the one nearer to the `usual` area."""
    centres = np.array([tile.quad for tile in tiles]).reshape(-1, 4, 2).mean(axis=1)
    areas = np.array([quad_area(tile.quad) for tile in tiles])
    doubt = _SIZE_DOUBT * np.abs(np.log(areas / usual)) if usual else np.zeros(len(tiles))
    rank = doubt - np.array([tile.likelihood for tile in tiles])
    return [tiles[index] for index in _out_of_reach(centres, 0.35 * np.sqrt(areas), rank)]


def _scaled(tiles: list[DetectedTile], seen: Picture, picture: Picture) -> list[DetectedTile]:
    ratio = np.array([picture.shape[1] / seen.shape[1], picture.shape[0] / seen.shape[0]])
    return [replace(tile, quad=tile.quad * ratio) for tile in tiles]


def _of_one_size(tiles: list[DetectedTile]) -> list[DetectedTile]:
    """Drop duplicates, and detections that differ much from the usual size: tiles are alike, print and shadows are not.

    The usual size is the one with the largest total weight of detections about that large. Weights grow with the area,
    so that one tile that fills the picture outweighs all detections in its print, but with a power below one, so that a
    large thing that is no tile does not outweigh a carrier's 136 tiles. Detections of different sizes do not add up:
    those that the coarse look finds in the grain of a table are of many sizes.
    """
    areas = np.array([quad_area(tile.quad) for tile in tiles])
    together = np.abs(np.log(areas[:, None] / areas)) < np.log(_ONE_SIZE)
    weights = together @ (areas**0.6 * [tile.likelihood for tile in tiles])
    usual = areas[weights.argmax()] if tiles else 0.0
    alike = [tile for tile, area in zip(tiles, areas, strict=True) if 1 / _ALIKE_AREAS < area / usual < _ALIKE_AREAS]
    return _without_duplicates(alike, float(usual))
