"""Deals that somebody else has made: a list in CSV or JSON, taken as a whole or refused with all that is wrong."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, get_args

import msgspec
from msgspec import Struct

from broker.contract.words import SEATS, DealNo, Seat, SetNo, Wind
from broker.organiser.deals.files import decode_json, every, read_json, refuse
from broker.organiser.deals.table import Row, read_table
from broker.organiser.deals.whole import faults_of_deal
from broker.rules.deal import TRAY, Deal
from broker.rules.errors import RuleError
from broker.rules.tiles import FACES

TILES: Final = tuple(str(place) for place in range(1, TRAY + 1))
"""Headings of the 34 tiles: the hand, then the wall in drawing order."""

NEEDED: Final = ("deal", "prevalent_wind", "dealer", "seat", *TILES)
LAST_DEAL: Final = 9999
LAST_SET: Final = 99


class Listed(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal of a JSON list: an entry of `deals.json`, whose `set` may be left out. A `salt` is not taken over."""

    number: DealNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]]
    set: SetNo | None = None
    salt: str | None = None


Planned = tuple[Deal, int | None]
"""A deal, and the set that is to lie in its carrier if the list says so."""


def read_list(path: Path) -> list[Planned]:
    """Read a list, JSON if its name ends so, else CSV.

    Raises RuleError, or an ExceptionGroup of them: each names its line or its place in the list. OSError.
    """
    found = _from_json(path) if path.suffix.lower() == ".json" else _from_csv(path)
    if not found:
        raise RuleError("no_deal", f"{path.name} lists no deal")
    return found


def _from_json(path: Path) -> list[Planned]:
    entries = read_json(path, list[msgspec.Raw])
    if len(entries) > LAST_DEAL:
        raise RuleError("too_large", f"{path.name} lists {len(entries)} deals, at most {LAST_DEAL}")
    listed = every(
        lambda entry: decode_json(entry[1], Listed, f"deal in place {entry[0]} of the list"), enumerate(entries, 1)
    )
    counted = Counter(one.number for one in listed)
    twice = [RuleError("deal_twice", f"deal {number} is listed {n} times") for number, n in counted.items() if n > 1]
    refuse([*twice, *(fault for one in listed for fault in _faults(f"deal {one.number}", one.faces))])
    return [(Deal(one.number, one.prevalent_wind, one.dealer, one.faces), one.set) for one in listed]


def _from_csv(path: Path) -> list[Planned]:
    rows, fields = read_table(path, NEEDED, ["set"])
    by_deal: dict[str, list[Row]] = {}
    for row in rows:
        by_deal.setdefault(row.cells.get("deal", "").lstrip("0"), []).append(row)
    return every(lambda of_deal: _deal(of_deal, fields), by_deal.values())


def _deal(rows: list[Row], fields: int) -> Planned:
    """Put a deal together from its rows; its lines are all looked at before the deal as a whole is."""
    trays = every(lambda row: _tray(row, fields), rows)
    number = rows[0].number("deal", LAST_DEAL)
    refuse(_contradictions(number, rows))
    faces = dict(trays)
    refuse(_faults(f"deal {number} (lines {rows[0].line} to {rows[-1].line})", faces))
    wished = rows[0].number("set", LAST_SET) if rows[0].cells.get("set") else None
    return Deal(number, _wind(rows[0], "prevalent_wind"), _wind(rows[0], "dealer"), faces), wished


def _tray(row: Row, fields: int) -> tuple[Seat, tuple[str, ...]]:
    """Read one line. Raises RuleError, or several at once."""
    row.whole(fields)
    numbers = {"deal": LAST_DEAL} | ({"set": LAST_SET} if row.cells.get("set") else {})
    tiles = tuple(row.cells[name].lower() for name in TILES)
    checks: list[Callable[[], object]] = [
        *(partial(row.number, name, largest) for name, largest in numbers.items()),
        *(partial(_wind, row, name) for name in ("prevalent_wind", "dealer", "seat")),
        *(partial(_tile, row.line, place, tile) for place, tile in enumerate(tiles, 1)),
    ]
    every(lambda check: check(), checks)
    return _wind(row, "seat"), tiles


def _tile(line: int, place: int, tile: str) -> None:
    if tile not in FACES:
        raise RuleError(
            "not_a_tile", f"line {line}, tile {place}: {repr(tile[:20]) + ' is none' if tile else 'missing'}"
        )


def _wind(row: Row, name: str) -> Seat:
    """Read a seat or a wind: the same four words."""
    text = row.cells[name].lower()
    for word in get_args(Seat):
        if word == text:
            return word  # type: ignore[no-any-return] # the words of a Literal are that Literal
    raise RuleError("seat_unknown", f"line {row.line}: {name} {text[:20]!r} is none of {', '.join(SEATS)}")


def _contradictions(number: int, rows: list[Row]) -> Iterator[RuleError]:
    for name in ("prevalent_wind", "dealer", "set"):
        said = sorted({row.cells.get(name, "").lower() for row in rows})
        if len(said) > 1:
            lines = f"lines {rows[0].line} to {rows[-1].line}"
            yield RuleError("deal_contradicts_itself", f"deal {number} ({lines}): {name} is {' and '.join(said)}")
    first: dict[str, int] = {}
    for row in rows:
        seat = row.cells["seat"].lower()
        if seat in first:
            text = f"line {row.line}: deal {number} has a tray for {seat} in line {first[seat]}"
            yield RuleError("deal_twice", text)
        first.setdefault(seat, row.line)
    for seat in SEATS:
        if seat not in first:
            yield RuleError("seat_missing", f"deal {number}: there is no line for {seat}")


def _faults(where: str, faces: Mapping[Seat, tuple[str, ...]]) -> Iterable[RuleError]:
    return (RuleError("not_a_deal", f"{where}: {fault}") for fault in faults_of_deal(faces))
