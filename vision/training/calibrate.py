"""`python -m vision.training.calibrate`: how far the digit network's confidence can be trusted, as a table and curves.

With --crops it draws fresh crops, damaged as the training's are; with --pictures it reads pictures with truth files.
The threshold `SURE` (vision/marks/decide.py) follows from it, as docs/vision.md says. Needs no PyTorch.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from vision.marks.decide import SURE
from vision.training.calibration import DOUBTS, Reads, bins, cut, lowest_safe
from vision.training.calibration_chart import draw_chart
from vision.training.calibration_drawn import read_drawn
from vision.training.calibration_pictures import read_pictures


def main() -> None:
    """Read the options, read marks, print and draw."""
    asked = _asked()
    reads = read_pictures(asked.pictures) if asked.pictures else read_drawn(asked.crops, asked.processes)
    print("\n".join(table(reads)))
    print(f"\nlowest safe threshold: {lowest_safe(reads)}; in force: {SURE}")
    if asked.out:
        asked.out.write_text(draw_chart(reads, SURE), encoding="utf-8")


def table(reads: Reads) -> Iterator[str]:
    """Give what each threshold makes of the reads, then how often each confidence was wrong; as Markdown."""
    yield "| threshold | marks | read | not read | wrong serials |"
    yield "|---|---|---|---|---|"
    for threshold in sorted({*(1 - doubt for doubt in DOUBTS), SURE}):
        told = cut(reads, threshold)
        share = 100 * told.read / max(told.counted, 1)
        read = f"{share:.2f} % | {100 - share:.2f} %"
        yield f"| {threshold:.4g} | {told.counted} | {read} | {told.wrong} of {told.looks} |"
    yield "\n| told with confidence | serials | wrong | share wrong, 95 % sure |\n|---|---|---|---|"
    for one in bins(reads):
        yield f"| {1 - one.doubt:.4g} | {one.told} | {one.wrong} | {one.least:.2g} to {one.most:.2g} |"


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crops", type=int, default=50_000, help="crops to draw (default: %(default)s)")
    parser.add_argument("--pictures", type=Path, help="read this folder's pictures instead (tileback-truth/1)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, help="an SVG file for the curves")
    return parser.parse_args()


if __name__ == "__main__":
    main()
