"""`python -m tests.vision.measure_layout FOLDER`: measure the layout, given the tiles of truth files."""

import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.finder import DetectedTile, Detections
from vision.geometry import Quad
from vision.layout import TableLayout, lay_out_table
from vision.marks import TileMark
from vision.picture import load_picture
from vision.reader import to_reading
from vision.reading import TrayFault
from vision.verdict import compare, parse_expected

Truth = dict[str, Any]
CELL = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Imperfections to add: `corner` as a share of a tile's width (one sigma), the others as probabilities."""

    corner: float = 0.025
    missed: float = 0.02
    stray: float = 0.3  # for each of two possible false tiles
    unread: float = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The input of the layout, and the index in the truth for each tile; None for a false one."""

    found: Detections
    marks: tuple[TileMark | None, ...]
    truth: tuple[int | None, ...]


def see(truth: Truth, noise: Noise, seed: int) -> Seen:
    """Return tiles and marks of a picture; tiles that are more than half hidden are not found."""
    chance = np.random.default_rng([seed, truth["seed"], truth["index"]])
    tiles: list[DetectedTile] = []
    marks: list[TileMark | None] = []
    origin: list[int | None] = []
    for number, one in enumerate(truth["tiles"]):
        if one["occluded"] > 0.5 or chance.random() < noise.missed:
            continue
        quad, turned = _jittered(np.array(one["quad"]), noise, chance)
        tiles.append(DetectedTile(quad, one["state"] == "face-up", 0.99))
        marks.append(_mark(one, noise, chance, turned=turned) if one["state"] == "back" else None)
        origin.append(number)
    for _ in range(2 if tiles else 0):
        if chance.random() < noise.stray:
            tiles.append(_stray(tiles, truth, chance))
            marks.append(None)
            origin.append(None)
    order = chance.permutation(len(tiles))
    found = Detections(tuple(tiles[at] for at in order), _hands(truth), CELL)
    return Seen(found, tuple(marks[at] for at in order), tuple(origin[at] for at in order))


def _jittered(quad: Quad, noise: Noise, chance: np.random.Generator) -> tuple[Quad, bool]:
    width = float(np.linalg.norm(quad[1] - quad[0]))
    turned = bool(chance.random() < 0.5)
    shaken = quad + chance.normal(0, noise.corner * width, (4, 2))
    return np.roll(shaken, 2 if turned else 0, axis=0), turned


def _mark(one: Truth, noise: Noise, chance: np.random.Generator, *, turned: bool) -> TileMark:
    quad = np.array(one["quad"], dtype=np.float32)
    to_tile = cv2.getPerspectiveTransform(quad, np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32))
    middle = np.mean(one["mark_quad"], axis=0)
    spot = cv2.perspectiveTransform(middle[None, None], to_tile)[0, 0] - 0.5 + chance.normal(0, 0.007, 2)
    if not one["readable"] or chance.random() < noise.unread:
        return TileMark(None, None, None, 0.0, np.full(2, np.nan))
    number = one["set"]
    return TileMark(one["serial"], number, turned, 0.99, np.asarray(spot, dtype=np.float64))


def _stray(tiles: list[DetectedTile], truth: Truth, chance: np.random.Generator) -> DetectedTile:
    """Return a false tile at a random position, as large as a true one."""
    quad = tiles[int(chance.integers(len(tiles)))].quad
    spin = chance.uniform(0, 2 * np.pi)
    turn = np.array([[np.cos(spin), -np.sin(spin)], [np.sin(spin), np.cos(spin)]])
    centre = chance.uniform([0, 0], [truth["width"], truth["height"]])
    return DetectedTile((quad - quad.mean(axis=0)) @ turn.T + centre, face_up=False, likelihood=0.6)


def _hands(truth: Truth) -> np.typing.NDArray[np.uint8]:
    """Return a map of hands in which each tile's top is covered as far as the truth says."""
    shape = (int(np.ceil(truth["height"] / CELL)), int(np.ceil(truth["width"] / CELL)))
    fine = np.zeros((shape[0] * 4, shape[1] * 4), dtype=np.uint8)
    for one in truth["tiles"]:
        if one["occluded"] > 0.05:
            a, b, c, d = np.array(one["quad"])
            part = np.array([a, b, b + (c - b) * one["occluded"], a + (d - a) * one["occluded"]])
            cv2.fillConvexPoly(fine, np.round(part * 4 / CELL).astype(np.int32), 255)
    return np.asarray(cv2.resize(fine, shape[::-1], interpolation=cv2.INTER_AREA), dtype=np.uint8)


SEEDS = 3
FaultKey = tuple[str, str | None, frozenset[tuple[int, int]]]


def count_places(truth: Truth, seen: Seen, layout: TableLayout) -> Counter[str]:
    """Count tiles, those at their places, those at others, those without one, and false tiles with a place."""
    counts: Counter[str] = Counter()
    for position, number in zip(layout.positions, seen.truth, strict=True):
        if number is None:
            counts["false tiles placed"] += position.row is not None
            continue
        one = truth["tiles"][number]
        right = (position.seat, position.row, position.col) == (one["seat"], one["row"], one["col"])
        counts["tiles"] += 1
        counts["right"] += right
        counts["wrong"] += not right and position.row is not None
    return counts


def count_faults(truth: Truth, seen: Seen, layout: TableLayout) -> Counter[str]:
    """Count the truth's faults, those named, and those named wrongly; a swap may be named from either end."""
    if truth["expected"] is None:
        return Counter()
    faults = compare(to_reading(seen.found, seen.marks, layout), parse_expected(truth["expected"]))
    true = {_key(one["type"], one["seat"], (one["row"], one["col"]), one.get("with")) for one in truth["faults"]}
    named = {_fault_key(fault) for fault in faults}
    return Counter({"faults": len(true), "named": len(true & named), "false": len(named - true)})


def _fault_key(fault: TrayFault) -> FaultKey:
    return _key(fault.type.value, fault.seat, (fault.row, fault.col), fault.with_)


def _key(kind: str, seat: str | None, at: tuple[int, int], other: tuple[int, int] | list[int] | None) -> FaultKey:
    return kind, seat, frozenset({at, (other[0], other[1]) if other else at})


def main(folder: Path, prefix: str) -> None:
    """Print a line for each scene."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    times: dict[str, list[float]] = defaultdict(list)
    for path in sorted(folder.glob(f"{prefix}*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        picture = load_picture(path.with_suffix(".jpg"))
        for seed in range(SEEDS):
            seen = see(truth, Noise(), seed)
            began = time.process_time()
            layout = lay_out_table(picture, seen.found, seen.marks)
            times[truth["scene"]].append(1000 * (time.process_time() - began))
            sums[truth["scene"]] += count_places(truth, seen, layout) + count_faults(truth, seen, layout)
    for scene, counts in sums.items():
        told = ", ".join(f"{name} {number}" for name, number in counts.items())
        print(f"{scene}: {told}; ms median {statistics.median(times[scene]):.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] else "")
