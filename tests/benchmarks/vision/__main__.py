"""Compare our reader with Tesseract, RapidOCR and zxing-cpp: `make bench-vision`, `python -m tests.benchmarks.vision`.

All get the same pictures in the same run: whole pictures, and then the marks alone, cut out along the tiles' true
corners. A wrong serial is any that the truth does not have at that place: a misread, or one on a face, on a card or
where nothing lies. The alternatives are used only for what they are made for: print for Tesseract and RapidOCR, labels
for zxing-cpp. Each file's docstring describes the setup. Without --pictures: drawn trays, a drawn carrier, and the
pictures beside the tests; finally, for ours alone, pictures of kinds that it was not trained for.
"""

import argparse
import os
import platform
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np

from tests.benchmarks.vision import ours, rapid, tesseract, zxing
from tests.benchmarks.vision.contest import Contestant, NotHereError
from tests.benchmarks.vision.drawn import draw_scenes
from tests.benchmarks.vision.fresh import measure_start
from tests.benchmarks.vision.held_out.__main__ import report
from tests.benchmarks.vision.held_out.kinds import KINDS
from tests.benchmarks.vision.run import run
from tests.benchmarks.vision.scenes import KEPT, Scene, load_scenes, scene_files
from tests.benchmarks.vision.tables import tables, times_by_kind
from vision.geometry import Picture

LARGE = (4056, 3040)  # the largest picture of a Raspberry Pi's camera
ALTERNATIVES: dict[str, Callable[[], list[Contestant]]] = {
    "tesseract": tesseract.contestants,
    "rapidocr": rapid.contestants,
    "zxing": zxing.contestants,
}


def main() -> None:
    """Measure, compare, print."""
    asked = _asked()
    files = scene_files(asked.pictures or KEPT)
    if not files:
        raise SystemExit("there are no pictures with truth files")
    drawn = [] if asked.pictures else list(islice(draw_scenes(), asked.limit))
    number = min(len(files) + len(drawn), asked.limit)
    taking_part = list(_taking_part(asked.without))
    print(f"{platform.machine()}, {os.cpu_count()} cores, {cv2.getNumThreads()} threads of OpenCV; {number} pictures")
    outcomes = run(taking_part, islice(chain(drawn, load_scenes(files)), number), number)
    for line in chain(tables(outcomes), times_by_kind(outcomes)):
        print(line)
    _print_start((drawn or list(load_scenes(files[:1])))[0])
    if not asked.pictures:
        print("\nOurs, whole pictures of kinds that it was not trained for")
        for line in report(list(KINDS.values()), range(asked.held_out), "test"):
            print(line, flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, help="a folder of pictures with truth files (tileback-truth/1)")
    parser.add_argument("--limit", type=int, default=20, help="no more pictures than these (default: %(default)s)")
    parser.add_argument("--held-out", type=int, default=3, help="pictures of each kind (default: %(default)s)")
    parser.add_argument("--without", nargs="*", default=[], choices=list(ALTERNATIVES), help="leave these out")
    return parser.parse_args()


def _taking_part(without: list[str]) -> Iterator[Contestant]:
    yield from ours.contestants()
    for name, contestants in ALTERNATIVES.items():
        try:
            yield from contestants() if name not in without else []
        except NotHereError as error:
            print(f"left out: {error}")


def _print_start(scene: Scene) -> None:
    """Measure new processes with a picture as it is, and enlarged."""
    print("\nOurs in a fresh process")
    large = np.asarray(cv2.resize(scene.picture, LARGE, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    for picture in (scene.picture, large):
        _print_one_start(picture)


def _print_one_start(picture: Picture) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.jpg"
        cv2.imwrite(str(path), picture)
        start = measure_start(path)
    size = f"{picture.shape[1]} x {picture.shape[0]}"
    spent = f"imported in {start.importing:.2f} s, networks loaded in {start.loading:.2f} s"
    print(f"    {size}: {spent}, peak {start.peak:.0f} MB")


if __name__ == "__main__":
    main()
