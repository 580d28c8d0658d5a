"""The plays of a movement as CSV: an organiser's file, or an event's `movement.csv`.

An event may have many thousands of plays, but few different cells. Each distinct text is parsed once, so that 160,000
plays take a fraction of a second.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from broker.event.movement.plays import MovementPlay
from broker.i18n import N_
from broker.protocol import SEATS, DealNo, PlayerId, RoundNo, Seat, TableNo
from broker.rules import RuleError
from broker.spreadsheet import BadRow, SheetRows, columns, csv_text, read_grid

MOVEMENT_COLUMNS: Final = ("round", "table", "deal", *SEATS)

NUMBER: Final = re.compile(r"[0-9]{1,4}", re.ASCII)

K = TypeVar("K")
V = TypeVar("V")
P = TypeVar("P")

MakePlay = Callable[[int, int, int, dict[Seat, PlayerId]], P]
"""Constructor of a play from round, table, deal and players. Plays of the same four players share one dictionary."""


@dataclass(frozen=True, slots=True)
class MovementProblem:
    """A problem on a line of a file."""

    code: str
    text: str
    line: int


class CsvPlays(NamedTuple, Generic[P]):
    """The content of a file: plays in order, the line of each, and the lines that could not be read."""

    plays: list[P]
    lines: list[int]
    problems: list[MovementProblem]


class _Readings(dict[K, V]):
    """A cache of parsed texts: each is parsed when it is first looked up."""

    def __init__(self, read: Callable[[K], V]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: K) -> V:
        found = self[text] = self._read(text)
        return found


def decode_movement(content: bytes, make: MakePlay[P], most: int | None = None) -> CsvPlays[P]:
    """Read plays. Faulty lines, and plays beyond `most`, are reported in `problems`; the other lines are read."""
    plays, lines, problems = found = CsvPlays[P]([], [], [])
    try:
        grid = read_grid(content)
    except RuleError as problem:
        problems.append(MovementProblem(problem.code, problem.text, 1))
        return found
    read = None
    for line, cells in _rows(grid, problems):
        try:
            if read is None:
                read = _reader(cells, make)
            elif most is not None and len(plays) >= most:
                raise RuleError("too_large", N_("more than {most} plays", most=most))
            else:
                plays.append(read(cells))
                lines.append(line)
        except RuleError as problem:
            problems.append(MovementProblem(problem.code, problem.text, line))
            if read is None or problem.code == "too_large":
                break
    if not plays and not problems:
        problems.append(MovementProblem("no_plays", N_("this file contains no plays"), 1))
    return found


def _rows(grid: SheetRows, problems: list[MovementProblem]) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and cells of each row. Reading stops, with a problem, at a quote that is never closed."""
    try:
        yield from grid.rows
    except BadRow as bad:
        problems.append(MovementProblem(bad.code, bad.text, bad.row))


def _reader(header: Sequence[str], make: MakePlay[P]) -> Callable[[Sequence[str]], P]:
    """Return a function that reads the rows below a header. Both raise RuleError."""
    names = _columns(header)
    in_order = itemgetter(*(names.index(column) for column in MOVEMENT_COLUMNS))
    rounds = _Readings(partial(_number, "round", RoundNo))
    tables = _Readings(partial(_number, "table", TableNo))
    deals = _Readings(partial(_number, "deal", DealNo))
    ids = _Readings(read_player_id)
    fours = _Readings[tuple[str, ...], dict[Seat, str]](
        lambda four: {seat: ids[one] for seat, one in zip(SEATS, four, strict=True)}
    )

    def read(cells: Sequence[str]) -> P:
        if len(cells) != len(names):
            raise RuleError(
                "malformed", N_("fields: {cells} instead of {columns}", cells=len(cells), columns=len(names))
            )
        ordered = in_order(cells)
        return make(rounds[ordered[0]], tables[ordered[1]], deals[ordered[2]], fours[ordered[3:]])

    return read


def _columns(cells: Sequence[str]) -> Sequence[str]:
    names = columns(cells)
    unknown = [name for name in names if name not in MOVEMENT_COLUMNS]
    if unknown:
        text = N_(
            "unknown column {column}; the columns are {known}",
            column=repr(unknown[0][:40]),
            known=", ".join(MOVEMENT_COLUMNS),
        )
        raise RuleError("unknown_column", text)
    missing = [name for name in MOVEMENT_COLUMNS if name not in names]
    if missing:
        raise RuleError(
            "missing_column", N_("columns missing from the first line: {columns}", columns=", ".join(missing))
        )
    if len(names) > len(MOVEMENT_COLUMNS):
        raise RuleError("malformed", N_("the first line names a column twice"))
    return names


def _number(column: str, kind: object, cell: str) -> int:
    text = cell.strip()
    try:
        return int(msgspec.convert(int(text) if NUMBER.fullmatch(text) else text, kind))
    except msgspec.ValidationError:
        raise RuleError(
            "malformed", N_("{text} is not a valid {column} number", text=repr(text[:40]), column=column)
        ) from None


def read_player_id(text: str) -> str:
    """Return a player's id, without the apostrophe that protects it in spreadsheets. Raises RuleError `malformed`."""
    text = text.strip()
    try:
        return msgspec.convert(text.removeprefix("'"), PlayerId)
    except msgspec.ValidationError:
        raise RuleError(
            "malformed", N_("{text} is not a player id (1 to 32 letters, digits, - and _)", text=repr(text[:40]))
        ) from None


def movement_csv(plays: Iterable[MovementPlay]) -> str:
    """Return plays as CSV (RFC 4180).

    An id that a spreadsheet would take for a formula gets a leading apostrophe, which `decode_movement` removes.
    """
    return csv_text(
        MOVEMENT_COLUMNS, ((p.round, p.table, p.deal, *(str(p.players[seat]) for seat in SEATS)) for p in plays)
    )
