"""Find all tiles of a picture, backs and faces, and where hands are."""

import cv2
import numpy as np

from vision.finder.frames import sizes
from vision.finder.network import CELL, Maps, look
from vision.finder.perspective import quads_of, slope
from vision.finder.votes import Votes, cast, chosen, count
from vision.geometry import Picture, Quad
from vision.sight import Found, Tile

_LONG_SIDE = 672  # pixels of the longer side that a picture is looked at with
_LONG_SIDE_OF_LARGE = 864  # the same for pictures in which a whole carrier may lie
_LARGE = 2200  # pixels of the longer side
_COARSER = 4  # times smaller is the second look, for tiles that fill the picture
_FINE_SIZES = (5.0, 46.0)  # half sizes of tiles that a look is good for
_COARSE_SIZES = (9.0, 60.0)  # smaller ones are the first look's
_HALF = 0.5


def find_tiles(picture: Picture) -> Found:
    """Find the tiles of a BGR picture, shape (height, width, 3) or (height, width), of any size.

    The surest tile comes first. Deterministic; any thread may call it.
    """
    if picture.ndim == 2:  # noqa: PLR2004  grey has two dimensions
        picture = np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    longest = max(picture.shape[:2])
    if longest == 0:
        return Found((), np.zeros((0, 0), np.uint8), 1.0)
    small = _shrunk(picture, _LONG_SIDE_OF_LARGE if longest > _LARGE else _LONG_SIDE)
    maps = look(small)
    fine, fine_quads = _tiles(maps, _FINE_SIZES)
    smaller = _shrunk(small, max(small.shape[:2]) // _COARSER)
    coarse, coarse_quads = _tiles(look(smaller), _COARSE_SIZES)
    ratio = np.array([picture.shape[1], picture.shape[0]])
    fine_quads = [quad * ratio / _size(small) for quad in fine_quads]
    coarse_quads = [quad * ratio / _size(smaller) for quad in coarse_quads]
    tiles = _merged(_told(fine, fine_quads), _told(coarse, coarse_quads))
    return Found(
        tuple(sorted(tiles, key=lambda tile: -tile.likelihood)), _grey(maps), CELL * longest / max(small.shape[:2])
    )


def _size(picture: Picture) -> tuple[int, int]:
    return picture.shape[1], picture.shape[0]


def _shrunk(picture: Picture, longest: int) -> Picture:
    """Shrink a picture to a longer side; one that is small already stays as it is."""
    factor = longest / max(picture.shape[:2])
    if factor >= 1:
        return np.ascontiguousarray(picture)
    size = (max(1, round(factor * picture.shape[1])), max(1, round(factor * picture.shape[0])))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _tiles(maps: Maps, between: tuple[float, float]) -> tuple[Votes, list[Quad]]:
    tiles = count(cast(maps))
    size = sizes(tiles.frames)
    tiles = chosen(tiles, (size > between[0]) & (size < between[1]))
    return tiles, quads_of(tiles.frames, slope(tiles.frames))


def _told(tiles: Votes, quads: list[Quad]) -> list[Tile]:
    return [
        Tile(quad, bool(face > back), float(likelihood))
        for quad, back, face, likelihood in zip(quads, tiles.back, tiles.face, tiles.likelihood, strict=True)
    ]


def _merged(fine: list[Tile], coarse: list[Tile]) -> list[Tile]:
    """Keep a large tile where small ones do not fill it (they are its print then), else the small ones."""
    for large in coarse:
        inside = [tile for tile in fine if _covers(large.quad, tile.quad)]
        filled = sum(_area(tile.quad) for tile in inside)
        if filled < _HALF * _area(large.quad):
            fine = [tile for tile in fine if tile not in inside] + [large]
    return fine


def _covers(outer: Quad, inner: Quad) -> bool:
    x, y = inner.mean(axis=0)
    return cv2.pointPolygonTest(outer.astype(np.float32), (float(x), float(y)), measureDist=False) > 0


def _area(quad: Quad) -> float:
    return float(abs(cv2.contourArea(quad.astype(np.float32))))


def _grey(maps: Maps) -> Picture:
    return np.round(255 * maps.hand).astype(np.uint8)
