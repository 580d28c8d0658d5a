"""Reads of printed numbers on pictures with truth files, along true outlines moved as a finder may be off."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from vision.geometry import Quad
from vision.marks.digits import read_digits
from vision.picture import load_picture
from vision.training.calibration import NONE, Reads

_SEED: Final = 31
_OUTLINES: Final = 4  # for each tile: a small step aside may make the network surer of what is wrong
_OFF: Final = 0.015  # of a tile's width, standard deviation
_CORNERS_OFF: Final = 0.010  # each for itself

Row = tuple[int | None, float, int, bool]


def read_pictures(folder: Path) -> Reads:
    """Read the tiles of all pictures without labels in a folder, NAME.json (`tileback-truth/1`) beside NAME.jpg."""
    chance = np.random.default_rng(_SEED)
    truths = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json")))
    return Reads.of(row for truth in truths if truth["style"] != "label" for row in _rows(folder, truth, chance))


def _rows(folder: Path, truth: dict[str, Any], chance: np.random.Generator) -> Iterator[Row]:
    tiles = _OUTLINES * truth["tiles"]
    quads = [_off(np.array(tile["quad"], dtype=np.float64), chance) for tile in tiles]
    marks = read_digits(load_picture(folder / truth["image"]), quads)
    for tile, mark in zip(tiles, marks, strict=True):
        true = tile["serial"] if tile["state"] == "back" else NONE
        yield mark.serial, mark.confidence, true, tile["readable"]


def _off(quad: Quad, chance: np.random.Generator) -> Quad:
    """Move an outline a little, and turn it by half a turn or not: no finder knows which way up a tile lies."""
    width = float(np.linalg.norm(quad[1] - quad[0]))
    moved = quad + chance.normal(0, _OFF * width, 2) + chance.normal(0, _CORNERS_OFF * width, (4, 2))
    return np.roll(moved, 2 * int(chance.integers(2)), axis=0)
