"""Measure how reliable confidences are, by comparing reads and their confidence with the truth.

Reads come from drawn crops, or from pictures with truth files.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Quad
from vision.marks.digits import NUMBER, look_at_crops_closely, read_digits
from vision.picture import load_picture
from vision.reading import LAST_SERIAL
from vision.training.crops import Crop, draw_crops
from vision.training.parallel import drawing_pool

NO_SERIAL: Final = 0  # none was read, or there is none
DOUBTS: Final = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)
_Z: Final = 1.96  # standard deviations on either side of the mean that contain 95 %


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationReads:
    """Looks at marks; arrays of shape (n,): the serial that was read, its confidence (0..1), and the true serial.

    `counted` is whether the mark should be read. Traps are not counted; they only must not be read.
    """

    serial: NDArray[np.int64]
    confidence: NDArray[np.float64]
    true: NDArray[np.int64]
    counted: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Iterable[tuple[int | None, float, int, bool]]) -> "CalibrationReads":
        """Create from rows of told, confidence, true, counted."""
        serials, confidence, true, counted = zip(*rows, strict=True)
        return cls(
            np.array([NO_SERIAL if one is None else one for one in serials], dtype=np.int64),
            np.array(confidence, dtype=np.float64),
            np.array(true, dtype=np.int64),
            np.array(counted, dtype=np.bool_),
        )

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which looks gave a serial that is not the true one."""
        return np.asarray((self.serial != NO_SERIAL) & (self.serial != self.true))

    @property
    def doubt(self) -> NDArray[np.float64]:
        """1 minus the confidence."""
        return 1 - self.confidence


@dataclass(frozen=True, slots=True)
class ThresholdCount:
    """Counts at one threshold: marks that should be read, those read correctly, wrong serials, and all looks."""

    threshold: float
    readable: int
    read: int
    wrong: int
    looks: int


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Serials read with similar doubt, and the 95 % interval, `least` to `most`, of the share that is wrong."""

    doubt: float  # mean
    count: int  # serials read
    wrong: int
    least: float
    most: float


def count_at_threshold(reads: CalibrationReads, threshold: float) -> ThresholdCount:
    """Count the serials with a confidence of at least `threshold`."""
    sure = (reads.serial != NO_SERIAL) & (reads.confidence >= threshold)
    read = sure & reads.counted & ~reads.wrong
    return ThresholdCount(
        threshold, int(reads.counted.sum()), int(read.sum()), int((sure & reads.wrong).sum()), len(reads.serial)
    )


def lowest_safe(reads: CalibrationReads) -> float | None:
    """Return the lowest threshold at which no serial is wrong; None if there is none."""
    return next((1 - doubt for doubt in DOUBTS if not count_at_threshold(reads, 1 - doubt).wrong), None)


def confidence_bins(reads: CalibrationReads) -> Iterator[ConfidenceBin]:
    """Split the serials by their doubt, ever more finely towards certainty; empty bins are left out."""
    for most, least in zip((1.0, *DOUBTS), (*DOUBTS, -1.0), strict=True):
        inside = (reads.serial != NO_SERIAL) & (reads.doubt <= most) & (reads.doubt > least)
        if count := int(inside.sum()):
            wrong = int(reads.wrong[inside].sum())
            mean = max(float(reads.doubt[inside].mean()), DOUBTS[-1] / 10)
            yield ConfidenceBin(mean, count, wrong, *_between(wrong, count))


def _between(wrong: int, count: int) -> tuple[float, float]:
    """Return Wilson's interval for a share (Wilson 1927, doi:10.1080/01621459.1927.10502953)."""
    share = wrong / count
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * float(np.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2)))
    return max(0.0, middle - half) if wrong else 0.0, min(1.0, middle + half)


_DRAWN_SEED: Final = 31  # different from the training's, so that no crop was used for training
_CHUNK: Final = 500

Row = tuple[int | None, float, int, bool]


def read_drawn(count: int, processes: int) -> CalibrationReads:
    """Draw at least `count` crops and read them; numbers that are not serials are left out, as no tile has them."""
    chunks = range(-(-count // _CHUNK))
    with drawing_pool(processes) as pool:
        return CalibrationReads.of(row for rows in pool.imap(_read_chunk, chunks) for row in rows)


def _read_chunk(number: int) -> list[Row]:
    chance = np.random.default_rng([_DRAWN_SEED, number])
    rows: list[Row] = []
    while len(rows) < _CHUNK:
        crops = draw_crops(chance)
        if crops and 0 < _number(crops[0]) <= LAST_SERIAL:
            rows += _read(crops)
    return rows


def _read(crops: list[Crop]) -> list[Row]:
    looks = look_at_crops_closely(np.array([crop.pixels for crop in crops]))
    return [
        (look.mark.serial, look.mark.confidence, _number(crop), crop.kind == NUMBER)
        for crop, look in zip(crops, looks, strict=True)
    ]


def _number(crop: Crop) -> int:
    hundreds, tens, ones = crop.digits
    return 100 * hundreds + 10 * tens + ones


_OUTLINE_SEED: Final = 31
_OUTLINES: Final = 4  # outlines per tile, as a small shift may make the network surer of a wrong serial
_SHIFT: Final = 0.015  # standard deviation of an outline's shift, in tile widths
_CORNER_SHIFT: Final = 0.010  # the same for each corner by itself


def read_pictures(folder: Path) -> CalibrationReads:
    """Read the tiles of a folder's pictures without labels; the truth of NAME.jpg is NAME.json (`tileback-truth/1`)."""
    chance = np.random.default_rng(_OUTLINE_SEED)
    truths = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json")))
    return CalibrationReads.of(
        row for truth in truths if truth["style"] != "label" for row in _rows(folder, truth, chance)
    )


def _rows(folder: Path, truth: dict[str, Any], chance: np.random.Generator) -> Iterator[Row]:
    tiles = _OUTLINES * truth["tiles"]
    quads = [_moved(np.array(tile["quad"], dtype=np.float64), chance) for tile in tiles]
    marks = read_digits(load_picture(folder / truth["image"]), quads)
    for tile, mark in zip(tiles, marks, strict=True):
        true = tile["serial"] if tile["state"] == "back" else NO_SERIAL
        yield mark.serial, mark.confidence, true, tile["readable"]


def _moved(quad: Quad, chance: np.random.Generator) -> Quad:
    """Move an outline slightly, and turn it upside down at random, as the finder does not know a tile's way up."""
    width = float(np.linalg.norm(quad[1] - quad[0]))
    moved = quad + chance.normal(0, _SHIFT * width, 2) + chance.normal(0, _CORNER_SHIFT * width, (4, 2))
    return np.roll(moved, 2 * int(chance.integers(2)), axis=0)
