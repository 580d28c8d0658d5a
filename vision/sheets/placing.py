"""Where each group of stickers goes: a face and its labels in one line, never broken over two.

Pure. A group lies in a row or in a column, whichever way the sheet takes more of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Cell = tuple[int, int]
"""Column and row, from 0."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One group: its sheet, from 0, and its stickers in order."""

    sheet: int
    cells: tuple[Cell, ...]


def place(sizes: Sequence[int], columns: int, rows: int, start: int = 1) -> tuple[Placed, ...]:
    """Place groups of `sizes` stickers in order; on the first sheet those before `start`, read as text, are gone.

    A line is at least as long as the largest group; `start` counts from 1 and is on the sheet.
    """
    across = [[(column, row) for column in range(columns)] for row in range(rows)]
    down = [[(column, row) for row in range(rows)] for column in range(columns)]
    return min((_packed(sizes, lines, columns, start) for lines in (across, down)), key=lambda done: done[-1].sheet)


def _packed(sizes: Sequence[int], lines: list[list[Cell]], columns: int, start: int) -> tuple[Placed, ...]:
    """Fill line by line; what does not fit in a line begins the next."""
    free = [[cell for cell in line if cell[1] * columns + cell[0] >= start - 1] for line in lines]
    sheet, at, used = 0, 0, 0
    placed = []
    for size in sizes:
        while len(free[at]) - used < size:
            at, used = at + 1, 0
            if at == len(lines):
                sheet, at, free = sheet + 1, 0, lines
        placed.append(Placed(sheet, tuple(free[at][used : used + size])))
        used += size
    return tuple(placed)
