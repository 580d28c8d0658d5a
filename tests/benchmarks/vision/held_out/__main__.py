"""`python -m tests.benchmarks.vision.held_out`: draw pictures of every kind, and count how our reader reads them.

With `--out FOLDER`, they are written there with truth files (`tileback-truth/1`) instead, for calibration.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import cv2

from tests.benchmarks.vision.held_out.enrolled import enrolled_kinds
from tests.benchmarks.vision.held_out.judged import (
    KindCount,
    count_enrolled,
    count_kind,
    enrolled_rows,
    promised_bound,
    rows,
)
from tests.benchmarks.vision.held_out.kinds import KINDS, Kind, draw
from tests.benchmarks.vision.scenes import Scene
from vision.training.fonts import Part


def main() -> None:
    """Draw, read and print; or draw and write."""
    asked = _asked()
    kinds = [kind for kind in KINDS.values() if not asked.kinds or kind.name in asked.kinds]
    if asked.out:
        for kind in kinds:
            for seed in _seeds(asked):
                write_scene(draw(kind, seed, asked.part), asked.out)
        return
    if asked.enrolled:
        chosen = [kind for kind in enrolled_kinds() if kind in kinds]
        for line in enrolled_report(chosen, _seeds(asked), asked.part):
            print(line, flush=True)
        return
    for line in report(kinds, _seeds(asked), asked.part):
        print(line, flush=True)


def report(kinds: Sequence[Kind], seeds: range, part: Part) -> Iterator[str]:
    """Read `seeds` pictures of each kind; yield the lines of a table as they are known."""
    counts: list[KindCount] = []
    yield from rows([])
    for kind in kinds:
        counts.append(count_kind(kind, seeds, part))
        yield from rows(counts[-1:])
    yield promised_bound(counts)


def enrolled_report(kinds: Sequence[Kind], seeds: range, part: Part) -> Iterator[str]:
    """Enrol a set of each kind for each seed, and read it before and after; yield the lines of a table."""
    yield from enrolled_rows([])
    for kind in kinds:
        yield from enrolled_rows([count_enrolled(kind, seeds, part)])


def write_scene(scene: Scene, folder: Path) -> None:
    """Write a picture, and its truth beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    name = scene.name.replace(",", "").replace(" ", "-")
    cv2.imwrite(str(folder / f"{name}.jpg"), scene.picture, [cv2.IMWRITE_JPEG_QUALITY, 97])
    tiles = [
        {
            "quad": tile.quad.round(2).tolist(),
            "mark_quad": None if tile.mark_quad is None else tile.mark_quad.round(2).tolist(),
            "serial": tile.serial,
            "set": "08" if scene.style == "label" else None,
            "state": "back",
            "readable": tile.readable,
            "seat": None,
            "row": None,
            "col": None,
        }
        for tile in scene.tiles
    ]
    truth = {
        "schema": "tileback-truth/1",
        "image": f"{name}.jpg",
        "style": scene.style,
        "difficulty": scene.difficulty,
        "scene": scene.kind,
        "expected": None,
        "faults": [],
        "tiles": tiles,
    }
    (folder / f"{name}.json").write_text(json.dumps(truth), encoding="utf-8")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"only these kinds: {'; '.join(KINDS)}")
    parser.add_argument("--count", type=int, default=3, help="pictures of each kind (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument("--part", choices=get_args(Part), default="test", help="whose fonts (default: %(default)s)")
    parser.add_argument("--enrolled", action="store_true", help="enrol sets of kinds, and read them before and after")
    parser.add_argument("--out", type=Path, help="write pictures and truth there, and read nothing")
    asked = parser.parse_args()
    if unknown := set(asked.kinds) - KINDS.keys():
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    return asked


def _seeds(asked: argparse.Namespace) -> range:
    return range(asked.first, asked.first + asked.count)


if __name__ == "__main__":
    main()
