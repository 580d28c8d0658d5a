"""The history of rulings as lines to read, to filter and to take away."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from broker.contract.rulings import Undo, named
from broker.scorer.cells import as_csv
from broker.scorer.rulings.book import Book
from broker.scorer.rulings.entry import Entry

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
    """Keep the lines that fit all wishes: `play` (table-round), `deal`, `kind`, `player`, `author`, `counts`."""
    asked = {name: wishes[name].strip() for name in TESTS if wishes.get(name, "").strip()}
    return [line for line in listed if all(TESTS[name](line, wish) for name, wish in asked.items())]


def _play(line: Line) -> str:
    entry = line.undoes or line.entry
    return f"{entry.table}-{entry.round}"


TESTS: Final[Mapping[str, Callable[[Line, str], bool]]] = {
    "play": lambda line, wish: _play(line) == wish,
    "deal": lambda line, wish: str(line.entry.deal) == wish,
    "kind": lambda line, wish: line.entry.kind == wish,
    "player": lambda line, wish: wish in line.players,
    "author": lambda line, wish: wish.lower() in line.entry.author.lower(),
    "counts": lambda line, wish: line.counts == (wish == "yes"),
}


def csv(listed: Iterable[Line]) -> str:
    """Write lines for spreadsheets, oldest first."""
    return as_csv(HEADER, (_cells(line) for line in reversed(list(listed))))


def _cells(line: Line) -> tuple[str | int, ...]:
    entry = line.entry
    moment = datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="seconds")
    place = tuple("" if part is None else part for part in (entry.table, entry.round, entry.deal))
    said = msgspec.json.encode(entry.decision).decode()
    return (
        entry.id,
        moment,
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


def json(listed: Iterable[Line]) -> bytes:
    """Write lines for programs, oldest first."""
    rows: list[dict[str, Any]] = [
        msgspec.to_builtins(line.entry) | {"counts": line.counts, "taken_back_by": line.undone_by}
        for line in reversed(list(listed))
    ]
    return msgspec.json.format(msgspec.json.encode({"rulings": rows}), indent=1) + b"\n"
