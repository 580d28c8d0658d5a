"""`python -m vision.training.measure_finder FOLDER [PREFIX]`: measure how well tiles are found.

FOLDER contains pictures with truth files beside them; only names that begin with PREFIX are used.
"""

import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vision.finder import DetectedTile, Detections, find_tiles
from vision.geometry import Quad
from vision.picture import load_picture

Truth = dict[str, Any]
_NEAR = 1 / 3  # tile widths: largest distance of a found tile's middle
_HIDDEN = 0.5  # share occluded from which a tile need not be found
_SHOWN = 5  # errors printed per picture


class FinderTally:
    """Sums over pictures of one kind."""

    def __init__(self) -> None:
        self.tiles = self.found = self.false = self.kinds_wrong = 0
        self.corners: list[float] = []
        self.times: list[float] = []

    def line(self) -> str:
        """Return the sums as a line of text."""
        corners = np.array(self.corners or [np.nan])
        return (
            f"{len(self.times)} pictures, {self.found} of {self.tiles} tiles, {self.false} false, "
            f"{self.kinds_wrong} back or face confused, corners {100 * corners.mean():.1f} % of the width on average, "
            f"{100 * np.percentile(corners, 95):.1f} % at the 95th percentile, {statistics.median(self.times):.0f} ms"
        )

    def add(self, truth: Truth, found: Detections, spent: float) -> list[str]:
        """Add a picture, and return its errors."""
        self.times.append(1000 * spent)
        wrong, claimed = [], set()
        for tile in truth["tiles"]:
            quad = np.array(tile["quad"])
            width = float(np.hypot(*(quad[1] - quad[0])))
            similar_colour = [k for k, one in enumerate(found.tiles) if _middle_off(one, quad) < _NEAR * width]
            claimed.update(similar_colour)
            if tile["occluded"] > _HIDDEN:
                continue
            self.tiles += 1
            self.false += max(0, len(similar_colour) - 1)
            if not similar_colour:
                wrong.append(f"missed {tile['serial']} at {quad.mean(axis=0).round()}")
                continue
            self.found += 1
            best = found.tiles[similar_colour[0]]
            self.kinds_wrong += best.face_up != (tile["state"] == "face-up")
            self.corners.append(corner_error(best.quad, quad) / width)
        false = [one for k, one in enumerate(found.tiles) if k not in claimed]
        self.false += len(false)
        return wrong + [f"false {one.likelihood:.2f} at {one.quad.mean(axis=0).round()}" for one in false]


def corner_error(quad: Quad, true: NDArray[np.float64]) -> float:
    """Return the mean distance of corners in pixels; 0-1 and 2-3 are the short ends, and either may come first."""
    return min(float(np.hypot(*(np.roll(quad, turn, axis=0) - true).T).mean()) for turn in (0, 2))


def _middle_off(tile: DetectedTile, quad: NDArray[np.float64]) -> float:
    return float(np.hypot(*(tile.quad.mean(axis=0) - quad.mean(axis=0))))


def _main(folder: Path, prefix: str = "") -> None:
    """Print a line for each picture with errors, then one for each difficulty, scene and style."""
    tallies: dict[str, FinderTally] = defaultdict(FinderTally)
    for path in sorted(folder.glob(f"{prefix}*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        picture = load_picture(path.with_suffix(".jpg"))
        began = time.perf_counter()
        found = find_tiles(picture)
        spent = time.perf_counter() - began
        for kind in ("difficulty", "scene", "style"):
            wrong = tallies[f"{kind} {truth[kind]}"].add(truth, found, spent)
        tallies["all"].add(truth, found, spent)
        if wrong:
            print(f"{path.stem}: {len(wrong)} wrong, such as {'; '.join(wrong[:_SHOWN])}")
    for name, tally in sorted(tallies.items()):
        print(f"{name}: {tally.line()}")


if __name__ == "__main__":
    _main(Path(sys.argv[1]), *sys.argv[2:3])
