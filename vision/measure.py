"""`python -m vision.measure FOLDER`: how well the reader does on pictures with truth files beside them.

Truth is `tileback-truth/1`, NAME.json beside NAME.jpg. Only trays with labels are counted. A wrong serial is one that
lies where the truth has another, on whatever tile, or where no tile is.
"""

import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.picture import load_picture
from vision.reader import read_tray
from vision.reading import Fault, Read, Reading
from vision.verdict import compare

Truth = dict[str, Any]
FaultKey = tuple[str, frozenset[tuple[int, int]]]


def count_reads(truth: Truth, reading: Reading) -> Counter[str]:
    """Count readable tiles, those read, those read at the right place, and wrong serials."""
    counts: Counter[str] = Counter()
    placed: set[Read] = set()
    for tile in truth["tiles"]:
        found = [read for read in reading.reads if read.serial is not None and _lies_on(read, tile)]
        placed |= set(found)
        right = [read for read in found if (read.serial, read.set) == (tile["serial"], tile["set"])]
        counts["wrong"] += len(found) - len(right)
        if tile["readable"]:
            counts["readable"] += 1
            counts["read"] += bool(right)
            counts["at its place"] += any((read.row, read.col) == (tile["row"], tile["col"]) for read in right)
    counts["wrong"] += sum(read.serial is not None and read not in placed for read in reading.reads)
    return counts


def count_faults(truth: Truth, faults: tuple[Fault, ...]) -> Counter[str]:
    """Count faults of the truth, those named, and those named that are none; a swap is the same from either end."""
    true = {_key(one["type"], one["row"], one["col"], one.get("with")) for one in truth["faults"]}
    named = {_key(one.type.value, one.row, one.col, one.with_) for one in faults}
    return Counter({"faults": len(true), "named": len(true & named), "false": len(named - true)})


def _key(kind: str, row: int, col: int, with_: tuple[int, int] | list[int] | None) -> FaultKey:
    other = (with_[0], with_[1]) if with_ else (row, col)
    return kind, frozenset({(row, col), other})


def _lies_on(read: Read, tile: Truth) -> bool:
    middle = np.mean(read.quad, axis=0)
    back = np.array(tile["quad"], dtype=np.float32)
    return cv2.pointPolygonTest(back, (float(middle[0]), float(middle[1])), measureDist=False) > 0


def main(folder: Path) -> None:
    """Print a line for each difficulty."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    times: dict[str, list[float]] = defaultdict(list)
    for path in sorted(folder.glob("*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        if truth["style"] != "label" or not truth["scene"].startswith("tray"):
            continue
        picture = load_picture(path.with_suffix(".jpg"))
        began = time.perf_counter()
        reading = read_tray(picture)
        times[truth["difficulty"]].append(1000 * (time.perf_counter() - began))
        sums[truth["difficulty"]] += count_reads(truth, reading)
        sums[truth["difficulty"]] += count_faults(truth, compare(reading, truth["expected"]["tray"]))
        sums[truth["difficulty"]]["pictures"] += 1
    for difficulty, counts in sums.items():
        told = ", ".join(
            f"{name} {counts[name]}"
            for name in ("pictures", "readable", "read", "at its place", "wrong", "faults", "named", "false")
        )
        spent = times[difficulty]
        print(f"{difficulty}: {told}; ms median {statistics.median(spent):.0f}, most {max(spent):.0f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
