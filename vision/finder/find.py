"""Find all tiles of a picture, backs and faces, and where hands are."""

from dataclasses import replace

import cv2
import numpy as np

from vision.finder.closeup import look_closer
from vision.finder.frames import is_turn_sure, quads_of, sizes
from vision.finder.network import CELL, Maps, look
from vision.finder.votes import cast, count
from vision.geometry import Picture, Quad
from vision.sight import Found, Tile

_LONG_SIDE = 640  # pixels of the longer side that is looked at; 1920 and 1280 shrink fast by whole numbers
_LONG_SIDE_OF_LARGE = 864  # the same for pictures in which a whole carrier may lie
_LARGE = 2200  # pixels of the longer side
_COARSER = 4  # times smaller is the second look, for tiles that fill the picture
_FINE_SIZES = (5.0, 46.0)  # half sizes of tiles that a look is good for
_COARSE_SIZES = (10.5, 60.0)  # smaller ones are the first look's
_HALF = 0.5
_ALIKE = 4.5  # times the usual area, or as much less: perspective and another set's tiles
_LEAST_LIKELY = 0.75
_MOST = 200  # tiles: a set has 136, and a texture that looks like more must not cost more


def find_tiles(picture: Picture, *, close: bool = True) -> Found:
    """Find the tiles of a BGR picture, shape (height, width, 3) or (height, width), of any size.

    `close` tells whether single tiles may fill the picture; where a few lie far apart, the room between them could be
    taken for such. The surest tile comes first. Deterministic; any thread may call it.
    """
    if picture.ndim == 2:  # noqa: PLR2004 - grey has two dimensions
        picture = np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    longest = max(picture.shape[:2])
    if picture.size == 0:
        return Found((), np.zeros((0, 0), np.uint8), 1.0)
    small = _shrunk(picture, _LONG_SIDE_OF_LARGE if longest > _LARGE else _LONG_SIDE)
    maps = look(small)
    fine = _tiles(small, maps, _FINE_SIZES)
    smaller = _shrunk(small, max(small.shape[:2]) // _COARSER)
    coarse = _tiles(smaller, look(smaller), _COARSE_SIZES) if close else []
    tiles = _without_doubles(_of_one_size(_scaled(fine, small, picture) + _scaled(coarse, smaller, picture)))
    tiles.sort(key=lambda tile: -tile.likelihood)
    return Found(tuple(tiles), _grey(maps), CELL * longest / max(small.shape[:2]))


def _shrunk(picture: Picture, longest: int) -> Picture:
    """Shrink a picture to a longer side; one that is small already stays as it is."""
    factor = longest / max(picture.shape[:2])
    if factor >= 1:
        return np.ascontiguousarray(picture)
    size = (max(1, round(factor * picture.shape[1])), max(1, round(factor * picture.shape[0])))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _tiles(picture: Picture, maps: Maps, between: tuple[float, float]) -> list[Tile]:
    """Find tiles whose half size in pixels lies `between`; quads in pixels of this picture."""
    tiles = count(cast(maps))
    size = sizes(tiles.frames)
    frames = tiles.frames[(size > between[0]) & (size < between[1])][:_MOST]  # the surest come first
    judged = look_closer(picture, quads_of(frames), quads_of(frames, np.pi / 4), is_turn_sure(frames))
    found = [
        Tile(quad, bool(face > _HALF), float(tile))
        for quad, tile, face in zip(judged.quads, judged.tile, judged.face, strict=True)
        if tile > _LEAST_LIKELY
    ]
    return _without_doubles(found)


def _without_doubles(tiles: list[Tile]) -> list[Tile]:
    """Of tiles that share their middle keep the surest."""
    centres = np.array([tile.quad.mean(axis=0) for tile in tiles]).reshape(-1, 2)
    reach = 0.35 * np.sqrt([_area(tile.quad) for tile in tiles])
    kept: list[int] = []
    for one in sorted(range(len(tiles)), key=lambda one: -tiles[one].likelihood):
        away = np.hypot(*(centres[kept] - centres[one]).T)
        if (away > np.minimum(reach[kept], reach[one])).all():
            kept.append(one)
    return [tiles[one] for one in kept]


def _scaled(tiles: list[Tile], seen: Picture, picture: Picture) -> list[Tile]:
    ratio = np.array([picture.shape[1] / seen.shape[1], picture.shape[0] / seen.shape[0]])
    return [replace(tile, quad=tile.quad * ratio) for tile in tiles]


def _of_one_size(tiles: list[Tile]) -> list[Tile]:
    """Drop what is of quite another size than most: tiles are alike, and their print and their shadows are not.

    Most is counted by area, so that one tile that fills the picture outweighs all that is seen in its print; by a
    power of it less than one, so that a large thing that is no tile does not outweigh a carrier's 136.
    """
    areas = np.array([_area(tile.quad) for tile in tiles])
    order = np.argsort(areas)
    weights = np.cumsum((areas**0.75 * [tile.likelihood for tile in tiles])[order])
    usual = areas[order[np.searchsorted(weights, weights[-1] / 2)]] if tiles else 0.0
    return [tile for tile, area in zip(tiles, areas, strict=True) if 1 / _ALIKE < area / usual < _ALIKE]


def _area(quad: Quad) -> float:
    return float(abs(cv2.contourArea(quad.astype(np.float32))))


def _grey(maps: Maps) -> Picture:
    return np.round(255 * maps.hand).astype(np.uint8)
