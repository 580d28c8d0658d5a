"""Where players come from: country and club, as `players.csv` in the event's folder says.

Nothing is reckoned by it, so the scorer goes on without: what of the list cannot be read is as if it were not said.
`homologue event check` names what is wrong with the list.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from broker.contract.words import COUNTRY, LONGEST_LINE, PlayerId

PLAYERS: Final = "players.csv"
DELIMITERS: Final = ",;\t"


class Origin(NamedTuple):
    """Of one player; empty: not said."""

    country: str = ""
    club: str = ""


UNKNOWN: Final = Origin()

Origins = Mapping[PlayerId, Origin]


def read_origins(folder: Path) -> Origins:
    """Read them; nobody's where there is no list."""
    try:
        text = (folder / PLAYERS).read_text(encoding="utf-8-sig")
        return {player: origin for player, origin in _lines(text) if origin != UNKNOWN}
    except (OSError, ValueError, csv.Error):
        return {}


def _lines(text: str) -> Iterator[tuple[PlayerId, Origin]]:
    heading = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=heading.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names = [name.strip().lower() for name in next(lines, [])]
    for fields in lines:
        cells = dict(zip(names, map(_plain, fields), strict=False))
        country, club = cells.get("country", ""), cells.get("club", "")
        yield cells.get("id", ""), Origin(country if re.fullmatch(COUNTRY, country) else "", club)


def _plain(text: str) -> str:
    """Give a field without the apostrophe that keeps spreadsheets from reckoning; nothing where no screen shows it."""
    text = " ".join(text.strip().removeprefix("'").split())
    return text if text.isprintable() and len(text) <= LONGEST_LINE else ""
