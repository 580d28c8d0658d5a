"""Pictures with truth: from a folder of `tileback-truth/1` files, or drawn."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from vision.geometry import Picture, Points, Quad
from vision.picture import load_picture

KEPT: Final = Path(__file__).parents[2] / "vision" / "pictures"
_TWO_LINES: Final = 1.6  # ratio of width to height


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A tile: corners of its back and of its mark, each shape (4, 2), pixels, in the mark's own orientation."""

    quad: Quad
    mark_quad: Quad | None  # None if no mark is visible
    serial: int
    is_back: bool
    readable: bool

    @property
    def middle(self) -> Points:
        """The middle of the back, shape (2,), pixels."""
        return np.asarray(self.quad.mean(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A picture and its tiles; `style` is digits, prefixed or label, `kind` tray, carrier, heap or single."""

    name: str
    picture: Picture
    style: str
    difficulty: str
    kind: str
    tiles: tuple[Tile, ...]

    @property
    def marked(self) -> tuple[Tile, ...]:
        """The tiles with visible marks, readable or not."""
        return tuple(tile for tile in self.tiles if tile.mark_quad is not None)

    @property
    def has_two_lines(self) -> bool:
        """Whether the set's letter is above its numbers: then most marks are hardly wider than high."""
        shapes = [sides(tile.mark_quad) for tile in self.tiles if tile.mark_quad is not None]
        return self.style == "prefixed" and bool(shapes) and median(wide / high for wide, high in shapes) < _TWO_LINES


def sides(quad: Quad) -> tuple[float, float]:
    """Return width and height of a quad, pixels."""
    return float(np.linalg.norm(quad[1] - quad[0])), float(np.linalg.norm(quad[3] - quad[0]))


def scene_files(folder: Path) -> list[Path]:
    """Return the truth files of a folder, with styles and difficulties in turn, so that the first few include all."""
    by_kind: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.glob("*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        by_kind.setdefault((truth["style"], truth["difficulty"]), []).append(path)
    return [path for turn in zip_longest(*by_kind.values()) for path in turn if path is not None]


def load_scenes(files: list[Path]) -> Iterator[Scene]:
    """Load pictures one by one, as all together would take more memory than the readers."""
    for path in files:
        truth = json.loads(path.read_text(encoding="utf-8"))
        yield Scene(
            path.stem,
            load_picture(path.with_name(truth["image"])),
            truth["style"],
            truth["difficulty"],
            truth["scene"].removesuffix("-faulty"),
            tuple(_tile(tile) for tile in truth["tiles"]),
        )


def _tile(truth: dict[str, Any]) -> Tile:
    mark = truth["mark_quad"]
    return Tile(
        np.array(truth["quad"], dtype=np.float64),
        None if mark is None else np.array(mark, dtype=np.float64),
        truth["serial"],
        truth["state"] == "back",
        truth["readable"],
    )
