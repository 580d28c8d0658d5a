"""The printed seating plan: lists by name and by table for the wall, and a card for each player."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

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
    draw_fitted,
    draw_name,
    draw_qr,
    draw_text,
    drawn_pdf,
    striped_rows,
    tables_pdf,
)
from broker.i18n import N_, SEAT_LETTERS, SEAT_NAMES, Message, Translator, search_key
from broker.protocol import SEATS, Player
from broker.rulings import StandIn, substitute_of

SEATING_PRINTS: Final[Mapping[str, Message]] = {
    "names": N_("List by name"),
    "tables": N_("List by table"),
    "cards": N_("Cards for players"),
}

LANDSCAPE: Final = landscape(A4)
NAME: Final = 62 * mm
PLACE: Final = 15 * mm
MOST_ROUNDS: Final = int((LANDSCAPE[0] - 2 * MARGIN - NAME) // PLACE)
"""Rounds count a name; a longer event continues in another list below."""

ACROSS, DOWN = 2, 4
CARD: Final = (A4[0] / ACROSS, A4[1] / DOWN)
PAD: Final = 8 * mm
QR: Final = 22 * mm
LINES: Final = 8
"""Rounds in one column of a card."""


class _Seated(NamedTuple):
    """A person who sits at tables: a player, or a substitute `name` in a player's seats."""

    player: Player
    name: str | None
    places: tuple[SeatingPlace, ...]

    @property
    def shown_name(self) -> str:
        return self.name or self.player.name

    def label(self, _: Translator) -> str:
        if self.name is None:
            return self.player.name
        return _("{name} for {player}", name=self.name, player=self.player.name)


def seating_pdf(
    event: Event, kind: str, _: Translator, plan: Plan | None = None, stand_ins: Iterable[StandIn] = ()
) -> bytes:
    """Return one of SEATING_PRINTS as PDF; the same plan gives the same bytes.

    `plan`: the event's plan without the plays that do not take place. `stand_ins`: substitutes that were ruled.
    """
    plan, stand_ins = plan or event.plan, tuple(stand_ins)
    seated = _seated(event, plan, stand_ins)
    if kind == "cards":
        return _cards(event, seated, _)
    named, title = kind == "names", _title(event, _)
    blocks = _by_name(seated, plan, _) if named else _by_table(event, plan, stand_ins, _)
    return tables_pdf(
        blocks,
        _name_columns(plan) if named else _table_columns(),
        partial(_page, title, _),
        size=LANDSCAPE if named else A4,
        margins=(MARGIN, MARGIN + 12 * mm, MARGIN + 6 * mm),
        title=title,
        language=_.language,
    )


def _title(event: Event, _: Translator) -> str:
    if event.version:
        return _("{title}: seating plan, version {number}", title=event.plan.title, number=event.version.number)
    return _("{title}: seating plan", title=event.plan.title)


def _page(title: str, _: Translator, canvas: Canvas, number: int, total: int) -> None:
    width, height = canvas._pagesize  # noqa: SLF001 - reportlab has no public attribute
    draw_fitted(canvas, (MARGIN, height - MARGIN - 5 * mm), title, width - 2 * MARGIN, (17, 9), bold=True)
    page = _("Page {number} of {all}", number=number, all=total)
    draw_text(canvas, (width - MARGIN, MARGIN), page, 8, align="right")


def _seated(event: Event, plan: Plan, stand_ins: tuple[StandIn, ...]) -> list[_Seated]:
    """Return everybody who sits somewhere, sorted by name: substitutes too, and players without any place."""
    found, listed = list[_Seated](), seating_of(plan)
    for player in event.players.values():
        places = listed[player.id]
        substitutes = {place.round: substitute_of(stand_ins, player.id, place.round) for place in places}
        for name in dict.fromkeys(substitutes.values()) or (None,):
            own = tuple(place for place in places if substitutes.get(place.round) == name)
            found.append(_Seated(player, name, own))
    return sorted(found, key=lambda one: (search_key(one.shown_name), one.player.id))


def _name_columns(plan: Plan) -> Columns:
    count = min(MOST_ROUNDS, len(seating_rounds(plan)))
    return ((NAME, "left"), *((PLACE, "left"),) * count)


def _by_name(seated: list[_Seated], plan: Plan, _: Translator) -> Iterator[PageBlock]:
    rounds = seating_rounds(plan)
    for begin in range(0, len(rounds), MOST_ROUNDS):
        part = rounds[begin : begin + MOST_ROUNDS]
        empty = (PageCell(""),) * (min(MOST_ROUNDS, len(rounds)) - len(part))
        head = (PageCell(_("Name")), *(PageCell(_("Round {round}", round=one)) for one in part), *empty)
        found = [
            (
                PageCell(one.label(_), bold=True),
                *(_place(by_round(one.places).get(round_), _) for round_ in part),
                *empty,
            )
            for one in seated
        ]
        yield PageBlock((PageLine("columns", head),), striped_rows(found))


def _place(place: SeatingPlace | None, _: Translator) -> PageCell:
    return PageCell("–" if place is None else _("{table} {seat}", table=place.table, seat=_(SEAT_LETTERS[place.seat])))


def _table_columns() -> Columns:
    table = 18 * mm
    return ((table, "left"), *(((A4[0] - 2 * MARGIN - table) / len(SEATS), "left"),) * len(SEATS))


def _by_table(event: Event, plan: Plan, stand_ins: tuple[StandIn, ...], _: Translator) -> Iterator[PageBlock]:
    head = PageLine("columns", (PageCell(_("Table")), *(PageCell(_(SEAT_NAMES[seat])) for seat in SEATS)))

    def name(player: str, round_: int) -> str:
        return substitute_of(stand_ins, player, round_) or event.players[player].name

    for round_, tables in groupby(tables_of_rounds(plan), key=lambda one: one.round):
        heading = PageLine("heading", (PageCell(_("Round {round}", round=round_)),))
        found = [
            (PageCell(str(one.table), bold=True), *(PageCell(name(one.players[seat], one.round)) for seat in SEATS))
            for one in tables
        ]
        yield PageBlock((heading, head), striped_rows(found))


def _cards(event: Event, seated: list[_Seated], _: Translator) -> bytes:
    each = ACROSS * DOWN
    pages = (partial(_card_page, event, seated[at : at + each], _) for at in range(0, len(seated), each))
    return drawn_pdf(pages, _title(event, _), _.language)


def _card_page(event: Event, seated: list[_Seated], _: Translator, canvas: Canvas) -> None:
    for at, one in enumerate(seated):
        row, column = divmod(at, ACROSS)
        canvas.saveState()
        canvas.translate(column * CARD[0], A4[1] - (row + 1) * CARD[1])
        _card(canvas, event, one, _)
        canvas.restoreState()


def _card(canvas: Canvas, event: Event, one: _Seated, _: Translator) -> None:
    (width, height), places = CARD, one.places
    canvas.setLineWidth(0.3)
    canvas.setDash(2, 3)
    canvas.rect(0, 0, width, height)
    canvas.setDash()
    link = f"{event.plan.public_address}/player/{one.player.id}" if event.plan.public_address else ""
    room = width - 2 * PAD - (QR + 2 * mm if link else 0)
    if link:
        draw_qr(canvas, link, (width - PAD - QR, height - PAD - QR), QR)
    draw_fitted(canvas, (PAD, height - PAD - 3 * mm), event.plan.title, room, (9, 7))
    draw_name(canvas, (PAD, height - PAD - 11 * mm), one.shown_name, (room, 7 * mm), 17, bold=True)
    if one.name:
        draw_fitted(canvas, (PAD, height - PAD - 17 * mm), _("for {player}", player=one.player.name), room, (9, 7))
    columns = -(-len(places) // LINES) or 1
    size = 11 if columns <= ACROSS else 8
    top = height - PAD - (QR + 5 * mm if link else 20 * mm)
    step = (top - PAD) / (LINES - 1)
    for at, place in enumerate(places):
        column, line = divmod(at, LINES)
        text = _(
            "{round}: table {table}, {seat}",
            round=place.round,
            table=place.table,
            seat=_(SEAT_NAMES[place.seat]),
        )
        column_width = (width - 2 * PAD) / columns
        draw_fitted(canvas, (PAD + column * column_width, top - line * step), text, column_width - 2 * mm, (size, 6))
