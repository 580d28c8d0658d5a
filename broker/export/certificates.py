"""A certificate for each player, to be signed: place, section and stage, IMP, and the prize if there is one."""

import io
from collections.abc import Iterable
from datetime import datetime
from fractions import Fraction
from typing import Final

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.event import Event
from broker.export.pdf import draw_text, fit_text, text_width
from broker.export.printed_results import signed_text
from broker.i18n import Translator
from broker.protocol import Standing, TeamStanding

PAGE: Final = landscape(A4)
FRAME: Final = 12 * mm
ROOM: Final = PAGE[0] - 6 * FRAME
SIGNED: Final = 70 * mm
"""How long the line for a signature is."""

Row = Standing | TeamStanding


def group_name(row: Row) -> str:
    """Return stage and section of a place; nothing if the event is one."""
    return " · ".join(filter(None, (row.stage, row.section)))


def name_of(row: Row) -> str:
    """Return the name of a player or a team."""
    return row.name if isinstance(row, Standing) else row.team


def members_of(event: Event, row: Row) -> list[str]:
    """Return the names of a team's players; none of a player."""
    return [] if isinstance(row, Standing) else [event.name_of(one) for one in event.plan.teams[row.team]]


def prize_of(event: Event, row: Row) -> str:
    """Return the prize of a place: in each section of the last stage; nothing for others."""
    stages, prizes = event.plan.stages, event.plan.prizes
    last = not stages or row.stage == stages[-1].name
    return prizes[row.place - 1] if last and row.place <= len(prizes) else ""


def certificates_pdf(event: Event, rows: Iterable[Row], at: datetime, _: Translator) -> bytes:
    """Return a page for each line of the standings."""
    page = io.BytesIO()
    canvas = Canvas(page, pagesize=PAGE, invariant=1, lang=_.language)
    canvas.setTitle(_("{title}: certificates", title=event.plan.title))
    for row in rows:
        _certificate(canvas, event, row, at, _)
        canvas.showPage()
    canvas.save()
    return page.getvalue()


def _certificate(canvas: Canvas, event: Event, row: Row, at: datetime, _: Translator) -> None:
    wide, high = PAGE
    canvas.setLineWidth(2)
    canvas.rect(FRAME, FRAME, wide - 2 * FRAME, high - 2 * FRAME)
    canvas.setLineWidth(0.5)
    canvas.rect(FRAME + 2 * mm, FRAME + 2 * mm, wide - 2 * FRAME - 4 * mm, high - 2 * FRAME - 4 * mm)
    lines = (
        (event.plan.title, 20, False, 8),
        (_("Certificate"), 26, False, 22),
        (name_of(row), 44, True, 26),
        (" · ".join(members_of(event, row)), 14, False, 10),
        (_("Place {place}", place=row.place), 30, True, 22),
        (prize_of(event, row), 22, False, 14),
        (
            " · ".join(filter(None, (group_name(row), str(_("{imp} IMP", imp=signed_text(Fraction(row.imp))))))),
            14,
            False,
            12,
        ),
    )
    down = high - 30 * mm
    for text, size, bold, space in lines:
        if text:
            fitted, large = fit_text(str(text), ROOM, size, 8, bold=bold)
            down -= space * mm
            draw_text(canvas, ((wide - text_width(fitted, large, bold=bold)) / 2, down), fitted, large, bold=bold)
    for left, said in ((4 * FRAME, f"{at:%Y-%m-%d}"), (wide - 4 * FRAME - SIGNED, _("Head arbiter"))):
        canvas.line(left, FRAME + 20 * mm, left + SIGNED, FRAME + 20 * mm)
        draw_text(canvas, (left, FRAME + 14 * mm), str(said), 12)
