"""`python -m tests.vision.layout.measure FOLDER [PREFIX]`: the layout alone, on pictures with truth.

Tiles and marks are made from the truth files with noise, so that neither finder nor reader has a part in the figures.
"""

import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from tests.vision.layout.truth_tiles import Noise, Seen, Truth, see
from vision.expected import parse_expected
from vision.layout.layout import lay_out
from vision.layout.reads import to_reading
from vision.layout.values import Layout
from vision.picture import load_picture
from vision.reading import Fault
from vision.verdict import compare

SEEDS = 3
FaultKey = tuple[str, str | None, frozenset[tuple[int, int]]]


def count_places(truth: Truth, seen: Seen, layout: Layout) -> Counter[str]:
    """Count tiles, those at their place, those at another, those without one, and false tiles with a place."""
    counts: Counter[str] = Counter()
    for lie, number in zip(layout.lies, seen.truth, strict=True):
        if number is None:
            counts["false tiles placed"] += lie.row is not None
            continue
        one = truth["tiles"][number]
        right = (lie.seat, lie.row, lie.col) == (one["seat"], one["row"], one["col"])
        counts["tiles"] += 1
        counts["right"] += right
        counts["wrong"] += not right and lie.row is not None
    return counts


def count_faults(truth: Truth, seen: Seen, layout: Layout) -> Counter[str]:
    """Count the truth's faults, those named, and those named that are none; a swap is the same from either end."""
    if truth["expected"] is None:
        return Counter()
    faults = compare(to_reading(seen.found, seen.marks, layout), parse_expected(truth["expected"]))
    true = {_key(one["type"], one["seat"], (one["row"], one["col"]), one.get("with")) for one in truth["faults"]}
    named = {_fault_key(fault) for fault in faults}
    return Counter({"faults": len(true), "named": len(true & named), "false": len(named - true)})


def _fault_key(fault: Fault) -> FaultKey:
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
            layout = lay_out(picture, seen.found, seen.marks)
            times[truth["scene"]].append(1000 * (time.process_time() - began))
            sums[truth["scene"]] += count_places(truth, seen, layout) + count_faults(truth, seen, layout)
    for scene, counts in sums.items():
        told = ", ".join(f"{name} {number}" for name, number in counts.items())
        print(f"{scene}: {told}; ms median {statistics.median(times[scene]):.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] else "")
