"""Which copies there are, which is next, and which may go. Pure: names in, names out.

Copies are numbered: a clock that was put back makes no old copy the newest.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

NAME: Final = re.compile(r"(?P<event>[a-z0-9][a-z0-9-]*)-backup-(?P<number>\d{6,})-\d{8}T\d{6}Z")


def copies(names: Iterable[str], event: str | None = None) -> list[str]:
    """Give those names that are of copies (of one event), the newest first."""
    found = [match for name in names if (match := NAME.fullmatch(name)) and event in {None, match["event"]}]
    return [match[0] for match in sorted(found, key=lambda match: (match["event"], -int(match["number"])))]


def next_name(names: Iterable[str], event: str, now: int) -> str:
    """Name the copy after those that there are. `now` in ms since 1970; people read it, nothing else does."""
    newest = next(iter(copies(names, event)), None)
    match = NAME.fullmatch(newest) if newest else None
    number = int(match["number"]) + 1 if match else 1
    return f"{event}-backup-{number:06}-{datetime.fromtimestamp(now / 1000, UTC):%Y%m%dT%H%M%SZ}"


def beyond(names: Iterable[str], event: str, keep: int) -> list[str]:
    """Give the copies of an event that are one too many."""
    return copies(names, event)[keep:]
