"""Compare a reader's output with the truth."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from tests.benchmarks.vision.scenes import Scene, Tile
from vision.geometry import Points


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A serial, and where in the picture it was read: shape (2,), pixels."""

    serial: int
    spot: Points


def judge(scene: Scene, told: Sequence[Told]) -> Counter[str]:
    """Count readable tiles, those read, and wrong serials: any that the truth does not have at that place."""
    read: set[int] = set()
    wrong = 0
    for one in told:
        tile = _tile_at(scene.tiles, one.spot)
        if tile is None or not scene.tiles[tile].is_back or scene.tiles[tile].serial != one.serial:
            wrong += 1
        else:
            read.add(tile)
    right = sum(scene.tiles[number].readable for number in read)
    return Counter({"readable": sum(tile.readable for tile in scene.tiles), "read": right, "wrong": wrong})


def _tile_at(tiles: Sequence[Tile], spot: Points) -> int | None:
    """Return the tile with a spot on its back; of several that overlap, the one whose middle is nearest."""
    on = [number for number, tile in enumerate(tiles) if _is_inside(tile, spot)]
    return min(on, key=lambda number: float(np.linalg.norm(tiles[number].middle - spot)), default=None)


def _is_inside(tile: Tile, spot: Points) -> bool:
    at = (float(spot[0]), float(spot[1]))
    return cv2.pointPolygonTest(tile.quad.astype(np.float32), at, measureDist=False) >= 0
