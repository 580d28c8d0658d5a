"""The audit log: who did what, when and from where. Append-only, and each entry's digest covers all before it.

Triggers keep a mistaken statement from changing it. The chain shows what somebody with the file and an editor has
changed: publish or note the last digest at the end of a day, and no earlier entry can be changed unseen.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from broker.people.errors import AuditBroken
from broker.people.store import Store

LONGEST: Final = 600
"""Characters of a detail."""

ORIGIN: Final = "0" * 64


class Entry(NamedTuple):
    """One line of the log."""

    number: int
    at: int
    """Wall clock, ms since 1970 (UTC)."""
    who: str
    """Login name; of a command on the server's own machine `(command)`, of nobody who is known ``."""
    address: str
    action: str
    about: str
    detail: str
    digest: str


def digest_of(before: str, entry: Entry) -> str:
    """Give the digest of an entry after the digest of the one before."""
    told = json.dumps([before, *entry[:-1]], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


class Audit:
    """The log in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def note(self, at: int, who: str, action: str, about: str = "", detail: str = "", *, address: str = "") -> None:
        """Add an entry, within the commit that is open if there is one. Raises PeopleStoreBroken."""
        with self._store.commit() as sql:
            last = sql.execute("SELECT number, digest FROM audit ORDER BY number DESC LIMIT 1").fetchone()
            number, before = last or (0, ORIGIN)
            entry = Entry(number + 1, at, who, address, action, about[:LONGEST], detail[:LONGEST], "")
            row = (*entry[:-1], digest_of(before, entry))
            sql.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def entries(self) -> Iterator[Entry]:
        """Give all, oldest first, as they are."""
        for row in self._store.rows("SELECT * FROM audit ORDER BY number"):
            yield Entry(*row)  # type: ignore[arg-type] # STRICT tables hold these types

    def newest(self, count: int) -> list[Entry]:
        """Give the last entries, newest first."""
        rows = self._store.rows("SELECT * FROM audit ORDER BY number DESC LIMIT ?", count)
        return [Entry(*row) for row in rows]  # type: ignore[arg-type] # as above

    def checked(self) -> Iterator[Entry]:
        """Give all, oldest first. Raises AuditBroken at the first that does not follow from those before."""
        before = ORIGIN
        for number, entry in enumerate(self.entries(), 1):
            if entry.number != number or digest_of(before, entry) != entry.digest:
                raise AuditBroken(f"the audit log does not hold at entry {number}")
            before = entry.digest
            yield entry
