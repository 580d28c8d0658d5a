"""The score sheet of a riichi session, as text and as PDF, from typed events or from the store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.event import Event
from broker.export.pdf import Columns, PageBlock, PageCell, PageLine, draw_text, striped_rows, tables_pdf
from broker.i18n import N_, Message, Translator
from broker.protocol import SEATS
from broker.rules import RuleError
from broker.rules.riichi import (
    Abort,
    Chombo,
    DeadHand,
    ExhaustiveDraw,
    HandEnd,
    MinorFault,
    RecordedEvent,
    RiichiProfile,
    Ron,
    SessionEvent,
    SessionState,
    Tsumo,
    event_from_message,
)
from broker.scorer import open_stored_event


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of the sheet: the hand, its counters, what happened, and each player's change and score."""

    hand: str
    counters: int
    what: str
    deltas: tuple[int, ...]
    scores: tuple[int, ...]
    table: int
    """Deposits on the table afterwards."""


@dataclass(frozen=True, slots=True)
class SessionSheet:
    """The content of a sheet. While the session is running `places` is empty and `next_hand` names the next hand."""

    title: str
    players: tuple[str, ...]
    start: tuple[int, ...]
    rows: tuple[SheetRow, ...]
    places: tuple[int, ...]
    next_hand: str
    translator: Translator


def make_session_sheet(
    title: str, start: SessionState, entries: Sequence[RecordedEvent], players: Sequence[str], language: str
) -> SessionSheet:
    """Return the sheet of a session's events."""
    _ = Translator(language)
    last = entries[-1].settled if entries else None
    state = start if last is None else last.state
    next_hand = "" if state.over else _hand(state, _)
    rows = tuple(_row(entry, players, _) for entry in entries)
    places = () if last is None or last.places is None else last.places
    return SessionSheet(title, tuple(players), start.scores, rows, places, next_hand, _)


def _row(entry: RecordedEvent, players: Sequence[str], _: Translator) -> SheetRow:
    before, settled = entry.before, entry.settled
    what = ", ".join((*_entry_text(entry.event, players, _), *_riichi(entry.event, players, _)))
    return SheetRow(
        _hand(before, _), before.counters, what, settled.deltas, settled.state.scores, settled.state.deposits
    )


def _hand(state: SessionState, _: Translator) -> str:
    return _("{wind}{number}", wind=_(WINDS[state.round_wind]), number=state.dealer + 1)


def _names(seats: Iterable[int], players: Sequence[str]) -> str:
    return " + ".join(players[one] for one in seats)


def _riichi(event: SessionEvent, players: Sequence[str], _: Translator) -> Iterator[str]:
    if isinstance(event, HandEnd) and event.riichi:
        yield _("{what}: {names}", what=_("riichi"), names=_names(event.riichi, players))


def _entry_text(event: SessionEvent, players: Sequence[str], _: Translator) -> Iterator[str]:
    match event:
        case Ron(loser=loser, wins=wins):
            yield _(
                "ron {winners} from {loser}",
                winners=_names((win.winner for win in wins), players),
                loser=players[loser],
            )
        case Tsumo(win=win):
            yield _("tsumo {winner}", winner=players[win.winner])
        case ExhaustiveDraw(tenpai=tenpai, nagashi=nagashi):
            yield _("draw, tenpai: {names}", names=_names(tenpai, players) or _("nobody"))
            if nagashi:
                yield _("{what}: {names}", what=_("nagashi"), names=_names(nagashi, players))
        case Abort(reason=reason):
            yield _("aborted ({reason})", reason=ABORTS.get(reason, reason))
        case Chombo(offenders=offenders) | MinorFault(offenders=offenders) | DeadHand(offenders=offenders):
            yield _("{what}: {names}", what=FAULTS[type(event)], names=_names(offenders, players))
        case _:
            yield _("end of session; remaining deposits paid out")


FAULTS: Final[Mapping[type, Message]] = {Chombo: N_("chombo"), MinorFault: N_("minor fault"), DeadHand: N_("dead hand")}

WINDS: Final[Mapping[str, Message]] = {"E": N_("E"), "S": N_("S"), "W": N_("W"), "N": N_("N")}

ABORTS: Final[Mapping[str, Message]] = {
    "nine_terminals": N_("nine terminals"),
    "four_winds": N_("four winds"),
    "four_riichi": N_("four riichi"),
    "four_kans": N_("four kans"),
    "triple_ron": N_("triple ron"),
}

LONGEST_NAME = 12


def session_text(sheet: SessionSheet) -> str:
    """Return the sheet in monospaced columns."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(sheet))


def _lines(sheet: SessionSheet) -> Iterator[str]:
    _ = sheet.translator
    what = max([len(row.what) for row in sheet.rows] + [len(_("what happened"))])
    names = [name[:LONGEST_NAME] for name in sheet.players]
    yield _("{what}: {names}", what=_.pgettext("riichi", "Session"), names=sheet.title)
    yield ""
    yield f"{'':{5 + 4 + what}}" + "".join(f"{name:>16}" for name in names) + "  " + _("on the table")
    yield _("start").ljust(5 + 4 + what) + "".join(f"{score:>16}" for score in sheet.start)
    yield from (_text_row(row, what) for row in sheet.rows)
    yield ""
    if sheet.places:
        yield _("place").ljust(5 + 4 + what) + "".join(f"{place:>16}" for place in sheet.places)
    else:
        yield _("continues with {hand}", hand=sheet.next_hand)


def _text_row(row: SheetRow, what: int) -> str:
    """Return a row: each player's signed change, followed by the score."""
    changes = "".join(f"{_signed(delta):>8}{score:>8}" for delta, score in zip(row.deltas, row.scores, strict=True))
    counters = f"+{row.counters}" if row.counters else ""
    return f"{row.hand:<5}{counters:<4}{row.what:<{what}}{changes}  {row.table or ''}"


def _signed(delta: int) -> str:
    return f"{delta:+}" if delta else ""


PAGE: Final = landscape(A4)
MARGIN: Final = 12 * mm
COLUMNS: Final[Columns] = (
    *((20 * mm, "left"), (92 * mm, "left")),
    *((17 * mm, "right"), (18 * mm, "right")) * 4,
    (PAGE[0] - 2 * MARGIN - 252 * mm, "right"),
)
"""The hand, what happened, each player's change and score, the deposits."""


def session_pdf(sheet: SessionSheet) -> bytes:
    """Return the sheet as PDF; the same sheet gives the same bytes."""
    _ = sheet.translator

    def draw_page(canvas: Canvas, number: int, total: int) -> None:
        draw_text(canvas, (MARGIN, PAGE[1] - 14 * mm), _title(sheet), 16, bold=True)
        page = _("Page {number} of {all}", number=number, all=total)
        draw_text(canvas, (PAGE[0] - MARGIN, PAGE[1] - 14 * mm), page, 9, align="right")

    names = (PageCell(""), PageCell(""), *(PageCell(name, columns=2) for name in sheet.players))
    block = PageBlock((PageLine("columns", (*names, PageCell(_("on the table")))),), tuple(_pdf_lines(sheet)))
    return tables_pdf(
        [block],
        COLUMNS,
        draw_page,
        size=PAGE,
        margins=(MARGIN, 20 * mm, 12 * mm),
        title=_title(sheet),
        language=_.language,
    )


def _pdf_lines(sheet: SessionSheet) -> Iterator[PageLine]:
    _ = sheet.translator
    start = (PageCell(str(score), columns=2) for score in sheet.start)
    yield from striped_rows(
        [
            (PageCell(""), PageCell(_("start")), *start, PageCell("")),
            *map(_pdf_row, sheet.rows),
        ]
    )
    if sheet.places:
        places = (PageCell(str(place), bold=True, columns=2) for place in sheet.places)
        yield PageLine("sum", (PageCell(""), PageCell(_("place"), bold=True), *places, PageCell("")))
    else:
        next_hand = _("continues with {hand}", hand=sheet.next_hand)
        yield PageLine("sum", (PageCell(""), PageCell(next_hand), PageCell("", columns=len(COLUMNS) - 2)))


def _pdf_row(row: SheetRow) -> tuple[PageCell, ...]:
    changes = chain.from_iterable(zip(map(_signed, row.deltas), map(str, row.scores), strict=True))
    hand = f"{row.hand} +{row.counters}" if row.counters else row.hand
    return (PageCell(hand, bold=True), *map(PageCell, (row.what, *changes, str(row.table or ""))))


def _title(sheet: SessionSheet) -> str:
    _ = sheet.translator
    return _("{what}: {names}", what=_.pgettext("riichi", "Session"), names=sheet.title)


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session from its beginning: its rules, the players in turn order, the events."""

    rules: RiichiProfile
    names: Sequence[str]
    events: Iterable[SessionEvent]
    event: Event | None = None
    """The event; None if the session's events were typed."""


def read_session(folder: Path, table: int, round_: int) -> StoredSession:
    """Load a session. Raises ScorerError, StoreError; RuleError `no_such_session`."""
    stored = open_stored_event(folder)
    booking = stored.event.riichi.get((table, round_))
    if booking is None:
        raise RuleError("no_such_session", f"table {table} plays no riichi session in round {round_} of this event")
    ids = [booking.players[seat] for seat in SEATS]
    names = [stored.sat(one, round_) or stored.event.players[one].name for one in ids]
    events = [event_from_message(fact.event) for fact in stored.state.tables.sessions.entries((table, round_))]
    return StoredSession(stored.event.session_rules(booking), names, events, stored.event)
