"""Standings as messages and as a CSV file that spreadsheets open safely."""

import csv
import io
import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Final

from broker.contract.messages import Player, Standing
from broker.scoring.ranking import Ranked
from broker.scoring.written import written

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the beginning of a formula, full width too."""

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


def as_csv(standings: Iterable[Standing]) -> str:
    """Write CSV (RFC 4180). A name that a spreadsheet would take for a formula gets an apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADER)
    for row in standings:
        writer.writerow((row.place, _inert(row.player), _inert(row.name), _decimal(row.imp), row.fines, row.plays))
    return out.getvalue()


def _decimal(imp: int | str) -> int | str:
    """Write a fraction as a decimal: a spreadsheet would take 7/3 for a day in March."""
    return imp if isinstance(imp, int) else f"{float(Fraction(imp)):.3f}"


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def write_csv(path: Path, standings: Iterable[Standing]) -> None:
    """Put the file in place whole: a reader sees the old one or the new one."""
    beside = path.with_suffix(".csv.new")
    with beside.open("w", encoding="utf-8", newline="") as file:
        file.write(as_csv(standings))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
