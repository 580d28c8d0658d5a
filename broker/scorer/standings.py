"""Standings as messages and as a CSV file that spreadsheets open safely."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, overload

from broker.contract.messages import Standing, TeamStanding
from broker.contract.plans import Player
from broker.scorer import cells
from broker.scorer.cells import decimal
from broker.scorer.origins import UNKNOWN, Origin
from broker.scoring.bounds import Bounds
from broker.scoring.ranking import Ranked, Ranking
from broker.scoring.written import written

HEADER: Final = ("place", "player", "name", "imp", "fines", "plays", "country", "club")


class Named(Sequence[Standing]):
    """The lines of a ranking, with names: each is made when it is read, for of thousands a page shows a few."""

    def __init__(self, ranking: Ranking, players: Mapping[str, Player]) -> None:
        self._ranking, self._players = ranking, players

    def __len__(self) -> int:
        return len(self._ranking)

    @overload
    def __getitem__(self, at: int) -> Standing: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Standing, ...]: ...

    def __getitem__(self, at: int | slice) -> Standing | tuple[Standing, ...]:
        if isinstance(at, slice):
            return rows(self._ranking[at], self._players)
        return _row(self._ranking[at], self._players)

    def __iter__(self) -> Iterator[Standing]:
        return (_row(line, self._players) for line in self._ranking)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def rows(ranked: Iterable[Ranked], players: Mapping[str, Player]) -> tuple[Standing, ...]:
    """Give the lines of the standings, with names."""
    return tuple(_row(line, players) for line in ranked)


def _row(line: Ranked, players: Mapping[str, Player]) -> Standing:
    return Standing(
        place=line.place,
        player=line.name,
        name=players[line.name].name if line.name in players else line.name,
        imp=written(line.imp),
        fines=line.fines,
        plays=line.plays,
    )


def team_rows(ranked: Iterable[Ranked], bounds: Mapping[str, Bounds]) -> tuple[TeamStanding, ...]:
    """Give the lines of the teams' standings, with the places that each can still reach."""
    return tuple(_team_row(line, bounds[line.name]) for line in ranked)


def _team_row(line: Ranked, reach: Bounds) -> TeamStanding:
    return TeamStanding(
        place=line.place,
        team=line.name,
        imp=written(line.imp),
        fines=line.fines,
        deals=line.plays,
        best=reach.best,
        worst=reach.worst,
    )


def nowhere(_player: str) -> Origin:
    """Give the origin of who is in no list."""
    return UNKNOWN


def as_csv(standings: Iterable[Standing], origin_of: Callable[[str], Origin] = nowhere) -> str:
    """Write the standings; IMPs stay numbers. New columns come last: programs count columns."""
    lines = (
        (row.place, row.player, row.name, decimal(row.imp), row.fines, row.plays, *origin_of(row.player))
        for row in standings
    )
    return cells.as_csv(HEADER, lines)


def write_csv(path: Path, standings: Iterable[Standing], origin_of: Callable[[str], Origin] = nowhere) -> None:
    """Put the file in place whole: a reader sees the old one or the new one.

    Nobody waits for the disk: it is made from the store, and anew at every start. On a busy disk that takes a second.
    """
    beside = path.with_suffix(".csv.new")
    with beside.open("w", encoding="utf-8", newline="") as file:
        file.write(as_csv(standings, origin_of))
    beside.replace(path)
