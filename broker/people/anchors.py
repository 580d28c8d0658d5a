"""Making and checking anchors, which cover an event's journal and audit log together (broker/store/records.py)."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from broker.files import PEOPLE_FILE
from broker.people.accounts import FIRST_DIGEST, AuditEntry, AuditLog, digest_of
from broker.people.copies import open_people
from broker.people.database import PeopleDatabase
from broker.store import (
    FIRST_LINK,
    LINK_ALTERED,
    AnchorPlace,
    Fault,
    LogHead,
    Reader,
    anchor_text,
    database_of,
    event_name,
    find_anchor,
    link_after,
    open_for_reading,
    open_reader,
    sqlite_engine,
)


class CheckedAnchor(NamedTuple):
    """The result of checking an anchor. It holds if it has a place and nothing is listed as changed."""

    place: AnchorPlace | None
    """The position in the journal and the log at which it was made; None if no stored state matches it."""
    rows: tuple[Fault, ...] = ()
    """Journal rows up to that position that have changed."""
    entry: int | None = None
    """The first entry of the audit log, up to that position, that has changed."""

    @property
    def holds(self) -> bool:
        """Whether everything up to the anchor is unchanged."""
        return self.place is not None and not self.rows and self.entry is None


def anchor_of(folder: Path) -> str:
    """Return the anchor of an event's present state. Raises StoreError, PeopleStoreBroken."""
    event = event_name(folder)
    with closing(open_reader(folder, event)) as journal:
        return anchor_text(event, journal.last_link(), _head(_entries(folder)))


def _head(entries: Sequence[AuditEntry]) -> LogHead:
    return LogHead(entries[-1].number, entries[-1].digest) if entries else LogHead()


def check_anchor(folder: Path, typed: str) -> CheckedAnchor:
    """Check that everything stored when an anchor was made is unchanged. Later messages do not matter.

    `folder` is an event's folder or a copy. Raises AnchorMistyped, AnchorElsewhere, StoreError, PeopleStoreBroken.
    """
    event, entries = event_name(folder), _entries(folder)
    with closing(open_reader(folder, event)) as journal:
        with closing(journal.linked_rows()) as rows:
            place = find_anchor(typed, event, rows, [entry.digest for entry in entries])
        if place is None:
            return CheckedAnchor(None)
        return CheckedAnchor(place, _changed_rows(journal, place.messages), _first_changed(entries[: place.entries]))


def _changed_rows(journal: Reader, messages: int) -> tuple[Fault, ...]:
    """Return the faults of the first `messages` rows, except those of rows whose original content still counts."""
    found = list[Fault]()
    with closing(journal.intact(found)) as rows:
        for _ in rows:
            pass
    faults = [fault for fault in found if fault.height <= messages and fault.code != LINK_ALTERED]
    repaired = set(_repaired_heights(journal)) if faults else set()
    return tuple(journal.identify_faults(fault for fault in faults if fault.height not in repaired))


def _repaired_heights(journal: Reader) -> Iterator[int]:
    """Yield the heights of altered rows for which the content that now counts matches their original link."""
    written = {row[0]: (row[1], row[6]) for row in journal.whole_rows()}
    written[0] = 0, FIRST_LINK
    for *_, body, _, height in journal.whole_rows():
        if height in written and height - 1 in written:
            (at, link), (_, before) = written[height], written[height - 1]
            if isinstance(at, int) and link_after(before, height, at, body) == link:
                yield height


def _first_changed(entries: Sequence[AuditEntry]) -> int | None:
    before = FIRST_DIGEST
    for number, entry in enumerate(entries, 1):
        if entry.number != number or entry.digest != digest_of(before, entry):
            return number
        before = entry.digest
    return None


def _entries(folder: Path) -> list[AuditEntry]:
    """Return the entries of a folder's audit log. A `people.sqlite` is only read, and never created."""
    path = folder / PEOPLE_FILE
    if database_of(folder) is not None:
        store = open_people(folder, time.time_ns() // 1_000_000)
    elif path.exists():
        store = PeopleDatabase(sqlite_engine(partial(open_for_reading, path)))
    else:
        return []
    with closing(store):
        return list(AuditLog(store).entries())
