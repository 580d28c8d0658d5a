"""What is done with accounts, devices, the PIN and faces raises an alert: a bribed helper does none of it unseen.

The audit log is read and not the pages' own doings, so that commands on the server's machine are told of too.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from broker.people import AuditEntry, PeopleStoreBroken, accounts
from broker.scorer.alerts import Concern
from broker.store import LogHead

TOLD_ACTIONS: Final = frozenset(
    {
        "arbiters_pin_set",
        "pairing_opened",
        "pairing_taken",
        "device_accepted",
        "faces_shown",
        "account_added",
        "account_disabled",
        "account_enabled",
        "password_set",
        "token_added",
        "webhook_added",
        "people_restored",
        "device_listed",
        "device_revoked",
        "event_closed",
    }
)
"""Actions of which the head arbiter is told; each is the code of its alert too (docs/codes.md)."""

OF_A_TABLE: Final = {"pairing_taken", "device_accepted", "device_listed", "device_revoked"}

PAUSE_S: Final = 1.0


def concern_of_entry(entry: AuditEntry) -> Concern | None:
    """Return what the arbiters must know of an entry; None if it is nothing."""
    if entry.action not in TOLD_ACTIONS:
        return None
    values: dict[str, int | str] = {"who": entry.who, "about": entry.about, "detail": entry.detail}
    table = int(entry.about) if entry.action in OF_A_TABLE and entry.about.isdecimal() else None
    return Concern(entry.action, table, about=entry.number, values=values)


class AuditWatch:
    """Reads the audit log as it grows. A context manager, with a thread of its own: the store may make it wait."""

    def __init__(self, audit: accounts.AuditLog, tell: Callable[[Concern], None], pause_s: float = PAUSE_S) -> None:
        self._audit, self._tell, self._pause_s = audit, tell, pause_s
        self.head = LogHead()
        """The last entry that was looked at. From any thread."""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="audit log", daemon=True)

    def past(self) -> list[tuple[int, Concern]]:
        """Return what there is to tell up to now, with when it was (ms). Raises PeopleStoreBroken."""
        return list(self._new())

    def __enter__(self) -> "AuditWatch":
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._ending.set()
        self._thread.join()

    def look(self) -> None:
        """Tell what is new. Raises PeopleStoreBroken."""
        for _, concern in self._new():
            self._tell(concern)

    def _new(self) -> Iterator[tuple[int, Concern]]:
        for entry in self._audit.after(self.head.number):
            self.head = LogHead(entry.number, entry.digest)
            if concern := concern_of_entry(entry):
                yield entry.at, concern

    def _work(self) -> None:
        while not self._ending.wait(self._pause_s):
            with suppress(PeopleStoreBroken):  # pages say so; what was not read is read the next time
                self.look()
