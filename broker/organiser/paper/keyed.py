"""Results keyed from paper sheets, from a form or a CSV file: read, and checked against plan and rules.

What a sheet says beside the outcome, its points, is asked for as well: a hand value that was keyed wrongly then shows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from broker.contract.rulings import Correct
from broker.contract.words import SEATS, DealNo, FineImp, HandValue, PlayerId, Points, RoundNo, Seat, TableNo, WinKind
from broker.organiser.deals.files import every, refuse
from broker.organiser.deals.table import Row, read_table
from broker.rules.errors import RuleError
from broker.rules.points import Outcome, points
from broker.rules.profile import Profile
from broker.scorer.event import Event

NEEDED: Final = ("round", "table", "deal", "win", "discarder", *SEATS)
OPTIONAL: Final = (*(f"points_{seat}" for seat in SEATS), *(f"fine_{seat}" for seat in SEATS))


class Keyed(Struct, frozen=True, forbid_unknown_fields=True):
    """One sheet as it was keyed. `points` and `fines` as far as the sheet says them."""

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
class Sheet:
    """A sheet that can be taken: who sat where, and what it says as a ruling."""

    keyed: Keyed
    players: Mapping[Seat, PlayerId]
    decision: Correct


def keyed_of(cells: Mapping[str, str]) -> Keyed:
    """Read one sheet from its fields, named as the CSV's columns. Raises RuleError `sheet_wrong`."""
    said = {name: cells.get(name, "").strip() for name in (*NEEDED, *OPTIONAL)}

    def of_seats(kind: object, before: str = "") -> dict[Seat, int]:
        return {seat: _read(f"{before}{seat}", said[f"{before}{seat}"], kind) for seat in SEATS if said[before + seat]}

    return Keyed(
        round=_read("round", said["round"], RoundNo),
        table=_read("table", said["table"], TableNo),
        deal=_read("deal", said["deal"], DealNo),
        win=_read("win", said["win"], WinKind),
        discarder=_read("discarder", said["discarder"], Seat) if said["discarder"] else None,
        winners=of_seats(HandValue),
        points=of_seats(Points, "points_"),
        fines=of_seats(FineImp, "fine_"),
    )


def _read(name: str, text: str, kind: object) -> Any:  # noqa: ANN401 - of the kind that is asked for
    try:
        return msgspec.convert(_number(text), kind)
    except msgspec.ValidationError:
        raise RuleError("sheet_wrong", f"{name}: {text[:20]!r} cannot be") from None


def _number(text: str) -> int | str:
    """Give a whole number; what is none is refused further on. A minus may be typeset."""
    plain = text.replace("−", "-").replace("–", "-").removeprefix("+")
    digits = plain.removeprefix("-")
    return int(plain) if digits.isascii() and digits.isdigit() and len(digits) <= 6 else text  # noqa: PLR2004 - digits


def read_sheets(path: Path, event: Event) -> tuple[Sheet, ...]:
    """Read a CSV of sheets; nothing is taken unless all of it is right.

    Raises an ExceptionGroup of RuleErrors that name the line, RuleError as `read_table`, OSError.
    """
    rows, fields = read_table(path, NEEDED, OPTIONAL)
    if not rows:
        raise RuleError("no_plays", f"{path.name} has no sheet")

    def take(row: Row) -> tuple[int, Sheet]:
        row.whole(fields)
        try:
            return row.line, sheet_of(keyed_of(row.cells), event)
        except RuleError as problem:
            raise RuleError(problem.code, f"line {row.line}: {problem.text}") from None

    found = every(take, rows)
    refuse(_twice(found))
    return tuple(sheet for _, sheet in found)


def _twice(found: Iterable[tuple[int, Sheet]]) -> Iterable[RuleError]:
    first: dict[tuple[int, int], int] = {}
    for line, sheet in found:
        if first.setdefault(sheet.keyed.key, line) != line:
            yield RuleError("sheet_twice", f"line {line}: this play is in line {first[sheet.keyed.key]} already")


def sheet_of(keyed: Keyed, event: Event) -> Sheet:
    """Check a sheet against plan and rules; what it says of the points must be what the rules say.

    Raises RuleError `not_planned`, `sheet_points`, `fine_not_in_profile`, `no_riichi_sheet`, or as `points`.
    """
    booking = event.bookings.get(keyed.key)
    if booking is None or booking.deal != keyed.deal:
        raise RuleError("not_planned", f"table {keyed.table} has no deal {keyed.deal} in round {keyed.round}")
    rules = of_hand_values(event)
    right = points(Outcome(keyed.win, keyed.winners, keyed.discarder), rules.payments)
    if wrong := [seat for seat, said in keyed.points.items() if said != right[seat]]:
        seat = wrong[0]
        raise RuleError(
            "sheet_points", f"{seat} has {keyed.points[seat]} on the sheet, and {right[seat]} by what was keyed"
        )
    if strange := set(keyed.fines.values()) - set(event.profile.false_hu.fines.value):
        raise RuleError("fine_not_in_profile", f"the profile has no fines of {sorted(strange)} IMP")
    decision = Correct(
        replaces=None,
        win=keyed.win,
        winners=dict(keyed.winners),
        discarder=keyed.discarder,
        points=right,
        source="paper",
        fines={booking.players[seat]: imp for seat, imp in keyed.fines.items()},
    )
    return Sheet(keyed, booking.players, decision)


def of_hand_values(event: Event) -> Profile:
    """Give the rules of an event whose sheets have hand values. Raises RuleError `no_riichi_sheet`."""
    if isinstance(event.profile, Profile):
        return event.profile
    raise RuleError("no_riichi_sheet", "result sheets have hand values; a hand of riichi is corrected at the desk")


def same_outcome(one: Correct, win: str | None, winners: Mapping[Seat, int], discarder: Seat | None) -> bool:
    """Say whether a sheet says what a table has entered."""
    return (one.win, one.winners, one.discarder) == (win, dict(winners), discarder)
