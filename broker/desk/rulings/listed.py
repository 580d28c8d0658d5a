"""The history of rulings, and of what else arbiters did at the tables: to read, to filter and to take away."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from heapq import merge
from operator import itemgetter
from typing import Any, Final

import msgspec
from msgspec import Struct

from broker.contract.rulings import AnyDecision, PlayerCorrected, Undo, named
from broker.scorer.cells import as_csv
from broker.scorer.rulings.book import Book
from broker.scorer.rulings.entry import Entry
from broker.scorer.visits import Visit

HEADER = (
    "id",
    "time",
    "kind",
    "table",
    "round",
    "deal",
    "players",
    "author",
    "role",
    "counts",
    "taken_back_by",
    "reason",
    "decision",
)


NOBODY: Final = "?"
"""No player's id."""


class Line(Struct, frozen=True):
    """One ruling, and whether it counts."""

    entry: Entry
    counts: bool
    players: tuple[str, ...]
    undoes: Entry | None
    undone_by: str | None


def lines(book: Book) -> list[Line]:
    """Give all rulings, newest first."""
    undone_by = {
        entry.decision.ruling: entry.id
        for entry in book.entries.values()
        if isinstance(entry.decision, Undo) and book.counts(entry.id)
    }
    return [_line(book, entry, undone_by) for entry in reversed(book.entries.values())]


def _line(book: Book, entry: Entry, undone_by: Mapping[str, str]) -> Line:
    undoes = book.entries.get(entry.decision.ruling) if isinstance(entry.decision, Undo) else None
    players = tuple(named(book.root(entry).decision))
    return Line(entry, book.counts(entry.id), players, undoes, undone_by.get(entry.id))


def filtered(listed: Iterable[Line], wishes: Mapping[str, str]) -> list[Line]:
    """Keep the lines that fit all wishes: `play` (table-round), `deal`, `kind`, `player`, `author`, `counts`.

    `player`: the ids of all who may be meant, blanks between.
    """
    return [line for line in listed if all(TESTS[name](line, wish) for name, wish in _asked(wishes))]


def around(visits: Iterable[Visit], wishes: Mapping[str, str]) -> list[Visit]:
    """Keep what fits all wishes; a wish that only a ruling can fit leaves nothing."""
    return [one for one in visits if all(AROUND[name](one, wish) for name, wish in _asked(wishes))]


def _asked(wishes: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, wishes[name].strip()) for name in TESTS if wishes.get(name, "").strip()]


def _play(line: Line) -> str:
    entry = line.undoes or line.entry
    return f"{entry.table}-{entry.round}"


TESTS: Final[Mapping[str, Callable[[Line, str], bool]]] = {
    "play": lambda line, wish: _play(line) == wish,
    "deal": lambda line, wish: str(line.entry.deal) == wish,
    "kind": lambda line, wish: line.entry.kind == wish,
    "player": lambda line, wish: not set(wish.split()).isdisjoint(line.players),
    "author": lambda line, wish: wish.lower() in line.entry.author.lower(),
    "counts": lambda line, wish: line.counts == (wish == "yes"),
}

AROUND: Final[Mapping[str, Callable[[Visit, str], bool]]] = {
    "play": lambda one, wish: f"{one.table}-{one.fact.round}" == wish,
    "deal": lambda one, wish: str(one.fact.deal) == wish,
    "kind": lambda one, wish: one.kind == wish,
    "player": lambda _one, _wish: False,
    "author": lambda one, wish: wish.lower() in one.author.lower(),
    "counts": lambda _one, _wish: False,
}

Row = tuple[str | int, ...]

PRIVATE: Final = ("national", "ema")
"""What a correction of a player says that is for federations, and for those who set the event up."""


def _decided(decision: AnyDecision, *, numbers: bool) -> dict[str, Any]:
    """Give a decision as it was stored; without `numbers` those of players are not in it."""
    told: dict[str, Any] = msgspec.to_builtins(decision)
    if isinstance(decision, PlayerCorrected) and not numbers:
        return {name: value for name, value in told.items() if name not in PRIVATE}
    return told


def csv(listed: Iterable[Line], visits: Iterable[Visit], *, numbers: bool) -> str:
    """Write both for spreadsheets, oldest first; rulings stay in the order in which they were given.

    `numbers`: those of players too.
    """
    rulings = ((line.entry.at, _cells(line, numbers=numbers)) for line in reversed(list(listed)))
    others = ((one.at, _cells_around(one)) for one in visits)
    return as_csv(HEADER, (row for _, row in merge(rulings, others, key=itemgetter(0))))


def _cells(line: Line, *, numbers: bool) -> Row:
    entry = line.entry
    place = tuple("" if part is None else part for part in (entry.table, entry.round, entry.deal))
    said = msgspec.json.encode(_decided(entry.decision, numbers=numbers)).decode()
    return (
        entry.id,
        _moment(entry.at),
        entry.kind,
        *place,
        " ".join(line.players),
        entry.author,
        entry.role,
        "yes" if line.counts else "no",
        line.undone_by or "",
        entry.reason,
        said,
    )


def _cells_around(one: Visit) -> Row:
    said, about = msgspec.json.encode(one.fact).decode(), (one.table, one.fact.round, one.fact.deal)
    return (one.id, _moment(one.at), one.kind, *about, "", one.author, "", "", "", one.reason, said)


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")


def json(listed: Iterable[Line], visits: Iterable[Visit], *, numbers: bool) -> bytes:
    """Write both for programs, oldest first. `numbers`: those of players too."""
    rows: list[dict[str, Any]] = [
        msgspec.to_builtins(line.entry)
        | {"decision": _decided(line.entry.decision, numbers=numbers)}
        | {"counts": line.counts, "taken_back_by": line.undone_by}
        for line in reversed(list(listed))
    ]
    told = {"rulings": rows, "at_tables": [msgspec.to_builtins(one) | {"kind": one.kind} for one in visits]}
    return msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n"
