"""Another Pi takes a table over: with the dead one's card it goes on where that stood, or has its facts to send.

A card out of a dead device may be damaged, and is not to be changed: it is copied first, and all of it is read before
anything is kept.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker.contract.messages import LogMessage
from broker.contract.wire import Refused
from kiosk.core import Core
from kiosk.errors import JournalBroken
from kiosk.journal import Journal, Whose

NAME: Final = "table.sqlite"
"""How every table's journal is named."""

LOG: Final = "-wal"
"""How SQLite names the log beside a file: what was written last is there."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """What came of it."""

    whole: bool
    """The table goes on where the dead device stood; else it had begun anew, and got facts alone."""
    facts: int
    """Facts that the scorer has not said to have."""


def take_over(card: Path, own: Path, whose: Whose) -> TakenOver:
    """Take a dead device's journal into this device's. Raises JournalBroken, JournalInUse, JournalFull."""
    with _copied(card) as copy, closing(_opened(copy, whose)) as dead:
        facts = _checked(dead)
        with closing(Journal(own, whose)) as journal:
            if not journal.empty:
                return TakenOver(whole=False, facts=journal.take_in(facts))
        # Ours has nothing but its own number. Only whole files are put in place, so a cut here does no harm.
        _put_in_place(dead, own)
        return TakenOver(whole=True, facts=len(facts))


def found_on(card: Path, whose: Whose) -> Path:
    """Give the journal of a table that lies anywhere on a dead device's card, the newest. Raises JournalBroken."""
    named = (Path(folder) / NAME for folder, _, files in os.walk(card) if NAME in files)
    ours = [path for path in named if _is_of(path, whose)]
    if not ours:
        raise JournalBroken(f"{card} holds no journal of {whose.event}, table {whose.table}, that can be read")
    return max(ours, key=_written_at)


def _written_at(journal: Path) -> float:
    """Say when something was written last: into the log, where there is one."""
    log = journal.with_name(journal.name + LOG)
    return max(one.stat().st_mtime for one in (journal, log) if one.exists())


def _is_of(card: Path, whose: Whose) -> bool:
    """Say whether a journal is of this event and table; what cannot be read is not."""
    with suppress(JournalBroken, sqlite3.DatabaseError), _copied(card) as copy, closing(sqlite3.connect(copy)) as store:
        about = dict(store.execute("SELECT key, value FROM about WHERE key IN ('event', 'table')").fetchall())
        return about == {"event": whose.event, "table": str(whose.table)}
    return False


@contextmanager
def _copied(card: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "card.sqlite"
        try:
            shutil.copyfile(card, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(card.with_name(card.name + LOG), copy.with_name(copy.name + LOG))
        except OSError as error:
            raise JournalBroken(f"{card}: {error.strerror}") from None
        yield copy


def _opened(copy: Path, whose: Whose) -> Journal:
    """Open it as a kiosk would, which says whether it is of this table and event."""
    with closing(sqlite3.connect(copy)) as store:
        try:
            (verdict,) = store.execute("PRAGMA quick_check(1)").fetchone()
            store.execute("SELECT count(*) FROM happened, about").fetchone()
        except sqlite3.DatabaseError as error:
            raise JournalBroken(f"the card holds no journal that can be read: {error}") from None
    if verdict != "ok":
        raise JournalBroken(f"the card is damaged: {verdict}")
    return Journal(copy, whose)


def _checked(dead: Journal) -> tuple[LogMessage, ...]:
    """Read all of it: every event is played, every fact that has no receipt is given."""
    try:
        Core(dead, wall=lambda: 0)
        return dead.unsent()
    except Refused as refused:
        raise JournalBroken(f"a fact on the card cannot be read: {refused.text}") from None


def _put_in_place(dead: Journal, own: Path) -> None:
    new = own.with_name(f".{own.name}.new")
    new.unlink(missing_ok=True)
    dead.copy_to(new)
    for beside in (LOG, "-shm"):
        own.with_name(own.name + beside).unlink(missing_ok=True)
    new.replace(own)
