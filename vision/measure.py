"""`python -m vision.measure FOLDER [PREFIX]`: how well the reader does on pictures with truth files beside them.

Truth is `tileback-truth/1`, NAME.json beside NAME.jpg. A wrong serial is one that lies where the truth has another, on
whatever tile, or where no tile is.
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
from vision.reader import read_picture
from vision.reading import PictureReading, TileRead, TrayFault
from vision.verdict import compare

Truth = dict[str, Any]
FaultKey = tuple[str, str | None, frozenset[tuple[int, int]]]
_COUNTED = ("pictures", "readable", "read", "at its place", "wrong", "faults", "named", "false")


def count_reads(truth: Truth, reading: PictureReading) -> Counter[str]:
    """Count readable tiles, those read, those read at the right place, and wrong serials."""
    counts: Counter[str] = Counter()
    placed: set[TileRead] = set()
    for tile in truth["tiles"]:
        found = [read for read in reading.reads if read.serial is not None and _lies_on(read, tile)]
        placed |= set(found)
        right = [read for read in found if is_right_read(read, tile)]
        counts["wrong"] += len(found) - len(right)
        if tile["readable"]:
            counts["readable"] += 1
            counts["read"] += bool(right)
            counts["at its place"] += any(_place(read) == (tile["seat"], tile["row"], tile["col"]) for read in right)
    counts["wrong"] += sum(read.serial is not None and read not in placed for read in reading.reads)
    return counts


def is_right_read(read: TileRead, tile: Truth) -> bool:
    """Return whether a read is that of the truth's tile: a back with that serial, of no other set than it names."""
    return tile["state"] == "back" and read.serial == tile["serial"] and read.set in {None, tile["set"]}


def _place(read: TileRead) -> tuple[str | None, int | None, int | None]:
    return read.seat, read.row, read.col


def count_faults(truth: Truth, faults: tuple[TrayFault, ...]) -> Counter[str]:
    """Count faults of the truth, those named, and those named that are none; a swap is the same from either end."""
    true = {_key(one["type"], one["seat"], one["row"], one["col"], one.get("with")) for one in truth["faults"]}
    named = {_key(one.type.value, one.seat, one.row, one.col, one.with_) for one in faults}
    return Counter({"faults": len(true), "named": len(true & named), "false": len(named - true)})


def _key(kind: str, seat: str | None, row: int, col: int, with_: tuple[int, int] | list[int] | None) -> FaultKey:
    other = (with_[0], with_[1]) if with_ else (row, col)
    return kind, seat, frozenset({(row, col), other})


def _lies_on(read: TileRead, tile: Truth) -> bool:
    middle = np.mean(read.quad, axis=0)
    back = np.array(tile["quad"], dtype=np.float32)
    return cv2.pointPolygonTest(back, (float(middle[0]), float(middle[1])), measureDist=False) > 0


def measure_picture(truth: Truth, reading: PictureReading) -> Counter[str]:
    """Count all that is counted of one picture."""
    counts = count_reads(truth, reading) + Counter({"pictures": 1})
    if truth["expected"]:
        expected = truth["expected"].get("tray", truth["expected"])
        counts += count_faults(truth, compare(reading, expected))
    return counts


def _main(folder: Path, prefix: str) -> None:
    """Print a line for each style and difficulty, and the times for each scene and size."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    times: dict[str, list[float]] = defaultdict(list)
    for path in sorted(folder.glob(f"{prefix}*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        picture = load_picture(path.with_suffix(".jpg"))
        began = time.perf_counter()
        reading = read_picture(picture)
        spent = 1000 * (time.perf_counter() - began)
        times[f"{truth['scene']} {picture.shape[1]} x {picture.shape[0]}"].append(spent)
        sums[f"{truth['style']} {truth['difficulty']}"] += measure_picture(truth, reading)
    for kind, counts in sorted(sums.items()):
        print(f"{kind}: " + ", ".join(f"{name} {counts[name]}" for name in _COUNTED))
    for scene, all_spent in sorted(times.items()):
        middle, most = statistics.median(all_spent), max(all_spent)
        print(f"{scene}: {len(all_spent)} pictures, ms median {middle:.0f}, most {most:.0f}")


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")  # noqa: PLR2004 -- the second argument
