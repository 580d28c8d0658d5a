"""Tables on paper: columns, cells, lines; and lines laid on pages, so that what belongs together stays so."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from reportlab.lib.units import mm

LINE: Final[float] = 5.6 * mm
HEADING: Final[float] = 9.5 * mm
GAP: Final[float] = 4.5 * mm


@dataclass(frozen=True, slots=True)
class Column:
    """Where a column begins, and how wide it is, in points."""

    left: float
    wide: float
    align: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a column."""

    text: str
    bold: bool = False


Kind = Literal["heading", "columns", "row", "sum", "note"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a heading (its first cell large, the others beside it), columns, a row, a row of sums, or a note."""

    kind: Kind
    cells: tuple[Cell, ...]
    striped: bool = False

    @property
    def high(self) -> float:
        """Height in points."""
        return HEADING if self.kind == "heading" else LINE


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together; where they are too many for a page, `head` is said again on the next."""

    head: tuple[Line, ...]
    lines: tuple[Line, ...]

    @property
    def high(self) -> float:
        """Height in points."""
        return sum(line.high for line in (*self.head, *self.lines))


def columns(left: float, widths: Iterable[tuple[float, Literal["left", "right"]]]) -> tuple[Column, ...]:
    """Set columns side by side, from widths in points."""
    found: list[Column] = []
    for wide, align in widths:
        found.append(Column(left, wide, align))
        left += wide
    return tuple(found)


def rows(lines: Iterable[Sequence[Cell]]) -> tuple[Line, ...]:
    """Make rows, every second one on grey: one follows a name to its number."""
    return tuple(Line("row", tuple(cells), striped=bool(at % 2)) for at, cells in enumerate(lines))


def pages(blocks: Iterable[Block], high: float) -> list[list[Line | None]]:
    """Lay blocks on pages of a height; None is a gap between two blocks. There is always a page."""
    found: list[list[Line | None]] = [[]]
    left = high
    for block in blocks:
        gap = GAP if found[-1] else 0.0
        if gap + block.high > left and found[-1]:
            found.append([])
            gap, left = 0.0, high
        if gap:
            found[-1].append(None)
        left -= gap
        for part in _parts(block, left, high):
            if part.fresh:
                found.append([])
                left = high
            found[-1] += part.lines
            left -= sum(line.high for line in part.lines)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    lines: tuple[Line, ...]
    fresh: bool
    """On a page of its own."""


def _parts(block: Block, left: float, high: float) -> Iterator[_Part]:
    """Cut a block that no page holds."""
    head = sum(line.high for line in block.head)
    taken: list[Line] = []
    room, fresh = left - head, False
    for line in block.lines:
        if line.high > room and taken:
            yield _Part((*block.head, *taken), fresh)
            taken, room, fresh = [], high - head, True
        taken.append(line)
        room -= line.high
    yield _Part((*block.head, *taken), fresh)
