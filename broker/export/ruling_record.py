"""A ruling on paper, with the appeal against it, as far as it is known or with room to write; and the register.

Both are for the table, the committee and the federation; they say what the desk says, in its words.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm

from broker.export.pdf import MARGIN, Columns, PageBlock, PageCell, PageHeading, PageLine, pages_pdf, striped_rows

LABEL: Final = 48 * mm
RECORD: Final[Columns] = ((LABEL, "left"), (A4[0] - 2 * MARGIN - LABEL, "left"))
REGISTER: Final[Columns] = tuple(
    (wide * mm, "left")
    for wide in (38, 42, 24, 8, 70)  # who, what, penalty, which time, when and why
)


class RecordPart(NamedTuple):
    """A part of a record: its title, and its lines with what stands there; None: lines to write on."""

    title: str
    lines: Sequence[tuple[str, str | None]]


WRITTEN: Final = 3
"""Lines to write on."""


def ruling_pdf(heading: PageHeading, parts: Iterable[RecordPart]) -> bytes:
    """Return the record of one ruling."""
    blocks = []
    for part in parts:
        head = PageLine("heading", (PageCell(part.title),))
        blocks.append(PageBlock((head,), tuple(line for told in part.lines for line in _lines(*told))))
    return pages_pdf(heading, blocks, RECORD)


def _lines(label: str, text: str | None) -> list[PageLine]:
    if text is not None:
        return [PageLine("row", (PageCell(label, bold=True), PageCell(text)))]
    blank = PageLine("sum", (PageCell(""), PageCell("")))
    return [PageLine("row", (PageCell(label, bold=True), PageCell(""))), *[blank] * (WRITTEN - 1)]


class RegisterLine(NamedTuple):
    """One infraction as it is printed."""

    player: str
    what: str
    penalty: str
    time: str
    """Which time it was."""
    about: str
    """When, at which play, by whom and why."""


def register_pdf(heading: PageHeading, columns: Sequence[str], lines: Iterable[RegisterLine]) -> bytes:
    """Return the register, by player."""
    rows = striped_rows([PageCell(cell) for cell in line] for line in lines)
    block = PageBlock((PageLine("columns", tuple(map(PageCell, columns))),), rows)
    return pages_pdf(heading, [block], REGISTER)
