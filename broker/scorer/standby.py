"""A second machine as standby: what is known of it here, and when it takes over.

The active scorer sends its standby what that lacks (broker/store/following.py), and waits briefly for it after each
decision of the desk. The standby takes over when it is told to, when the first machine's broker reports that its scorer
does not answer, or when most tables have lost the first machine and come to the standby's broker. A cut link between
the two machines is therefore no reason to take over: the tables are the witnesses. Only monotonic clocks are used.
"""

import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from broker.errors import StandbyBehind
from broker.files import write_private
from broker.protocol import SigningKey
from broker.scorer.alerts import Concern
from broker.store.following import PEER, Have, JournalPart

SILENT_S: Final = 3.0
"""A machine not heard from for this long may be gone."""

MISSED_S: Final = 10.0
"""After this time, people are alerted that there is no standby."""

PATIENCE_S: Final = 3.0
"""How long the desk waits for the standby before it confirms, so that the event does not stop for it."""

LEAVING_S: Final = 15.0
"""If the standby has not been told to take over within this time, this scorer goes on."""

KNOWN_S: Final = 30.0
"""How long a scorer may need after its start to hear from all tables, which beat every ten seconds."""

FAREWELL_S: Final = 2.0
"""After this time, the standby has received the answer that tells it to take over."""


class Peer(Struct, frozen=True, forbid_unknown_fields=True):
    """The other machine and our role, as stored in the event's folder."""

    role: Literal["active", "standby"]
    desk: str
    """Address of the other machine's desk."""
    broker: str
    """HOST:PORT of its broker."""
    here: str
    """HOST:PORT of our broker, as others reach it."""


def read_peer(folder: Path) -> Peer | None:
    """Return the stored data of the other machine, if there is one."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / PEER).read_bytes(), type=Peer)
    return None


def write_peer(folder: Path, peer: Peer) -> None:
    """Store the data of the other machine, if it has changed."""
    if read_peer(folder) != peer:
        write_private(folder / PEER, msgspec.json.encode(peer) + b"\n")


def secret_of(key: SigningKey) -> str:
    """Return a secret derived from the event's key, which only the two machines have."""
    return hmac.new(key.to_bytes(), b"homologue standby", hashlib.sha256).hexdigest()


class FollowRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A standby's request to its active scorer, repeated continually."""

    have: Have
    version: str
    host: str
    """Name at which its broker and desk are reached. Empty: the address of the request."""
    broker: int
    desk: int
    of: str
    """The name at which it has reached us."""
    take_over: bool = False
    """Whether it asks to become the active one."""


class FollowAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to a standby's request."""

    part: JournalPart
    term: int
    broker: int
    """Port of our broker."""
    host: str
    """The standby's host, as we see it."""
    tables: int
    """Number of tables heard from."""
    handed_over: bool = False
    """Whether this is the last answer, and the standby has to become the active one."""


class StandbyState(NamedTuple):
    """The status of the standby."""

    desk: str
    behind: int
    """Messages that it does not have."""
    silent_s: float
    """Seconds since it was last heard, or since our start if it never was."""
    heard: bool
    """Whether it was heard recently."""


class StandbyWatch:
    """Tracks the standby of this scorer, if any. Updated by the desk's threads, read by the scorer's."""

    def __init__(self, height: Callable[[], int], seconds: Callable[[], float] = time.monotonic) -> None:
        """`height` returns the height of the journal."""
        self._height, self._seconds = height, seconds
        self._changed = threading.Condition()
        self._there, self._began = 0, seconds()
        self._heard_at: float | None = None
        self._missed = False
        self._leaving_since, self._told_at = inf, inf
        self._has_all = False
        """Whether the standby has everything and nothing will follow, so that it may be told to take over."""
        self.peer: Peer | None = None
        self.decided = 0
        """The height of the last decision of the desk."""

    def heard(self, have: int, peer: Peer) -> None:
        """Record what the standby has on its disk."""
        with self._changed:
            self._there, self._heard_at, self.peer = have, self._seconds(), peer
            self._changed.notify_all()

    @property
    def state(self) -> StandbyState | None:
        """The standby's status, or None if there never was one."""
        if self.peer is None:
            return None
        now, behind = self._seconds(), max(0, self._height() - self._there)
        since = self._began if self._heard_at is None else self._heard_at
        heard = self._heard_at is not None and now - self._heard_at < SILENT_S
        return StandbyState(self.peer.desk, behind, now - since, heard)

    def wait(self) -> None:
        """Wait until the standby, if it is there, has the desk's decisions. Thread-safe."""
        state, wanted = self.state, self.decided
        if state and state.heard:
            with self._changed:
                self._changed.wait_for(lambda: self._there >= wanted or self.handed_over, PATIENCE_S)

    def concerns(self) -> list[Concern]:
        """Return new alerts, each once."""
        state = self.state
        missed = state is not None and state.silent_s >= MISSED_S
        if missed == self._missed or state is None:
            return []
        self._missed = missed
        return [Concern("standby_lost" if missed else "standby_back", values={"desk": state.desk})]

    # ---- handing over -----------------------------------------------------------------------

    def hand_over(self) -> None:
        """Begin to hand over. Raises StandbyBehind."""
        state = self.state
        if state is None or not state.heard:
            raise StandbyBehind("no standby is there to take over")
        with self._changed:
            self._leaving_since = min(self._leaving_since, self._seconds())

    @property
    def leaving(self) -> bool:
        """Whether messages and decisions are no longer accepted."""
        with self._changed:
            if self._told_at == inf and self._seconds() - self._leaving_since > LEAVING_S:
                self._leaving_since, self._has_all = inf, False
            return self._leaving_since < inf

    @property
    def handed_over(self) -> bool:
        """Whether the standby was told to become the active one."""
        return self._told_at < inf

    def tell(self) -> bool:
        """Return whether to tell the asking standby to take over. Once it is told, this scorer may only end."""
        with self._changed:
            if told := self._has_all and self._there >= self._height():
                self._told_at = min(self._told_at, self._seconds())
            return told

    def left(self, *, settled: bool) -> bool:
        """Return whether this scorer has to end, because the standby was told. `settled`: nothing is waiting here."""
        if self.leaving and settled and self._there >= self._height():
            self._has_all = True
        return self._seconds() - self._told_at >= FAREWELL_S


Reason = Literal["", "handed_over", "asked", "no_answer", "tables"]


class Takeover:
    """Decides when a standby becomes the active scorer. `now` in s of a monotonic clock."""

    def __init__(self, now: float) -> None:
        """Start as if the first scorer had just been heard."""
        self._heard_at, self._known, self._known_at = now, 0, now
        self._came: set[int] = set()
        self.reason: Reason = ""

    def heard(self, now: float, tables: int) -> None:
        """Record an answer of the first scorer, which hears from this many tables.

        A restarted scorer hears from few tables at first, so a lower number is not believed for a while.
        """
        if self.silent(now):
            self._known_at = now
        self._heard_at = now
        if tables >= self._known or now - self._known_at >= KNOWN_S:
            self._known, self._known_at = tables, now
        self._came.clear()

    def silent(self, now: float) -> bool:
        """Return whether the first scorer may be gone."""
        return now - self._heard_at >= SILENT_S

    def came(self, table: int) -> None:
        """Record that a table has lost the first scorer's broker and come to ours."""
        self._came.add(table)
        if 2 * len(self._came) > self._known:
            self.reason = self.reason or "tables"

    def settle(self, reason: Reason) -> None:
        """Take over for another reason."""
        self.reason = self.reason or reason
