"""`python -m vision.measure FOLDER`: measure how well the reader reads pictures that have truth files.

The truth of NAME.jpg is NAME.json beside it, in the format `tileback-truth/1`. A serial is wrong if the tile there has
another serial, or if there is no tile. With `--stages`: measure the processor time of each stage.
"""

import argparse
import json
import pkgutil
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

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
    """Return whether a read matches the truth's tile: face down, the same serial, and the same set if it names one."""
    return tile["state"] == "back" and read.serial == tile["serial"] and read.set in {None, tile["set"]}


def _place(read: TileRead) -> tuple[str | None, int | None, int | None]:
    return read.seat, read.row, read.col


def count_faults(truth: Truth, faults: tuple[TrayFault, ...]) -> Counter[str]:
    """Count the true faults, those that were named, and false ones; a swap may be named from either end."""
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
    """Return all counts for one picture."""
    counts = count_reads(truth, reading) + Counter({"pictures": 1})
    if truth["expected"]:
        expected = truth["expected"].get("tray", truth["expected"])
        counts += count_faults(truth, compare(reading, expected))
    return counts


STAGES = {
    "finder": "vision.reader.find_tiles",
    "cutting out": "vision.marks.read.cut_backs",
    "labels: zxing": "vision.marks.label.find_hits",
    "labels: is one there": "vision.marks.read.is_labelled",
    "labels: word by word": "vision.marks.read.read_labels",
    "first reader": "vision.marks.digits.look_at_crops",
    "second reader": "vision.marks.digits.classify_columns",
    "places": "vision.reader.lay_out_table",
    "second look": "vision.reader.take_second_look",
}
"""The function that does each stage. A stage called within another counts for itself, except within a second look."""
REST = "what is left"


@contextmanager
def timed_stages() -> Iterator[dict[str, float]]:
    """Measure the processor time of each stage in seconds, while the reader runs in this thread alone."""
    spent = dict.fromkeys((*STAGES, REST), 0.0)
    running, since = [REST], time.process_time()

    def passed() -> None:
        nonlocal since
        now = time.process_time()
        spent["second look" if "second look" in running else running[-1]] += now - since
        since = now

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def stage_of(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- same signature as the function it replaces
            passed()
            running.append(stage)
            try:
                return function(*args, **kwargs)
            finally:
                passed()
                running.pop()

        return stage_of

    with ExitStack() as patched:
        for stage, place in STAGES.items():
            patched.enter_context(patch(place, timed(stage, pkgutil.resolve_name(place))))
        yield spent
    passed()


def _main(folder: Path, prefix: str, *, stages: bool) -> None:
    """Print a line for each style and difficulty, and the times for each scene and size."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    times: dict[str, list[float]] = defaultdict(list)
    shares: dict[str, list[dict[str, float]]] = defaultdict(list)
    for path in sorted(folder.glob(f"{prefix}*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        picture = load_picture(path.with_suffix(".jpg"))
        scene = f"{truth['scene']} {picture.shape[1]} x {picture.shape[0]}"
        if stages:
            with timed_stages() as spent:
                read_picture(picture)
            shares[scene].append(spent)
            continue
        began = time.perf_counter()
        reading = read_picture(picture)
        times[scene].append(1000 * (time.perf_counter() - began))
        sums[f"{truth['style']} {truth['difficulty']}"] += measure_picture(truth, reading)
    for kind, counts in sorted(sums.items()):
        print(f"{kind}: " + ", ".join(f"{name} {counts[name]}" for name in _COUNTED))
    for scene, all_spent in sorted(times.items()):
        middle, late = (float(np.quantile(all_spent, share)) for share in (0.5, 0.95))
        print(f"{scene}: {len(all_spent)} pictures, ms by the clock: median {middle:.0f}, 95 % within {late:.0f}")
    for scene, pictures in sorted(shares.items()):
        mean = {stage: 1000 * statistics.mean(spent[stage] for spent in pictures) for stage in pictures[0]}
        parts = ", ".join(f"{stage} {ms:.0f}" for stage, ms in mean.items())
        print(f"{scene}: {len(pictures)} pictures, mean ms of processor time {sum(mean.values()):.0f}: {parts}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("prefix", nargs="?", default="", help="only pictures whose names begin so")
    parser.add_argument("--stages", action="store_true", help="tell how much processor time each stage takes")
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    _main(options.folder, options.prefix, stages=options.stages)
