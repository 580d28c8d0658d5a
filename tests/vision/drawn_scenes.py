"""Drawn pictures with known truth, and how many of their tiles the finder detects."""

from collections.abc import Iterable

import numpy as np

from vision.finder import find_tiles
from vision.training.finder_examples import LEAST, MOST, frames_of
from vision.training.measure_finder import corner_error
from vision.training.scene import Scene, draw_scene

_SEED = 77_000_000  # not used for any training


def scenes(seeds: Iterable[int]) -> Iterable[Scene]:
    """Draw scenes that were not used for training."""
    return (draw_scene(_SEED + seed) for seed in seeds)


def found_share(drawn: Iterable[Scene]) -> tuple[float, float]:
    """Return the share of tiles found, and their corners' error in widths.

    Only tiles count that are well inside the picture, mostly visible, and within the range of sizes.
    """
    asked = found = 0
    errors: list[float] = []
    for scene in drawn:
        tiles = find_tiles(scene.picture).tiles
        for number, quad in enumerate(scene.quads.astype(float), 1):
            near = [one for one in tiles if _away(one.quad, quad) < 0.3]
            if not _counts(scene, number, quad):
                continue
            asked += 1
            found += bool(near)
            errors += [corner_error(near[0].quad, quad) / np.hypot(*(quad[1] - quad[0]))] if near else []
    return found / asked, float(np.mean(errors))


def _away(quad: np.ndarray, true: np.ndarray) -> float:
    return float(np.hypot(*(quad.mean(axis=0) - true.mean(axis=0))) / np.hypot(*(true[1] - true[0])))


def _counts(scene: Scene, number: int, quad: np.ndarray) -> bool:
    inside = (quad.min() > 0) and (quad.max(axis=0) < [scene.picture.shape[1], scene.picture.shape[0]]).all()
    frame = frames_of(quad[None].astype(np.float32))[0]
    size = 16 * np.exp((frame[2] + frame[4]) / 2)
    open_cells = int((scene.cores == number).sum())
    return bool(inside and LEAST < size < MOST and open_cells > 0.8 * 0.3 * 4 * size**2 / 16)
