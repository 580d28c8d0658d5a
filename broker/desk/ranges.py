"""Numbers of tables as people write them: `1 2 5-70`. Pure."""

import re
from collections.abc import Iterable
from typing import Final

from broker.contract.words import LAST_TABLE
from broker.desk.errors import TablesUnreadable

TICKED: Final = 60
"""In a hall of so many tables each has a box to tick; in a larger one they are written."""

TICKED_ALONE: Final = 12
"""In a room of so many there is no need to write any."""

BETWEEN: Final = re.compile(r"[\s,;、，；]+")
WORD: Final = re.compile(r"([0-9]{1,4})(?:[-\N{EN DASH}]([0-9]{1,4}))?", re.ASCII)
RUN: Final = 3
"""So many that follow each other are written as a range."""


def tables_of(text: str) -> list[int]:
    """Read tables, in the order in which they are written. Raises TablesUnreadable."""
    found: list[int] = []
    for word in filter(None, BETWEEN.split(text)):
        match = WORD.fullmatch(word)
        first = int(match[1]) if match else 0
        last = int(match[2] or first) if match else 0
        if not 1 <= first <= last or len(found) + last - first >= LAST_TABLE:
            raise TablesUnreadable(f"{word[:20]!r} is no table, nor a range of tables as 5-9")
        found.extend(range(first, last + 1))
    return found


def tables_among(known: Iterable[int], text: str) -> list[int]:
    """Read tables that there are. Raises TablesUnreadable."""
    found = tables_of(text)
    if unknown := set(found) - set(known):
        raise TablesUnreadable(f"this event has no table {as_ranges(unknown)[:60]}")
    return found


def as_ranges(tables: Iterable[int], between: str = ", ") -> str:
    """Write tables so that they can be read in a hall of a thousand, and by `tables_of`."""
    runs: list[list[int]] = []
    for table in sorted(set(tables)):
        if runs and table == runs[-1][-1] + 1:
            runs[-1].append(table)
        else:
            runs.append([table])
    return between.join(_written(run, between) for run in runs)


def _written(run: list[int], between: str) -> str:
    return f"{run[0]}-{run[-1]}" if len(run) >= RUN else between.join(map(str, run))
