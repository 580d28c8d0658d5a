"""A tournament's results in the columns that the European Mahjong Association accepts.

The columns, their order and the missing zero of seven-digit numbers follow the association's own import of its results
workbook (github.com/Jesterboxboy/ema_scraper, get_results.py). What goes into them for a duplicate event is our
interpretation: docs/records.md.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from broker.errors import RuleError, flatten_errors, reason
from broker.event import PLAYERS, CsvRow, Event, ListedPlayer, as_corrections, read_csv, read_players
from broker.i18n import N_
from broker.scorer import StoredEvent
from broker.scoring import Ranked
from broker.spreadsheet import CsvCell, csv_text, decimal

HEADER: Final = (*("place", "first_name", "last_name", "ema_number", "table_points", "score", "ema_member", "country"),)

NUMBER: Final = re.compile(r"[0-9]{8}")
DIGITS: Final = 8
COUNTRY: Final = re.compile(r"[A-Za-z]{2,3}")
PLAYER_COLUMNS: Final = ("id", "ema", "last_name", "first_name", "country")


class Entrant(NamedTuple):
    """A player's details for the association. The number is empty for non-members."""

    ema: str
    last_name: str
    first_name: str
    country: str


def read_entrants(path: Path) -> dict[str, Entrant]:
    """Read the list of players: CSV with the columns id, ema, last_name, first_name, country.

    Raises RuleError `bad_players`, which names the line.
    """
    try:
        rows, _ = read_csv(path, PLAYER_COLUMNS, None)
    except RuleError as problem:
        raise RuleError("bad_players", problem.text) from None
    except OSError as error:
        raise RuleError("bad_players", N_("{where}: {problem}", where=path.name, problem=reason(error))) from None
    return _entrants(rows, path.name)


def entrants_of(folder: Path, event: Event) -> dict[str, Entrant]:
    """Return the entrants from `players.csv` in an event's folder, with the corrections of its plan.

    A name without parts becomes the last name. Raises RuleError `bad_players`.
    """
    path = folder / PLAYERS
    try:
        listed = read_players(path) if path.exists() else ()
    except (RuleError, ExceptionGroup, OSError) as problem:
        raise RuleError("bad_players", N_("{where}: {problem}", where=path.name, problem=_first(problem))) from None
    return {one.player.id: _entrant_of(one) for one in as_corrections(listed, event.corrections)}


def _first(problem: Exception) -> str:
    return flatten_errors(problem)[0].text if isinstance(problem, ExceptionGroup) else str(problem)


def _entrant_of(one: ListedPlayer) -> Entrant:
    details = one.details
    last_name = one.last_name if one.first_name or one.last_name else one.player.name
    return _entrant(details["ema"], last_name, one.first_name, details["country"])


def _entrants(rows: Iterable[CsvRow], name: str) -> dict[str, Entrant]:
    entrants: dict[str, Entrant] = {}
    for row in rows:
        cells = {column: row.cells.get(column, "") for column in PLAYER_COLUMNS}
        try:
            player = cells.pop("id")
            if player in entrants:
                raise RuleError("bad_players", f"{player[:40]} is listed twice")
            entrants[player] = _entrant(**cells)
        except RuleError as problem:
            raise RuleError(
                "bad_players",
                N_("{file}, line {line}: {problem}", file=name, line=row.line, problem=problem.text),
            ) from None
    _refuse_shared(entrants, name)
    return entrants


def _entrant(ema: str, last_name: str, first_name: str, country: str) -> Entrant:
    number = ema.zfill(DIGITS) if len(ema) == DIGITS - 1 else ema  # a spreadsheet has removed the leading zero
    if number and not NUMBER.fullmatch(number):
        raise RuleError("bad_players", f"{ema[:40]!r} is no EMA number: {DIGITS} digits")
    if country and not COUNTRY.fullmatch(country):
        raise RuleError(
            "bad_players", N_("{text} is not a country code: use two or three letters", text=repr(country[:40]))
        )
    return Entrant(number, last_name, first_name, country.upper())


def _refuse_shared(entrants: Mapping[str, Entrant], name: str) -> None:
    times = Counter(entrant.ema for entrant in entrants.values() if entrant.ema)
    if shared := [number for number, count in times.items() if count > 1]:
        raise RuleError("bad_players", f"{name}: two players have the number {shared[0]}")


class EmaReport(NamedTuple):
    """The file, and the ids of players whom the association could not identify."""

    text: str
    without_number: tuple[str, ...]


def ema_report(stored: StoredEvent, entrants: Mapping[str, Entrant]) -> EmaReport:
    """Return the results of an event. Players who have not played are left out."""
    points = _points(stored)
    ranked = [line for line in stored.state.snapshot().ranking if line.plays]
    # Do not guess which part of a name is the family name.
    unlisted = {line.name: Entrant("", stored.event.name_of(line.name), "", "") for line in ranked}
    found = {player: entrants.get(player, one) for player, one in unlisted.items()}
    sections = stored.state.snapshot().section_of
    keys = {line.name: (-sections[line.name].stage if sections else 0, line.place) for line in ranked}
    in_order = sorted(keys.values())
    places = {name: 1 + bisect_left(in_order, key) for name, key in keys.items()}  # sections share places
    text = csv_text(HEADER, (_cells(places[line.name], line, found[line.name], points[line.name]) for line in ranked))
    return EmaReport(text, tuple(line.name for line in ranked if not found[line.name].ema))


def _points(stored: StoredEvent) -> Counter[str]:
    total: Counter[str] = Counter()
    for _, counted in stored.played():
        for seat, player in counted.players.items():
            total[player] += (counted.points or {})[seat]
    return total


def _cells(place: int, line: Ranked, entrant: Entrant, points: int) -> Iterable[CsvCell]:
    member = 1 if entrant.ema else 0
    names = entrant.first_name, entrant.last_name
    return place, *names, entrant.ema, points, decimal(line.imp), member, entrant.country
