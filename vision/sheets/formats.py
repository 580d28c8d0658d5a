"""Formats of sticker sheets: their sizes, and the position of each label and each group of labels."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from vision.errors import LabelsOffPageError

SheetCell = tuple[int, int]
"""Column and row, from 0."""


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """One group of stickers: its sheet, counted from 0, and its cells in order."""

    sheet: int
    cells: tuple[SheetCell, ...]


def place_groups(sizes: Sequence[int], columns: int, rows: int, start: int = 1) -> tuple[PlacedGroup, ...]:
    """Place groups of `sizes` stickers in order, along rows or along columns, whichever needs fewer sheets.

    On the first sheet, the stickers before number `start` (in reading order, from 1, on the sheet) are used up. A row
    or column must be at least as long as the largest group.
    """
    across = [[(column, row) for column in range(columns)] for row in range(rows)]
    down = [[(column, row) for row in range(rows)] for column in range(columns)]
    return min((_packed(sizes, lines, columns, start) for lines in (across, down)), key=lambda placed: placed[-1].sheet)


def _packed(sizes: Sequence[int], lines: list[list[SheetCell]], columns: int, start: int) -> tuple[PlacedGroup, ...]:
    """Fill line by line; a group that does not fit into the rest of a line starts the next."""
    free = [[cell for cell in line if cell[1] * columns + cell[0] >= start - 1] for line in lines]
    sheet, at, used = 0, 0, 0
    placed = []
    for size in sizes:
        while len(free[at]) - used < size:
            at, used = at + 1, 0
            if at == len(lines):
                sheet, at, free = sheet + 1, 0, lines
        placed.append(PlacedGroup(sheet, tuple(free[at][used : used + size])))
        used += size
    return tuple(placed)


PAPERS: Final = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
"""Width and height in millimetres."""

USUAL_FORMAT: Final = "avery-l4730"

_LYING: Final = 21.0
"""Millimetres: a wider label does not fit across a tile, so it is printed sideways and stuck on upright."""

_ROUNDING: Final = 0.06
"""Millimetres: tolerance for the makers' rounded sizes."""


@dataclass(frozen=True, slots=True)
class SheetFormat:
    """One sheet. Lengths are in millimetres, from the page's top left corner; `across` and `down` are pitches."""

    name: str
    sold_as: str
    paper: str
    width: float
    height: float
    corner: float
    columns: int
    rows: int
    left: float
    top: float
    across: float
    down: float
    cut: bool = False

    @property
    def page(self) -> tuple[float, float]:
        """Width and height of the paper, millimetres."""
        return PAPERS[self.paper]

    @property
    def lying(self) -> bool:
        """Whether labels are printed sideways, because they are too wide for a tile."""
        return self.width > _LYING and self.height < self.width

    @property
    def upright(self) -> tuple[float, float]:
        """Width and height of a label as it is stuck on a tile."""
        return (self.height, self.width) if self.lying else (self.width, self.height)

    def corner_of(self, column: int, row: int) -> tuple[float, float]:
        """Return the top left corner of a label; columns and rows count from 0."""
        return self.left + column * self.across, self.top + row * self.down


@cache
def sheet_formats() -> Mapping[str, SheetFormat]:
    """Return the formats of `formats.toml` by name."""
    tables = tomllib.loads((files("vision.sheets") / "formats.toml").read_text(encoding="utf-8"))
    return {name: _sheet_format(name, **table) for name, table in tables.items()}


def _sheet_format(name: str, label: list[float], grid: list[int], **rest: Any) -> SheetFormat:  # noqa: ANN401 - passed on from TOML
    return SheetFormat(name=name, width=label[0], height=label[1], columns=grid[0], rows=grid[1], **rest)


def with_margins(sheet: SheetFormat, left: float | None, top: float | None, scale: float) -> SheetFormat:
    """Return a sheet with other margins. `scale` is that of the printout, 1 being full size.

    Raises LabelsOffPageError if any label would lie off the page.
    """
    moved = replace(sheet, left=sheet.left if left is None else left, top=sheet.top if top is None else top)
    x, y = moved.corner_of(moved.columns - 1, moved.rows - 1)
    ends = (x + moved.width) * scale, (y + moved.height) * scale
    within = [end <= side + _ROUNDING for end, side in zip(ends, moved.page, strict=True)]
    if not (moved.left >= 0 and moved.top >= 0 and all(within)):  # written so that NaN is refused, too
        margins = f"left {moved.left:g} mm, top {moved.top:g} mm, scale {100 * scale:g} %"
        raise LabelsOffPageError(f"with {margins} labels of {sheet.name} lie off the page")
    return moved
