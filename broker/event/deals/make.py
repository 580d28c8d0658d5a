"""Making an event's deals: shuffled by a cryptographic generator, or imported from a list in CSV or JSON."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Final, TypeVar, get_args

import msgspec
from msgspec import Struct

from broker.errors import collect_errors, raise_errors
from broker.event.deals.commitment import COMMITMENT, SALT_BYTES, publish_commitment
from broker.event.deals.tile_sets import LAST_SET, faults_of_deal
from broker.event.file_io import CsvRow, decode_json, read_csv, read_json
from broker.event.files import DEALS, DealRecord, write_deals
from broker.event.movement import MovementPlay
from broker.i18n import N_
from broker.protocol import SEATS, DealNo, Seat, SetNo, Wind
from broker.rules import FACES, TRAY, Deal, RuleError, Shuffler, new_deal

DEFAULT_WINDS: Final[tuple[Wind, ...]] = tuple(wind for wind in SEATS for _ in SEATS)
"""Prevalent winds as in a session of standard MCR: four deals in each wind, with each seat dealing once."""

W = TypeVar("W")

PlannedDeal = tuple[Deal, int | None]
"""A deal, and the tile set for its carrier; None if the list does not give it."""


def mix_deals(
    count: int,
    winds: Sequence[Wind],
    dealers: Sequence[Seat],
    sets: Sequence[int],
    shuffler: Shuffler,
    *,
    red: bool = False,
) -> list[PlannedDeal]:
    """Shuffle the deals 1 to `count`, taking prevalent winds, dealers and sets from the given lists in turn.

    Without `sets` each deal has None, which `salt_deals` resolves. With `red`, each suit has a red five.
    """
    return [
        (
            new_deal(number, _in_turn(winds, number), _in_turn(dealers, number), shuffler, red=red),
            _in_turn(sets, number) if sets else None,
        )
        for number in range(1, count + 1)
    ]


def _in_turn(words: Sequence[W], number: int) -> W:
    return words[(number - 1) % len(words)]


def salt_deals(planned: Iterable[PlannedDeal]) -> list[DealRecord]:
    """Return deals for `deals.json`, ordered by number, each with a new salt. By default deal 7 uses set 7.

    Raises RuleError `set_not_said` if a deal's number is too large to be a set number.
    """
    return [
        DealRecord(
            number=deal.number,
            set=set_of_deal(deal.number, preferred),
            prevalent_wind=deal.prevalent_wind,
            dealer=deal.dealer,
            faces=dict(deal.faces),
            salt=secrets.token_hex(SALT_BYTES),
        )
        for deal, preferred in sorted(planned, key=lambda one: one[0].number)
    ]


def allot_sets(plays: Iterable[MovementPlay]) -> list[int]:
    """Return the set of each deal from deal 1 on, or an empty list if each deal can use the set with its own number.

    If there are more deals than set numbers, a set is reused once its deal is over. Raises RuleError `too_many_sets`.
    """
    rounds: dict[int, list[int]] = {}
    for play in plays:
        rounds.setdefault(play.deal, []).append(play.round)
    if max(rounds, default=0) <= LAST_SET:
        return []
    found, over = dict[int, int](), [(0, number) for number in range(1, LAST_SET + 1)]
    heapify(over)
    for deal, played in sorted(rounds.items(), key=lambda one: (min(one[1]), one[0])):
        last, number = heappop(over)
        if last >= min(played):
            raise too_many_sets(1 + LAST_SET)
        found[deal] = number
        heappush(over, (max(played), number))
    return [found.get(deal, 1) for deal in range(1, max(found) + 1)]


def too_many_sets(count: int) -> RuleError:
    """Return the error for a movement that plays more deals at once than there are set numbers."""
    return RuleError(
        "too_many_sets",
        N_(
            "{count} deals are played at once, and set numbers end at {most}: use several carriers for each deal",
            count=count,
            most=LAST_SET,
        ),
    )


def set_of_deal(number: int, preferred: int | None) -> int:
    """Return the set of a deal: `preferred`, or the set with the deal's number. Raises RuleError `set_not_said`."""
    if preferred is None and number > LAST_SET:
        raise RuleError(
            "set_not_said",
            N_("set numbers go up to {most}: give the set number of deal {deal}", most=LAST_SET, deal=number),
        )
    return number if preferred is None else preferred


def refuse_existing_deals(folder: Path) -> None:
    """Raise RuleError `deals_exist` if there are deals or a commitment, `draw_open` if a draw awaits its words."""
    for name in (DEALS, COMMITMENT):
        if (folder / name).exists():
            raise RuleError(
                "deals_exist", N_("{folder} already has {file}; it was not changed", file=name, folder=folder)
            )
    if (folder / DRAW_KEY).exists():
        raise RuleError("draw_open", N_("a draw has already been announced: enter its words, or abandon it"))


DRAW_KEY: Final = "draw.key"
"""Exists while a draw is open. Like `deals.key`, it is never included in a backup."""


def save_deals(folder: Path, event: str, deals: Iterable[DealRecord]) -> str:
    """Write the deals and the commitment to them; return its root. Raises RuleError `deals_exist`, OSError.

    If it is interrupted between the two files, `homologue deal commit` completes it.
    """
    refuse_existing_deals(folder)
    records = tuple(deals)
    write_deals(folder, records)
    return publish_commitment(folder, event, records)


PLACES: Final = tuple(str(place) for place in range(1, TRAY + 1))
"""Column headings of a seat's 34 tiles: the hand, then the wall in drawing order."""

REQUIRED_COLUMNS: Final = ("deal", "prevalent_wind", "dealer", "seat", *PLACES)
LAST_DEAL: Final = 9999


class ListedDeal(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal of a JSON list: an entry of `deals.json`, but `set` may be omitted, and `salt` is ignored."""

    number: DealNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]]
    set: SetNo | None = None
    salt: str | None = None


def read_deal_list(path: Path) -> list[PlannedDeal]:
    """Read a list of deals: JSON if the name ends in `.json`, else CSV.

    Raises RuleError, or an ExceptionGroup of them, each of which names the line or the place in the list; OSError.
    """
    found = _from_json(path) if path.suffix.lower() == ".json" else _from_csv(path)
    if not found:
        raise RuleError("no_deal", N_("{file} contains no deals", file=path.name))
    return found


def _from_json(path: Path) -> list[PlannedDeal]:
    entries = read_json(path, list[msgspec.Raw])
    if len(entries) > LAST_DEAL:
        text = N_(
            "{file} contains {count} deals; the maximum is {most}", file=path.name, count=len(entries), most=LAST_DEAL
        )
        raise RuleError("too_large", text)
    listed = collect_errors(
        lambda entry: decode_json(entry[1], ListedDeal, f"deal in place {entry[0]} of the list"), enumerate(entries, 1)
    )
    counted = Counter(deal.number for deal in listed)
    twice = [
        RuleError("deal_twice", N_("deal {deal} is listed {count} times", deal=number, count=n))
        for number, n in counted.items()
        if n > 1
    ]
    raise_errors([*twice, *(fault for deal in listed for fault in _faults(f"deal {deal.number}", deal.faces))])
    return [(Deal(deal.number, deal.prevalent_wind, deal.dealer, deal.faces), deal.set) for deal in listed]


def _from_csv(path: Path) -> list[PlannedDeal]:
    rows, fields = read_csv(path, REQUIRED_COLUMNS, ["set"])
    by_deal: dict[str, list[CsvRow]] = {}
    for row in rows:
        by_deal.setdefault(row.cells.get("deal", "").lstrip("0"), []).append(row)
    return collect_errors(lambda of_deal: _deal(of_deal, fields), by_deal.values())


def _deal(rows: list[CsvRow], fields: int) -> PlannedDeal:
    """Build a deal from its rows. All rows are checked before the deal as a whole."""
    trays = collect_errors(lambda row: _tray(row, fields), rows)
    number = rows[0].number("deal", LAST_DEAL)
    raise_errors(_contradictions(number, rows))
    faces = dict(trays)
    raise_errors(_faults(f"deal {number} (lines {rows[0].line} to {rows[-1].line})", faces))
    preferred = rows[0].number("set", LAST_SET) if rows[0].cells.get("set") else None
    return Deal(number, _wind(rows[0], "prevalent_wind"), _wind(rows[0], "dealer"), faces), preferred


def _tray(row: CsvRow, fields: int) -> tuple[Seat, tuple[str, ...]]:
    """Return the seat and the tiles of one row. Raises RuleError, or an ExceptionGroup of them."""
    row.whole(fields)
    numbers = {"deal": LAST_DEAL} | ({"set": LAST_SET} if row.cells.get("set") else {})
    tiles = tuple(row.cells[name].lower() for name in PLACES)
    checks: list[Callable[[], object]] = [
        *(partial(row.number, name, largest) for name, largest in numbers.items()),
        *(partial(_wind, row, name) for name in ("prevalent_wind", "dealer", "seat")),
        *(partial(_tile, row.at(str(place)), place, tile) for place, tile in enumerate(tiles, 1)),
    ]
    collect_errors(lambda check: check(), checks)
    return _wind(row, "seat"), tiles


def _tile(line: int | str, place: int, tile: str) -> None:
    if tile not in FACES:
        raise RuleError(
            "not_a_tile", f"line {line}, tile {place}: {repr(tile[:20]) + ' is not a tile' if tile else 'missing'}"
        )


def _wind(row: CsvRow, name: str) -> Seat:
    """Return a cell as a seat or a wind, which are the same four words."""
    text = row.cells[name].lower()
    for word in get_args(Seat):
        if word == text:
            return word  # type: ignore[no-any-return] # mypy: get_args loses the Literal
    why = N_(
        "line {line}: {field} is {text}; it must be one of {known}",
        line=row.at(name),
        field=name,
        text=repr(text[:20]),
        known=", ".join(SEATS),
    )
    raise RuleError("seat_unknown", why)


def _contradictions(number: int, rows: list[CsvRow]) -> Iterator[RuleError]:
    for name in ("prevalent_wind", "dealer", "set"):
        values = sorted({row.cells.get(name, "").lower() for row in rows})
        if len(values) > 1:
            lines = f"lines {rows[0].line} to {rows[-1].line}"
            yield RuleError("deal_contradicts_itself", f"deal {number} ({lines}): {name} is {' and '.join(values)}")
    first: dict[str, int | str] = {}
    for row in rows:
        seat = row.cells["seat"].lower()
        if seat in first:
            text = f"line {row.line}: deal {number} has a tray for {seat} in line {first[seat]}"
            yield RuleError("deal_twice", text)
        first.setdefault(seat, row.line)
    for seat in SEATS:
        if seat not in first:
            yield RuleError("seat_missing", N_("deal {deal}: the line for {seat} is missing", deal=number, seat=seat))


def _faults(where: str, faces: Mapping[Seat, tuple[str, ...]]) -> Iterable[RuleError]:
    return (
        RuleError("not_a_deal", N_("{where}: {problem}", where=where, problem=fault)) for fault in faults_of_deal(faces)
    )
