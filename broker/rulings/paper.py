"""Paper sheets: read from a form or a CSV file, checked against plan and rules, and given as rulings.

A sheet enters the journal as a ruling with author and source `paper`, only once however often it is sent.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from broker.errors import collect_errors, raise_errors
from broker.event import CsvRow, Event, read_csv
from broker.i18n import N_
from broker.protocol import (
    SEATS,
    Correct,
    DealNo,
    FineImp,
    HandValue,
    PlayerId,
    Points,
    Refused,
    RoundNo,
    Seat,
    TableNo,
    WinKind,
)
from broker.rules import Outcome, Profile, RuleError, seat_points
from broker.rulings import CountedPlay, RulingAuthor, RulingDraft, RulingEntry
from broker.rulings.service import RulingService

NEEDED: Final = ("round", "table", "deal", "win", "discarder", *SEATS)
OPTIONAL: Final = (*(f"points_{seat}" for seat in SEATS), *(f"fine_{seat}" for seat in SEATS))


class KeyedSheet(Struct, frozen=True, forbid_unknown_fields=True):
    """One sheet as it was keyed. `points` and `fines` contain what the sheet has."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None = None
    points: dict[Seat, Points] = {}
    fines: dict[Seat, FineImp] = {}

    @property
    def key(self) -> tuple[int, int]:
        """Table and round."""
        return self.table, self.round


@dataclass(frozen=True, slots=True)
class PaperSheet:
    """A valid sheet: the players by seat, and the ruling that it amounts to."""

    keyed: KeyedSheet
    players: Mapping[Seat, PlayerId]
    decision: Correct


def keyed_of(cells: Mapping[str, str]) -> KeyedSheet:
    """Read one sheet from its fields, named as the CSV's columns. Raises RuleError `sheet_wrong`."""
    values = {name: cells.get(name, "").strip() for name in (*NEEDED, *OPTIONAL)}

    def of_seats(kind: object, prefix: str = "") -> dict[Seat, int]:
        return {
            seat: _read(f"{prefix}{seat}", values[f"{prefix}{seat}"], kind) for seat in SEATS if values[prefix + seat]
        }

    return KeyedSheet(
        round=_read("round", values["round"], RoundNo),
        table=_read("table", values["table"], TableNo),
        deal=_read("deal", values["deal"], DealNo),
        win=_read("win", values["win"], WinKind),
        discarder=_read("discarder", values["discarder"], Seat) if values["discarder"] else None,
        winners=of_seats(HandValue),
        points=of_seats(Points, "points_"),
        fines=of_seats(FineImp, "fine_"),
    )


def _read(name: str, text: str, kind: object) -> Any:  # noqa: ANN401 - of the requested kind
    try:
        return msgspec.convert(_number_or_text(text), kind)
    except msgspec.ValidationError:
        raise RuleError("sheet_wrong", N_("{field}: {text} is not valid", field=name, text=repr(text[:20]))) from None


def _number_or_text(text: str) -> int | str:
    """Return an integer, or the text for a later check to refuse. A typographic minus is accepted."""
    plain = text.replace("−", "-").replace("–", "-").removeprefix("+")
    digits = plain.removeprefix("-")
    return int(plain) if digits.isascii() and digits.isdigit() and len(digits) <= 6 else text  # noqa: PLR2004 - digits


def read_sheets(path: Path, event: Event) -> tuple[PaperSheet, ...]:
    """Read a CSV of sheets. No sheet is accepted unless all of them are valid.

    Raises an ExceptionGroup of RuleErrors that name the line, RuleError as `read_table`, or OSError.
    """
    rows, fields = read_csv(path, NEEDED, OPTIONAL)
    if not rows:
        raise RuleError("no_plays", N_("{file} contains no sheets", file=path.name))

    def read_row(row: CsvRow) -> tuple[int | str, PaperSheet]:
        row.whole(fields)
        try:
            return row.line, sheet_of(keyed_of(row.cells), event)
        except RuleError as problem:
            raise RuleError(problem.code, N_("line {line}: {problem}", line=row.line, problem=problem.text)) from None

    found = collect_errors(read_row, rows)
    raise_errors(_repeated_sheets(found))
    return tuple(sheet for _, sheet in found)


def _repeated_sheets(found: Iterable[tuple[int | str, PaperSheet]]) -> Iterable[RuleError]:
    first: dict[tuple[int, int], int | str] = {}
    for line, sheet in found:
        if first.setdefault(sheet.keyed.key, line) != line:
            yield RuleError(
                "sheet_twice",
                N_("line {line}: this play is already in line {first}", line=line, first=first[sheet.keyed.key]),
            )


def sheet_of(keyed: KeyedSheet, event: Event) -> PaperSheet:
    """Check a sheet against plan and rules. Any points on the sheet must be those that the rules give.

    Raises RuleError `not_planned`, `sheet_points`, `fine_not_in_profile`, `no_riichi_sheet`, or as `seat_points`.
    """
    booking = event.bookings.get(keyed.key)
    if booking is None or booking.deal != keyed.deal:
        text = N_(
            "table {table} does not play deal {deal} in round {round}",
            table=keyed.table,
            deal=keyed.deal,
            round=keyed.round,
        )
        raise RuleError("not_planned", text)
    rules = of_hand_values(event)
    expected = seat_points(Outcome(keyed.win, keyed.winners, keyed.discarder), rules.payments)
    if wrong := [seat for seat, points in keyed.points.items() if points != expected[seat]]:
        seat = wrong[0]
        text = N_(
            "{seat} has {sheet} on the sheet, but the entry gives {right}",
            seat=seat,
            sheet=keyed.points[seat],
            right=expected[seat],
        )
        raise RuleError("sheet_points", text)
    if unlisted := set(keyed.fines.values()) - set(event.profile.false_hu.fines.value):
        raise RuleError("fine_not_in_profile", N_("the rules have no fine of {imp} IMP", imp=min(unlisted)))
    decision = Correct(
        replaces=None,
        win=keyed.win,
        winners=dict(keyed.winners),
        discarder=keyed.discarder,
        points=expected,
        source="paper",
        fines={booking.players[seat]: imp for seat, imp in keyed.fines.items()},
    )
    return PaperSheet(keyed, booking.players, decision)


def of_hand_values(event: Event) -> Profile:
    """Return the rules of an event whose sheets have hand values. Raises RuleError `no_riichi_sheet`."""
    if isinstance(event.profile, Profile):
        return event.profile
    raise RuleError("no_riichi_sheet", "result sheets are for MCR hand values; correct riichi hands at the desk")


PAPER_REASON: Final = "paper sheet"

SheetOutcome = Literal["taken", "there_already", "first", "agrees", "differs"]
"""The result of accepting a sheet.

`taken`: it counts. Where two people key each sheet, `first`: it waits for the second; `agrees`: both agree and it
counts.
"""


@dataclass(frozen=True, slots=True)
class SheetResult:
    """The result of one sheet, or why it was refused."""

    sheet: PaperSheet
    taken: SheetOutcome | None
    problem: RuleError | None = None


def accept_sheets(
    rulings: RulingService, sheets: Iterable[PaperSheet], author: RulingAuthor, reason: str = PAPER_REASON
) -> list[SheetResult]:
    """Accept sheets one by one, continuing after a refused one. On the scorer's thread. Raises StoreError."""
    results: list[SheetResult] = []
    for sheet in sheets:
        try:
            results.append(SheetResult(sheet, accept_sheet(rulings, sheet, author, reason)))
        except RuleError as problem:
            results.append(SheetResult(sheet, None, problem))
    return results


def accept_sheet(
    rulings: RulingService, sheet: PaperSheet, author: RulingAuthor, reason: str = PAPER_REASON
) -> SheetOutcome:
    """Accept one sheet. On the scorer's thread.

    Raises RuleError `paper_differs`, `sheets_differ`, `sheet_ruled_out`, or as a ruling; StoreError.
    """
    play = rulings.room.play(sheet.keyed.key)
    if play.settled:
        decision = sheet.decision
        same = (decision.win, decision.winners, decision.discarder) == (play.win, play.winners, play.discarder)
        # An arbiter may have fined more, but the sheet's fines must be included.
        if not same or any(play.fines.get(player, 0) < imp for player, imp in decision.fines.items()):
            raise _conflict(rulings.room.book.entries.get(play.source or ""), play)
        return "there_already"
    _submit(rulings, sheet, author, reason)
    return "taken"


def _conflict(entry: RulingEntry | None, play: CountedPlay) -> RuleError:
    """Return the error for a sheet that differs from the table's result, another sheet or a ruling (`entry`)."""
    table, round_ = play.table, play.round
    if entry is None:
        text = N_(
            "table {table}, round {round} has a different result from this sheet: an arbiter has to decide",
            table=table,
            round=round_,
        )
        return RuleError("paper_differs", text)
    if isinstance(entry.decision, Correct) and entry.decision.source == "paper":
        text = N_(
            "table {table}, round {round}: {author} entered a sheet with a different result",
            table=table,
            round=round_,
            author=entry.author,
        )
        return RuleError("sheets_differ", text)
    return RuleError(
        "sheet_ruled_out",
        N_(
            "table {table}, round {round}: {author} has already ruled on this play",
            table=table,
            round=round_,
            author=entry.author,
        ),
    )


def _submit(rulings: RulingService, sheet: PaperSheet, author: RulingAuthor, reason: str) -> None:
    last = rulings.room.last_message_id(sheet.keyed.key)
    draft = RulingDraft(
        id=_id(sheet, last),
        after=last,
        table=sheet.keyed.table,
        round=sheet.keyed.round,
        deal=sheet.keyed.deal,
        decision=sheet.decision,
        reason=reason,
    )
    try:
        rulings.give(draft, author)
    except Refused as refused:
        raise RuleError(refused.code, refused.text) from None


def _id(sheet: PaperSheet, last: str | None) -> str:
    """Return an id that is the same for the same sheet, unless there was a message about its play since."""
    digest = hashlib.sha256(msgspec.json.encode(sheet.decision) + (last or "").encode()).hexdigest()[:12]
    return f"paper-{sheet.keyed.round}-{sheet.keyed.table}-{digest}"
