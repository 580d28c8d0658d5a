"""Standings and travellers of an event, as blocks for `sheet.pdf`."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Final, Literal

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm

from broker.contract.messages import Standing
from broker.contract.words import SEATS, Seat
from broker.organiser.deals.lettering import width
from broker.records.printed.grid import Block, Cell, Line, columns, rows
from broker.records.printed.sheet import MARGIN, PAD, Heading, pdf
from broker.records.printed.signed import MINUS, signed
from broker.records.printed.unplayed import of_no_play, unplayed
from broker.records.printed.words import Words
from broker.scorer import standings as ranked
from broker.scorer.rulings.laying import Laid
from broker.scorer.stored import Stored
from broker.scoring.compare import Compared, Group
from broker.scoring.plays import table_of

Align = Literal["left", "right"]

PLACE: Final = 16 * mm
NUMBER: Final = 21 * mm
NAMES: Final = A4[0] - 2 * MARGIN - PLACE - 3 * NUMBER
COUNTRY: Final = 13 * mm
CLUB: Final = 42 * mm
NARROW: Final = 16 * mm
_NUMBERS: Final[tuple[tuple[float, Align], ...]] = ((NUMBER, "right"),) * 3
STANDINGS: Final = columns(MARGIN, ((PLACE, "right"), (NAMES, "left"), *_NUMBERS))
WITH_ORIGINS: Final = columns(
    MARGIN,
    (
        *((PLACE, "right"), (NAMES + 3 * (NUMBER - NARROW) - COUNTRY - CLUB, "left")),
        *((COUNTRY, "left"), (CLUB, "left"), *((NARROW, "right"),) * 3),
    ),
)

LEGIBLE: Final = 8
"""Points that a name is not made smaller than for the sake of its country."""

STAND_IN: Final = "*"
"""Beside the name of a player in whose seat a substitute sat."""

LITTLE: Final = 10 * mm
HU: Final = 28 * mm
POINTS: Final = 11.5 * mm
IMP: Final = 13.5 * mm
PLAYER: Final = (landscape(A4)[0] - 2 * MARGIN - 2 * LITTLE - HU) / 4 - POINTS - IMP
_SEAT: Final[tuple[tuple[float, Align], ...]] = ((PLAYER, "left"), (POINTS, "right"), (IMP, "right"))
TRAVELLERS: Final = columns(MARGIN, ((LITTLE, "right"), (LITTLE, "right"), *_SEAT * 4, (HU, "left")))


def standings_pdf(stored: Stored, words: Words, at: datetime, listed: Iterable[Standing] | None = None) -> bytes:
    """Give the standings as PDF: those of the room, or others that may be known."""
    lines = ranked.rows(stored.room.standings(), stored.event.players) if listed is None else tuple(listed)
    heading, event = _heading(stored, words, at, "standings"), stored.event
    known = event.has_origins
    named = ("place", "name", *(("country", "club") if known else ()), "imp", "fines", "plays")
    found = rows(_ranked(line, event.origin_of(line.player) if known else ()) for line in lines)
    block = Block((Line("columns", tuple(Cell(words.say(key)) for key in named)),), found)
    return pdf(heading, [block], WITH_ORIGINS if known else STANDINGS)


def _ranked(line: Standing, origin: Iterable[str]) -> tuple[Cell, ...]:
    fines = signed(-line.fines) if line.fines else "–"
    first = line.place == 1
    return (
        *(Cell(str(line.place), bold=True), Cell(line.name, bold=first), *map(Cell, origin)),
        *(Cell(signed(Fraction(line.imp)), bold=True), Cell(fines), Cell(str(line.plays))),
    )


def travellers_pdf(stored: Stored, words: Words, at: datetime, *, embargoed: bool = False) -> bytes:
    """Give all travellers as PDF; those of deals that a table has still to play only if asked for."""
    shown = [group for group in stored.room.groups() if embargoed or not stored.embargoed(group.deal)]
    settled = unplayed(stored, words, embargoed=embargoed)
    blocks = list(_travellers(stored, words, shown, settled))
    note = words.say("legend") if blocks else words.say("nothing_yet")
    notes = [Line("note", (Cell(note),))]
    if blocks and not embargoed and not stored.room.final:
        notes.append(Line("note", (Cell(words.say("embargo")),)))
    return pdf(
        _heading(stored, words, at, "travellers"),
        [*blocks, *of_no_play(stored, words), Block((), tuple(notes))],
        TRAVELLERS,
        wide=True,
    )


def _heading(stored: Stored, words: Words, at: datetime, kind: str) -> Heading:
    progress = words.say("progress", count=stored.room.plays_in, expected=len(stored.event.plan.plays))
    return Heading(
        stored.event.plan.title,
        words.say(kind),
        stored.is_final(at),
        stored.event.profile.id,
        progress,
        at,
        words,
    )


def _travellers(
    stored: Stored, words: Words, shown: Iterable[Group], settled: Mapping[int, list[Line]]
) -> Iterator[Block]:
    results = {(laid.line, laid.deal): laid for _, laid in stored.played()}
    by_deal: dict[int, list[Group]] = {deal: [] for deal in settled}
    for group in shown:
        by_deal.setdefault(group.deal, []).append(group)
    for deal, groups in sorted(by_deal.items()):
        for number, group in enumerate(groups, 1):
            head = _head(stored, words, group, number if len(groups) > 1 else 0)
            plays = rows(_play(one, results.get((one.play.table, deal)), stored, words) for one in group.plays)
            below = settled.get(deal, ()) if number == len(groups) else ()
            yield Block(head, (*plays, _datum(group, words), *_stand_ins(group, results, stored, words), *below))
        if not groups:
            yield Block((_title(words, deal, _winds(stored, words, deal)),), tuple(settled[deal]))


def _stand_ins(group: Group, results: Mapping[tuple[int, int], Laid], stored: Stored, words: Words) -> Iterator[Line]:
    """Say below a deal's plays who sat there for whom; the names above are of those who score."""
    for play in group.members:
        laid = results.get((play.table, group.deal))
        for seat in SEATS if laid else ():
            player = play.players[seat]
            if laid and (sat := stored.sat(player, laid.round)):
                where = {"table": table_of(play), "seat": words.say(seat)}
                name = stored.event.players[player].name
                yield Line("note", (Cell(words.say("sat", mark=STAND_IN, name=sat, player=name, **where)),))


def _winds(stored: Stored, words: Words, number: int) -> list[str]:
    deal = stored.deals[number]
    return [
        words.say("prevalent_wind", wind=words.say(deal.prevalent_wind)),
        words.say("dealer", seat=words.say(deal.dealer)),
    ]


def _title(words: Words, deal: int, told: Iterable[str]) -> Line:
    return Line("heading", (Cell(words.say("deal", number=deal)), Cell(" · ".join(told))))


def _head(stored: Stored, words: Words, group: Group, number: int) -> tuple[Line, Line]:
    told = _winds(stored, words, group.deal)
    if number:
        lay = "as_planned" if group.form == stored.event.form(group.deal) else "otherwise"
        told.append(words.say("group", number=number, lay=words.say(lay)))
    if stored.embargoed(group.deal):
        expected = stored.room.expected(group.deal)
        told.append(words.say("incomplete", count=stored.room.plays_of(group.deal), expected=expected))
    names = [words.say("table"), words.say("round")]
    for seat in SEATS:
        names += [words.say(seat), words.say("points"), words.say("imp")]
    return _title(words, group.deal, told), Line("columns", tuple(map(Cell, (*names, words.say("hu")))))


def _play(one: Compared, result: Laid | None, stored: Stored, words: Words) -> tuple[Cell, ...]:
    play, points = one.play, one.play.points or {}
    cells = [Cell(str(table_of(play))), Cell(str(result.round) if result else "–")]
    for seat in SEATS:
        won = bool(result and seat in result.winners)
        name = _name(stored, play.players[seat], result.round if result else None)
        more = play.awards.get(seat, 0) - play.fines.get(seat, 0)
        imp = signed(one.imp[seat]) + (f" ({signed(more)})" if more else "")
        cells += [Cell(name, bold=won), Cell(signed(points[seat]), bold=won), Cell(imp)]
    return (*cells, Cell(_hu(result, words)))


def _name(stored: Stored, player: str, round_: int | None) -> str:
    """Name a player, with the country where there is room for it; marked where a substitute sat there."""
    country = stored.event.origin_of(player).country
    mark = STAND_IN if round_ and stored.sat(player, round_) else ""
    name = f"{mark}{stored.event.players[player].name}"
    whole = f"{name} ({country})" if country else name
    return whole if width(whole, LEGIBLE, bold=True) <= PLAYER - 2 * PAD else name


def _hu(result: Laid | None, words: Words) -> str:
    if result is None:
        return "–"
    if result.win == "draw":
        return words.say("draw")
    won = ", ".join(f"{words.say(f'short_{seat}')} {result.winners[seat]}" for seat in SEATS if seat in result.winners)
    how = words.say(f"short_{result.discarder}") if result.discarder else words.say("self_drawn")
    return f"{won} / {how}"


def _datum(group: Group, words: Words) -> Line:
    data: Mapping[Seat, Fraction] = {} if group.apart else group.datum
    cells = [Cell(""), Cell("")]
    for seat in SEATS:
        # Where own scores stay out of it each play has a datum of its own.
        cells += [Cell(words.say("datum") if seat == "east" else ""), Cell(_mean(data.get(seat), words)), Cell("")]
    return Line("sum", (*cells, Cell("")))


def _mean(datum: Fraction | None, words: Words) -> str:
    if datum is None:
        return "–"
    return f"{float(datum):+.1f}".replace("-", MINUS).replace(".", words.say("decimal")) if datum else "0"
