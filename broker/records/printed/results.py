"""Standings and travellers of an event, as blocks for `sheet.pdf`."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from itertools import groupby
from typing import Final, Literal

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm

from broker.contract.messages import Standing
from broker.contract.words import SEATS, Seat
from broker.records.printed.grid import Block, Cell, Line, columns, rows
from broker.records.printed.sheet import MARGIN, Heading, pdf
from broker.records.printed.words import Words
from broker.scorer import standings as ranked
from broker.scorer.cells import decimal
from broker.scorer.rulings.laying import Laid, table_of
from broker.scorer.stored import Stored
from broker.scoring.compare import Compared, Exact, Group

Align = Literal["left", "right"]

PLACE: Final = 16 * mm
NUMBER: Final = 21 * mm
NAMES: Final = A4[0] - 2 * MARGIN - PLACE - 3 * NUMBER
STANDINGS: Final = columns(
    MARGIN, ((PLACE, "right"), (NAMES, "left"), (NUMBER, "right"), (NUMBER, "right"), (NUMBER, "right"))
)

MINUS: Final = "–"
"""As long as a minus, and in every letter of the page's font, bold too."""

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
    return pdf(_heading(stored, words, at, "standings"), [_standings(lines, words)], STANDINGS)


def _standings(lines: Iterable[Standing], words: Words) -> Block:
    names = [Cell(words.say(key)) for key in ("place", "name", "imp", "fines", "plays")]
    return Block((Line("columns", tuple(names)),), rows(map(_ranked, lines)))


def _ranked(line: Standing) -> tuple[Cell, ...]:
    fines = signed(-line.fines) if line.fines else "–"
    first = line.place == 1
    return (
        *(Cell(str(line.place), bold=True), Cell(line.name, bold=first), Cell(signed(Fraction(line.imp)), bold=True)),
        *(Cell(fines), Cell(str(line.plays))),
    )


def travellers_pdf(stored: Stored, words: Words, at: datetime, *, embargoed: bool = False) -> bytes:
    """Give all travellers as PDF; those of deals that a table has still to play only if asked for."""
    shown = [group for group in stored.room.groups() if embargoed or not stored.embargoed(group.deal)]
    blocks = list(_travellers(stored, words, shown))
    note = words.say("legend") if blocks else words.say("nothing_yet")
    notes = [Line("note", (Cell(note),))]
    if blocks and not embargoed and not stored.room.final:
        notes.append(Line("note", (Cell(words.say("embargo")),)))
    return pdf(_heading(stored, words, at, "travellers"), [*blocks, Block((), tuple(notes))], TRAVELLERS, wide=True)


def _heading(stored: Stored, words: Words, at: datetime, kind: str) -> Heading:
    progress = words.say("progress", count=stored.room.plays_in, expected=len(stored.event.plan.plays))
    return Heading(
        stored.event.plan.title, words.say(kind), stored.room.final, stored.event.profile.id, progress, at, words
    )


def _travellers(stored: Stored, words: Words, shown: Iterable[Group]) -> Iterator[Block]:
    results = {(laid.line, laid.deal): laid for _, laid in stored.played()}
    for _, of_deal in groupby(shown, key=lambda group: group.deal):
        groups = list(of_deal)
        for number, group in enumerate(groups, 1):
            head = _head(stored, words, group, number if len(groups) > 1 else 0)
            plays = rows(_play(one, results.get((one.play.table, group.deal)), stored, words) for one in group.plays)
            yield Block(head, (*plays, _datum(group, words)))


def _head(stored: Stored, words: Words, group: Group, number: int) -> tuple[Line, Line]:
    deal = stored.deals[group.deal]
    told = [
        words.say("prevalent_wind", wind=words.say(deal.prevalent_wind)),
        words.say("dealer", seat=words.say(deal.dealer)),
    ]
    if number:
        lay = "as_planned" if group.form == stored.event.form(group.deal) else "otherwise"
        told.append(words.say("group", number=number, lay=words.say(lay)))
    if stored.embargoed(group.deal):
        expected = stored.room.expected(group.deal)
        told.append(words.say("incomplete", count=stored.room.plays_of(group.deal), expected=expected))
    names = [words.say("table"), words.say("round")]
    for seat in SEATS:
        names += [words.say(seat), words.say("points"), words.say("imp")]
    title = (Cell(words.say("deal", number=group.deal)), Cell(" · ".join(told)))
    return Line("heading", title), Line("columns", tuple(map(Cell, (*names, words.say("hu")))))


def _play(one: Compared, result: Laid | None, stored: Stored, words: Words) -> tuple[Cell, ...]:
    play, points = one.play, one.play.points or {}
    cells = [Cell(str(table_of(play))), Cell(str(result.round) if result else "–")]
    for seat in SEATS:
        won = bool(result and seat in result.winners)
        name = stored.event.players[play.players[seat]].name
        more = play.awards.get(seat, 0) - play.fines.get(seat, 0)
        imp = signed(one.imp[seat]) + (f" ({signed(more)})" if more else "")
        cells += [Cell(name, bold=won), Cell(signed(points[seat]), bold=won), Cell(imp)]
    return (*cells, Cell(_hu(result, words)))


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


def signed(number: Exact) -> str:
    """Write a sum with its sign; a fraction to two places."""
    exact = Fraction(number)
    text = f"{exact.numerator:+}" if exact.denominator == 1 else f"{float(decimal(exact)):+.2f}"
    return "0" if exact == 0 else text.replace("-", MINUS)
