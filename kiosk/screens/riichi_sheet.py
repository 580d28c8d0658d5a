"""The sheet of a riichi session on the table's screen: what each hand paid, and where all stand."""

from collections.abc import Sequence
from typing import Final

import pygame

from broker.contract.words import SEATS
from kiosk.screens import style
from kiosk.screens.middle import Action, Middle, Paint
from kiosk.screens.pen import Align, Pen, Said
from kiosk.screens.riichi_sheet_shown import SheetShown
from kiosk.screens.riichi_told import how, signed
from kiosk.screens.words import Words
from kiosk.table.riichi.sheet import LINES

COLUMNS: Final = (0.12, 0.36, 0.13, 0.13, 0.13, 0.13)
"""Widths of a line's columns, as shares: which hand, how it ended, the four seats."""

LARGEST: Final = 0.048
"""Of letters, as a share of the screen's height."""

Cells = tuple[str, ...]


def sheet(words: Words, shown: SheetShown) -> Middle:
    """Show one page."""
    head = words("riichi_sheet", page=shown.pages - shown.page, pages=shown.pages)
    lines = [Said(head, 0.06, style.TEXT)]
    if shown.elsewhere:
        lines.append(Said(words("riichi_sheet_elsewhere", count=shown.elsewhere), 0.04, style.QUIET))
    turn = [Action("1", words("do_riichi_older"))] if shown.page + 1 < shown.pages else []
    turn += [Action("2", words("do_riichi_newer"))] if shown.page else []
    keys = *turn, Action("back", words("do_back"), "strong")
    return Middle((*lines,), keys, paint=_paint(words, shown), seats=False)


def _paint(words: Words, shown: SheetShown) -> Paint:
    head = ("", "", *(words.seat(seat) for seat in SEATS))
    entries = [
        (
            words("riichi_hand", wind=words.seat(one.wind), number=one.dealer),
            how(words, one.told),
            *(signed(one.deltas.get(seat, 0)) for seat in SEATS),
        )
        for one in shown.lines
    ]
    scores = ("", words("riichi_scores"), *(signed(shown.scores[seat]).lstrip("+") for seat in SEATS))
    return lambda surface, room, pen: _table(surface, room, pen, [head, *entries, scores])


def _table(surface: pygame.Surface, room: pygame.Rect, pen: Pen, rows: Sequence[Cells]) -> None:
    """Write rows below each other; all letters of a column are equally large."""
    high = room.height // (LINES + 2)
    share = pen.fit([Said("0", LARGEST, style.TEXT)] * (LINES + 2), room.width, room.height)[0].share
    left = room.left
    for at, part in enumerate(COLUMNS):
        width = round(room.width * part)
        align: Align = "left" if at < 2 else "right"  # noqa: PLR2004 - words, then figures
        fitted = pen.share([row[at] for row in rows], share, width - 8)
        for number, row in enumerate(rows):
            x = left if align == "left" else left + width - 4
            colour = style.QUIET if number == 0 or (align == "left" and at == 0) else style.TEXT
            pen.write(surface, row[at], (x, room.top + number * high), fitted, colour, width - 8, align)
        left += width
    line = room.top + (len(rows) - 1) * high - 1
    pygame.draw.line(surface, style.EDGE, (room.left, line), (room.right, line))
