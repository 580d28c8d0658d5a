"""Standings and travellers of an event as PDF, and a certificate for each player, to be signed."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Final

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.event import DealPar, Earlier, Event
from broker.export.pdf import (
    MARGIN,
    PAD,
    Align,
    Columns,
    PageBlock,
    PageCell,
    PageHeading,
    PageLine,
    draw_fitted,
    draw_text,
    drawn_pdf,
    pages_pdf,
    striped_rows,
    text_width,
)
from broker.i18n import N_, SEAT_LETTERS, SEAT_NAMES, Message, Translator
from broker.protocol import SEATS, Seat, Standing, TeamStanding
from broker.rulings import CountedPlay
from broker.scorer import StoredEvent
from broker.scoring import ComparisonGroup, Exact, PlayWithImps, ScoredPlay, table_of
from broker.spreadsheet import decimal

Row = Standing | TeamStanding

PLACE: Final = 16 * mm
NUMBER: Final = 21 * mm
NAMES: Final = A4[0] - 2 * MARGIN - PLACE - 3 * NUMBER
COUNTRY: Final = 13 * mm
CLUB: Final = 42 * mm
NARROW: Final = 16 * mm
_NUMBERS: Final[tuple[tuple[float, Align], ...]] = ((NUMBER, "right"),) * 3
STANDINGS: Final[Columns] = ((PLACE, "right"), (NAMES, "left"), *_NUMBERS)
WITH_ORIGINS: Final[Columns] = (
    *((PLACE, "right"), (NAMES + 3 * (NUMBER - NARROW) - COUNTRY - CLUB, "left")),
    *((COUNTRY, "left"), (CLUB, "left"), *((NARROW, "right"),) * 3),
)

LEGIBLE: Final = 8
"""Smallest font size, in points, to which a name is reduced to make room for its country."""

SUBSTITUTE_MARK: Final = "*"
"""Mark on the name of a player whose seat was taken by a substitute."""

NARROW_COLUMN: Final = 11 * mm
HU: Final = 28 * mm
POINTS: Final = 11.5 * mm
IMP: Final = 13.5 * mm
PLAYER: Final = (landscape(A4)[0] - 2 * MARGIN - 2 * NARROW_COLUMN - HU) / 4 - POINTS - IMP
_SEAT: Final[tuple[tuple[float, Align], ...]] = ((PLAYER, "left"), (POINTS, "right"), (IMP, "right"))
TRAVELLERS: Final[Columns] = ((NARROW_COLUMN, "right"), (NARROW_COLUMN, "right"), *_SEAT * 4, (HU, "left"))


def standings_pdf(
    stored: StoredEvent, _: Translator, at: datetime, listed: Iterable[Standing] | None = None, *, anchor: str = ""
) -> bytes:
    """Return the standings as PDF, with those of teams above those of players. `anchor`: for the foot.

    `listed`: the players' standings that may be public, if not the room's. Team standings are never under embargo.
    """
    lines = stored.state.snapshot().standings if listed is None else listed
    heading, event = page_heading(stored, _, at, _("Standings"), anchor), stored.event
    with_origins, teams = event.has_origins, stored.state.team_rows()
    origin = (PageCell(_("Country")), PageCell(_("Club"))) if with_origins else ()
    rows: list[Row] = [*teams, *lines]
    blocks = []
    for (kind, stage, section), part in groupby(rows, key=lambda row: (type(row), row.stage, row.section)):
        of_teams = kind is TeamStanding
        entrant = (PageCell(_("Team"), columns=1 + len(origin)),) if of_teams else (PageCell(_("Name")), *origin)
        counted = _.pgettext("how many", "Deals") if of_teams else _("Plays")
        titles = (PageCell(_("Place")), *entrant, *map(PageCell, (_("IMP"), _("Fines"), counted)))
        parts = [_("Teams") if of_teams else _("Players")] * bool(teams) + [stage, section] * bool(stage)
        heading_line = (PageLine("heading", tuple(map(PageCell, parts))),) if parts else ()
        found = striped_rows(_ranked(row, event, with_origins=with_origins) for row in part)
        blocks.append(PageBlock((*heading_line, PageLine("columns", titles)), found))
    if notes := tuple(_about_standing(event, _)):
        blocks.append(PageBlock((), notes))
    return pages_pdf(heading, blocks, WITH_ORIGINS if with_origins else STANDINGS)


def _about_standing(event: Event, _: Translator) -> Iterator[PageLine]:
    """Yield notes on who takes no place, and from which event IMPs are carried over."""
    if names := event.unranked_names:
        yield note_line(_("Without standing: {names}", names=_(", ").join(names)))
    if isinstance(event.plan.earlier, Earlier):
        title = event.plan.earlier.title
        yield note_line(_("IMPs include what is carried over from {title}.", title=title))


def note_line(text: str) -> PageLine:
    """Return a line of text below a block."""
    return PageLine("note", (PageCell(text),))


def _ranked(row: Row, event: Event, *, with_origins: bool) -> tuple[PageCell, ...]:
    """Return the cells of a line of the standings; `with_origins`: with country and club."""
    fines, first = signed_text(-row.fines) if row.fines else "–", row.place == 1
    if isinstance(row, TeamStanding):
        entrant, counted = [PageCell(row.team, bold=first, columns=3 if with_origins else 1)], row.deals
    else:
        origin = event.origin_of(row.player) if with_origins else ()
        entrant, counted = [PageCell(row.name, bold=first), *map(PageCell, origin)], row.plays
    imp = PageCell(signed_text(Fraction(row.imp)), bold=True)
    return (PageCell(str(row.place), bold=True), *entrant, imp, PageCell(fines), PageCell(str(counted)))


def travellers_pdf(
    stored: StoredEvent, _: Translator, at: datetime, *, embargoed: bool = False, anchor: str = ""
) -> bytes:
    """Return all travellers as PDF; those of deals that a table has still to play only if `embargoed`."""
    shown = [group for group in stored.state.groups() if embargoed or not stored.embargoed(group.deal)]
    deal_notes = unplayed_notes(stored, _, embargoed=embargoed)
    blocks = [block for _deal, block in travellers_by_deal(stored, _, shown, deal_notes)]
    note = (
        _(
            "Hu: the winner’s seat and hand value, then the discarder. In brackets: a fine or award, not included "
            "in the IMP before it."
        )
        if blocks
        else _("No results yet: no deal has been played at all its tables.")
    )
    notes = [note_line(note), *_about_standing(stored.event, _), *par_note(stored, _)]
    if blocks and not embargoed and not stored.state.over:
        notes.append(note_line(_("Deals that some tables have not yet played are left out.")))
    return pages_pdf(
        page_heading(stored, _, at, _("Travellers"), anchor),
        [*blocks, *outside_plays_block(stored, _), PageBlock((), tuple(notes))],
        TRAVELLERS,
        wide=True,
    )


def _plays_in(_: Translator, done: int, expected: int) -> str:
    return _.ngettext("{done} of {count} play", "{done} of {count} plays", count=expected, done=done)


def page_heading(stored: StoredEvent, _: Translator, at: datetime, kind: str, anchor: str) -> PageHeading:
    """Return the header of each page; `kind` is what the pages show."""
    progress = _plays_in(_, stored.state.plays_in, len(stored.event.plan.plays))
    return PageHeading(stored.event.plan.title, kind, stored.final, stored.event.profile.id, progress, at, _, anchor)


def travellers_by_deal(
    stored: StoredEvent, _: Translator, shown: Iterable[ComparisonGroup], deal_notes: Mapping[int, list[PageLine]]
) -> Iterator[tuple[int, PageBlock]]:
    """Yield a block for each group, with its deal. `deal_notes`: notes by deal, including deals without a group."""
    results = {(counted.scoring_table, counted.deal): counted for _, counted in stored.played()}
    by_deal: dict[int, list[ComparisonGroup]] = {deal: [] for deal in deal_notes}
    for group in shown:
        by_deal.setdefault(group.deal, []).append(group)
    for deal, groups in sorted(by_deal.items()):
        for number, group in enumerate(groups, 1):
            alike = sum(one.section == group.section for one in groups)
            head = _head(stored, _, group, number if alike > 1 else 0)
            plays = striped_rows(_play(one, results.get((one.play.table, deal)), stored, _) for one in group.plays)
            below = deal_notes.get(deal, ()) if number == len(groups) else ()
            par = _par(stored.par_of(deal), _)
            lines = (*plays, _datum(group, _), *par, *_substitute_notes(group, results, stored, _), *below)
            yield deal, PageBlock(head, lines)
        if not groups:
            yield deal, PageBlock((_title(_, deal, _winds(stored, _, deal)),), tuple(deal_notes[deal]))


def _substitute_notes(
    group: ComparisonGroup, results: Mapping[tuple[int, int], CountedPlay], stored: StoredEvent, _: Translator
) -> Iterator[PageLine]:
    """Yield a note for each substitute in a deal's plays; the names above are those of the players who score."""
    for play in group.members:
        counted = results.get((play.table, group.deal))
        if counted is None:
            continue
        for seat in SEATS:
            player = play.players[seat]
            if sat := stored.sat(player, counted.round):
                names = {"name": sat, "player": stored.event.players[player].name}
                place = {"table": table_of(play), "seat": _(SEAT_NAMES[seat])}
                text = _("{mark} Table {table}, {seat}: {name} for {player}", mark=SUBSTITUTE_MARK, **place, **names)
                yield note_line(text)


def _winds(stored: StoredEvent, _: Translator, number: int) -> list[str]:
    deal = stored.deals[number]
    return [
        _("prevalent wind {wind}", wind=_(SEAT_NAMES[deal.prevalent_wind])),
        _("dealer {seat}", seat=_(SEAT_NAMES[deal.dealer])),
    ]


def _title(_: Translator, deal: int, details: Iterable[str]) -> PageLine:
    return PageLine("heading", (PageCell(_("Deal {number}", number=deal)), PageCell(" · ".join(details))))


def _head(stored: StoredEvent, _: Translator, group: ComparisonGroup, number: int) -> tuple[PageLine, PageLine]:
    details = _winds(stored, _, group.deal)
    if group.section:
        details.append(_("Section {name}", name=group.section))
    if number:
        lay = N_("tiles as planned") if group.form == stored.event.form(group.deal) else N_("tiles in another order")
        details.append(_("group {number}: {lay}", number=number, lay=_(lay)))
    if stored.embargoed(group.deal):
        details.append(_plays_in(_, stored.state.plays_of(group.deal), stored.state.expected(group.deal)))
    names = [_("Table"), _("Round")]
    for seat in SEATS:
        names += [_(SEAT_NAMES[seat]), _("Pts"), _("IMP")]
    return _title(_, group.deal, details), PageLine("columns", tuple(map(PageCell, (*names, _("Hu")))))


def _play(one: PlayWithImps, result: CountedPlay | None, stored: StoredEvent, _: Translator) -> tuple[PageCell, ...]:
    play, points = one.play, one.play.points or {}
    cells = [PageCell(str(table_of(play))), PageCell(str(result.round) if result else "–")]
    for seat in SEATS:
        won = bool(result and seat in result.winners)
        name = _name(stored, play.players[seat], result.round if result else None)
        more = play.awards.get(seat, 0) - play.fines.get(seat, 0)
        imp = signed_text(one.imp[seat]) + (f" ({signed_text(more)})" if more else "")
        cells += [PageCell(name, bold=won), PageCell(signed_text(points[seat]), bold=won), PageCell(imp)]
    return (*cells, PageCell(_hu(result, _)))


def _name(stored: StoredEvent, player: str, round_: int | None) -> str:
    """Return a player's name, with the country if there is room, marked if a substitute sat there."""
    country = stored.event.origin_of(player).country
    mark = SUBSTITUTE_MARK if round_ and stored.sat(player, round_) else ""
    name = f"{mark}{stored.event.players[player].name}"
    whole = f"{name} ({country})" if country else name
    return whole if text_width(whole, LEGIBLE, bold=True) <= PLAYER - 2 * PAD else name


def _hu(result: CountedPlay | None, _: Translator) -> str:
    if result is None:
        return "–"
    if result.win == "draw":
        return _("draw")
    won = ", ".join(f"{_(SEAT_LETTERS[seat])} {result.winners[seat]}" for seat in SEATS if seat in result.winners)
    how = _(SEAT_LETTERS[result.discarder]) if result.discarder else _("self-drawn")
    return f"{won} / {how}"


def _datum(group: ComparisonGroup, _: Translator) -> PageLine:
    data: Mapping[Seat, Fraction] = {} if group.has_own_datums else group.datum
    cells = [PageCell(""), PageCell("")]
    for seat in SEATS:
        # If a play's own score is excluded from its datum, each play has a different one.
        cells += [PageCell(_("Datum") if seat == "east" else ""), PageCell(_mean(data.get(seat), _)), PageCell("")]
    return PageLine("sum", (*cells, PageCell("")))


def _par(par: DealPar | None, _: Translator) -> Iterator[PageLine]:
    """Yield the line for par: each seat's mean for simulated players, and the range of 8 of 10 plays."""
    if par is None or not (seats := par.seats()):
        return
    cells = [PageCell(_("Par"), columns=2)]
    for seat in SEATS:
        one = seats[seat]
        ends = _("8 of 10: {low} to {high}", low=signed_text(one.least), high=signed_text(one.most))
        cells += [PageCell(ends), PageCell(_mean(one.mean, _)), PageCell("")]
    yield PageLine("row", (*cells, PageCell("")))


def par_note(stored: StoredEvent, _: Translator) -> tuple[PageLine, ...]:
    """Return a note that explains par, if a deal of the event has one."""
    if not any(stored.par_of(deal) for deal in stored.deals):
        return ()
    text = _(
        "Par: the expected points of simulated players who cannot see the walls. This is analysis and counts in no "
        "ranking."
    )
    return (note_line(text),)


def _mean(points: Fraction | float | None, _: Translator) -> str:
    if points is None:
        return "–"
    return _.decimal(float(points), "+0.0;-0.0").replace("-", MINUS) if points else "0"


UNPLAYED: Final[Mapping[str, Message]] = {
    "void": N_("Table {table}, round {round}: void"),
    "adjusted": N_("Table {table}, round {round}: adjusted, no points"),
    "withdrawn": N_("Table {table}, round {round}: adjusted (player withdrawn)"),
}


def unplayed_notes(stored: StoredEvent, _: Translator, *, embargoed: bool) -> dict[int, list[PageLine]]:
    """Return notes by deal: one for each of its plays that is void or adjusted."""
    found: dict[int, list[PageLine]] = {}
    for counted, play in sorted(stored.counted(embargoed=embargoed), key=lambda one: one[0].table):
        if kind := stored.instead(counted):
            outcome = _(UNPLAYED[kind], table=counted.table, round=counted.round)
            text = " · ".join((outcome, *_adjustment_texts(stored, counted, play)))
            found.setdefault(counted.deal, []).append(note_line(text))
    return found


def _adjustment_texts(stored: StoredEvent, counted: CountedPlay, play: ScoredPlay) -> Iterator[str]:
    for seat in SEATS:
        if imp := play.awards.get(seat, 0) - play.fines.get(seat, 0):
            yield f"{stored.event.players[counted.players[seat]].name} {signed_text(imp)}"


def outside_plays_block(stored: StoredEvent, _: Translator) -> Iterator[PageBlock]:
    """Yield a block of the awards and fines that belong to no play, if there are any."""
    lines = tuple(
        note_line(f"{stored.event.players[one.name].name} {signed_text(one.imp - one.fine)}")
        for one in stored.adjustments()
        if one.imp != one.fine
    )
    if lines:
        yield PageBlock((PageLine("heading", (PageCell(_("IMP outside plays")), PageCell(""))),), lines)


MINUS: Final = "–"
"""As long as a minus sign, and present in all of the page's fonts, bold included."""


def signed_text(number: Exact) -> str:
    """Return a number with its sign; a fraction with two decimals."""
    exact = Fraction(number)
    text = f"{exact.numerator:+}" if exact.denominator == 1 else f"{float(decimal(exact)):+.2f}"
    return "0" if exact == 0 else text.replace("-", MINUS)


PAGE: Final = landscape(A4)
FRAME: Final = 12 * mm
ROOM: Final = PAGE[0] - 6 * FRAME
SIGNED: Final = 70 * mm
"""Length of the line for a signature."""


def group_name(row: Row) -> str:
    """Return stage and section of a line of the standings; empty if the event has neither."""
    return " · ".join(filter(None, (row.stage, row.section)))


def name_of(row: Row) -> str:
    """Return the name of a player or a team."""
    return row.name if isinstance(row, Standing) else row.team


def members_of(event: Event, row: Row) -> list[str]:
    """Return the names of a team's players; none for a player."""
    return [] if isinstance(row, Standing) else [event.name_of(one) for one in event.plan.teams[row.team]]


def prize_of(event: Event, row: Row) -> str:
    """Return the prize of a place, awarded in each section of the last stage; empty if there is none."""
    stages, prizes = event.plan.stages, event.plan.prizes
    last = not stages or row.stage == stages[-1].name
    return prizes[row.place - 1] if last and row.place <= len(prizes) else ""


def certificates_pdf(event: Event, rows: Iterable[Row], at: datetime, _: Translator) -> bytes:
    """Return a page for each line of the standings."""
    pages = (partial(_certificate, event, row, at, _) for row in rows)
    return drawn_pdf(pages, _("{title}: certificates", title=event.plan.title), _.language, PAGE)


def _certificate(event: Event, row: Row, at: datetime, _: Translator, canvas: Canvas) -> None:
    width, height = PAGE
    canvas.setLineWidth(2)
    canvas.rect(FRAME, FRAME, width - 2 * FRAME, height - 2 * FRAME)
    canvas.setLineWidth(0.5)
    canvas.rect(FRAME + 2 * mm, FRAME + 2 * mm, width - 2 * FRAME - 4 * mm, height - 2 * FRAME - 4 * mm)
    imps = _("{imp} IMP", imp=signed_text(Fraction(row.imp)))
    lines = (
        (event.plan.title, 20, False, 8),
        (_("Certificate"), 26, False, 22),
        (name_of(row), 44, True, 26),
        (" · ".join(members_of(event, row)), 14, False, 10),
        (_("Place {place}", place=row.place), 30, True, 22),
        (prize_of(event, row), 22, False, 14),
        (" · ".join(filter(None, (group_name(row), imps))), 14, False, 12),
    )
    down = height - 30 * mm
    for text, size, bold, space in lines:
        if text:
            down -= space * mm
            draw_fitted(canvas, (width / 2, down), text, ROOM, (size, 8), bold=bold, align="centre")
    for left, text in ((4 * FRAME, f"{at:%Y-%m-%d}"), (width - 4 * FRAME - SIGNED, _("Head arbiter"))):
        canvas.line(left, FRAME + 20 * mm, left + SIGNED, FRAME + 20 * mm)
        draw_text(canvas, (left, FRAME + 14 * mm), text, 12)
