"""Which of several scorers on one PostgreSQL is the active one.

Three things hold it together. A lock of the session's: it goes when the session goes, and what is written is written in
that same session. A term, one higher with each scorer that becomes active, and looked at in every commit: it also holds
where something between us and the server shares sessions out. And the session ends if the active scorer says nothing
for some seconds: one that is frozen, or behind a dead network, does not keep the event from going on.
"""

import hashlib
import time
from collections.abc import Callable
from typing import Final

import psycopg

from broker.store.errors import StoreInUse, StoreLost
from broker.store.postgresql_link import told

SILENCE_S: Final = 15
"""After so long without a word of the active scorer the server ends its session."""

PULSE_S: Final = 1.0
"""How often the active scorer says something."""

NEXT_TERM: Final = """
INSERT INTO homologue.about VALUES (%s, 'term', '1')
ON CONFLICT (event, key) DO UPDATE SET value = (about.value::bigint + 1)::text RETURNING value
"""

TERM: Final = "SELECT value FROM homologue.about WHERE event = %s AND key = 'term'"


class Lease:
    """One scorer's right to write an event's journal."""

    def __init__(self, connection: psycopg.Connection, event: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Take it. Raises StoreInUse. `clock` in s, from anywhere."""
        self._connection, self._event, self._clock = connection, event, clock
        if connection.execute("SELECT pg_try_advisory_lock(%s)", (key_of(event),)).fetchone() != (True,):
            raise StoreInUse(f"another scorer is active on {event}")
        self._term = connection.execute(NEXT_TERM, (event,)).fetchone()
        self._spoke: float | None = None

    def hold(self) -> None:
        """Make sure of it inside a transaction: until its end nobody begins another term. Raises StoreLost."""
        self._compare(self._connection.execute(f"{TERM} FOR SHARE", (self._event,)).fetchone())

    def pulse(self) -> None:
        """Say that we are alive, if we have not done so lately. Raises StoreLost.

        The first time it promises the server to go on so; before that, a scorer may read a long journal in silence.
        """
        now = self._clock()
        if self._spoke is not None and now - self._spoke < PULSE_S:
            return
        with told(self._connection, "this scorer is not the active one any more"):
            if self._spoke is None:
                for name in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
                    self._connection.execute("SELECT set_config(%s, %s, false)", (name, f"{SILENCE_S}s"))
            self._compare(self._connection.execute(TERM, (self._event,)).fetchone())
        self._spoke = now

    def _compare(self, found: object) -> None:
        if found != self._term:
            raise StoreLost(f"another scorer has become active on {self._event}; this one writes no more")


def key_of(event: str) -> int:
    """Give the number of an event's lock: 63 bits of a hash."""
    return int.from_bytes(hashlib.sha256(f"homologue {event}".encode()).digest()[:8]) >> 1
