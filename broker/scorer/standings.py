"""Standings as messages and as a CSV file that spreadsheets open safely."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from broker.contract.messages import Standing, TeamStanding
from broker.contract.plans import Player
from broker.scorer import cells
from broker.scorer.cells import decimal
from broker.scoring.ranking import Ranked
from broker.scoring.written import written

HEADER: Final = ("place", "player", "name", "imp", "fines", "plays")


def rows(ranked: Iterable[Ranked], players: dict[str, Player]) -> tuple[Standing, ...]:
    """Give the lines of the standings, with names."""
    return tuple(
        Standing(
            place=line.place,
            player=line.name,
            name=players[line.name].name if line.name in players else line.name,
            imp=written(line.imp),
            fines=line.fines,
            plays=line.plays,
        )
        for line in ranked
    )


def team_rows(ranked: Iterable[Ranked]) -> tuple[TeamStanding, ...]:
    """Give the lines of the teams' standings."""
    return tuple(
        TeamStanding(place=line.place, team=line.name, imp=written(line.imp), fines=line.fines, deals=line.plays)
        for line in ranked
    )


def as_csv(standings: Iterable[Standing]) -> str:
    """Write the standings; IMPs stay numbers."""
    lines = ((row.place, row.player, row.name, decimal(row.imp), row.fines, row.plays) for row in standings)
    return cells.as_csv(HEADER, lines)


def write_csv(path: Path, standings: Iterable[Standing]) -> None:
    """Put the file in place whole: a reader sees the old one or the new one."""
    beside = path.with_suffix(".csv.new")
    with beside.open("w", encoding="utf-8", newline="") as file:
        file.write(as_csv(standings))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
