"""The seating on paper: lists by name and by table for the wall, and a card for each player."""

import io
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Final

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.event import Event, Plan, SeatingPlace, by_round, seating_of, seating_rounds, tables_of_rounds
from broker.export.pdf import (
    MARGIN,
    Columns,
    PageBlock,
    PageCell,
    PageLine,
    draw_name,
    draw_qr,
    draw_text,
    fit_text,
    striped_rows,
    tables_pdf,
    text_width,
)
from broker.i18n import N_, SEAT_LETTERS, SEAT_NAMES, Message, Translator, folded
from broker.protocol import SEATS, Player

SEATING_PRINTS: Final[Mapping[str, Message]] = {
    "names": N_("List by name"),
    "tables": N_("List by table"),
    "cards": N_("Cards for players"),
}

WIDE: Final = landscape(A4)
NAME: Final = 62 * mm
PLACE: Final = 15 * mm
MOST_ROUNDS: Final = int((WIDE[0] - 2 * MARGIN - NAME) // PLACE)
"""Rounds beside a name; those of a longer event stand in another list below."""

ACROSS, DOWN = 2, 4
CARD: Final = (A4[0] / ACROSS, A4[1] / DOWN)
PAD: Final = 8 * mm
QR: Final = 22 * mm
LINES: Final = 8
"""Rounds in one column of a card."""


def seating_pdf(event: Event, kind: str, _: Translator, plan: Plan | None = None) -> bytes:
    """Return one of SEATING_PRINTS as PDF; the same plan gives the same bytes.

    `plan`: the event's, without the plays that do not take place.
    """
    plan = plan or event.plan
    if kind == "cards":
        return _cards(event, plan, _)
    named, title = kind == "names", _title(event, _)
    blocks, columns = (
        (_by_name(event, plan, _), _name_columns(plan)) if named else (_by_table(event, plan, _), _table_columns())
    )
    return tables_pdf(
        blocks,
        columns,
        partial(_page, title, _),
        size=WIDE if named else A4,
        margins=(MARGIN, MARGIN + 12 * mm, MARGIN + 6 * mm),
        title=title,
        language=_.language,
    )


def _title(event: Event, _: Translator) -> str:
    if event.version:
        return _("{title}: seating plan, version {number}", title=event.plan.title, number=event.version.number)
    return _("{title}: seating plan", title=event.plan.title)


def _page(title: str, _: Translator, canvas: Canvas, number: int, total: int) -> None:
    wide, high = canvas._pagesize  # noqa: SLF001 - reportlab has no other way to ask
    fitted, large = fit_text(title, wide - 2 * MARGIN, 17, 9, bold=True)
    draw_text(canvas, (MARGIN, high - MARGIN - 5 * mm), fitted, large, bold=True)
    page = _("Page {number} of {all}", number=number, all=total)
    draw_text(canvas, (wide - MARGIN - text_width(page, 8), MARGIN), page, 8)


def _in_order(event: Event) -> list[Player]:
    return sorted(event.players.values(), key=lambda one: (folded(one.name), one.id))


def _name_columns(plan: Plan) -> Columns:
    beside = min(MOST_ROUNDS, len(seating_rounds(plan)))
    return ((NAME, "left"), *((PLACE, "left"),) * beside)


def _by_name(event: Event, plan: Plan, _: Translator) -> Iterator[PageBlock]:
    rounds, places = seating_rounds(plan), seating_of(plan)
    for begin in range(0, len(rounds), MOST_ROUNDS):
        part = rounds[begin : begin + MOST_ROUNDS]
        empty = (PageCell(""),) * (min(MOST_ROUNDS, len(rounds)) - len(part))
        head = (PageCell(_("Name")), *(PageCell(_("Round {round}", round=one)) for one in part), *empty)
        found = [
            (
                PageCell(one.name, bold=True),
                *(_place(by_round(places[one.id]).get(round_), _) for round_ in part),
                *empty,
            )
            for one in _in_order(event)
        ]
        yield PageBlock((PageLine("columns", head),), striped_rows(found))


def _place(place: SeatingPlace | None, _: Translator) -> PageCell:
    return PageCell("–" if place is None else _("{table} {seat}", table=place.table, seat=_(SEAT_LETTERS[place.seat])))


def _table_columns() -> Columns:
    table = 18 * mm
    return ((table, "left"), *(((A4[0] - 2 * MARGIN - table) / len(SEATS), "left"),) * len(SEATS))


def _by_table(event: Event, plan: Plan, _: Translator) -> Iterator[PageBlock]:
    head = PageLine("columns", (PageCell(_("Table")), *(PageCell(_(SEAT_NAMES[seat])) for seat in SEATS)))
    for round_, tables in groupby(tables_of_rounds(plan), key=lambda one: one.round):
        heading = PageLine("heading", (PageCell(_("Round {round}", round=round_)),))
        found = [
            (PageCell(str(one.table), bold=True), *(PageCell(event.players[one.players[seat]].name) for seat in SEATS))
            for one in tables
        ]
        yield PageBlock((heading, head), striped_rows(found))


def _cards(event: Event, plan: Plan, _: Translator) -> bytes:
    page, places = io.BytesIO(), seating_of(plan)
    canvas = Canvas(page, pagesize=A4, invariant=1, lang=_.language)
    canvas.setTitle(_title(event, _))
    for at, player in enumerate(_in_order(event)):
        if at and at % (ACROSS * DOWN) == 0:
            canvas.showPage()
        row, column = divmod(at % (ACROSS * DOWN), ACROSS)
        canvas.saveState()
        canvas.translate(column * CARD[0], A4[1] - (row + 1) * CARD[1])
        _card(canvas, event, player, places[player.id], _)
        canvas.restoreState()
    canvas.save()
    return page.getvalue()


def _card(canvas: Canvas, event: Event, player: Player, places: tuple[SeatingPlace, ...], _: Translator) -> None:
    wide, high = CARD
    canvas.setLineWidth(0.3)
    canvas.setDash(2, 3)
    canvas.rect(0, 0, wide, high)
    canvas.setDash()
    link = f"{event.plan.public_address}/player/{player.id}" if event.plan.public_address else ""
    room = wide - 2 * PAD - (QR + 2 * mm if link else 0)
    if link:
        draw_qr(canvas, link, (wide - PAD - QR, high - PAD - QR), QR)
    title, large = fit_text(event.plan.title, room, 9, 7)
    draw_text(canvas, (PAD, high - PAD - 3 * mm), title, large)
    draw_name(canvas, (PAD, high - PAD - 11 * mm), player.name, (room, 7 * mm), 17, bold=True)
    columns = -(-len(places) // LINES) or 1
    size = 11 if columns <= ACROSS else 8
    top = high - PAD - (QR + 5 * mm if link else 20 * mm)
    step = (top - PAD) / (LINES - 1)
    for at, place in enumerate(places):
        column, line = divmod(at, LINES)
        said = _(
            "{round}: table {table}, {seat}",
            round=place.round,
            table=place.table,
            seat=_(SEAT_NAMES[place.seat]),
        )
        taken, large = fit_text(said, (wide - 2 * PAD) / columns - 2 * mm, size, 6)
        draw_text(canvas, (PAD + column * (wide - 2 * PAD) / columns, top - line * step), taken, large)
