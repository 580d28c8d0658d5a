"""A second machine that stands by: how it is known here, and when it takes over.

The active scorer serves its standby what that lacks (broker/store/following.py), and waits a moment for it after each
decision of the desk. The standby takes over when it is told to, when the first one's broker says that its scorer does
not answer, or when most tables have lost the first one and come to the standby's own broker. That the link between
the two machines is cut is therefore no reason: tables are the witnesses. Only clocks that count on are looked at.
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
"""Who has not been heard of for so long may be gone."""

MISSED_S: Final = 10.0
"""After so long people are told that there is no standby."""

PATIENCE_S: Final = 3.0
"""The desk waits so long for the standby before it says *done*: an event does not stop for it."""

LEAVING_S: Final = 15.0
"""If the standby has not been told to take over by then, this scorer goes on."""

KNOWN_S: Final = 30.0
"""So long a scorer may need after its start to hear of all tables: each beats every ten seconds."""

FAREWELL_S: Final = 2.0
"""After so long the standby has had the answer that says so."""


class Peer(Struct, frozen=True, forbid_unknown_fields=True):
    """The other machine, as it is kept in the event's folder, and what we are."""

    role: Literal["active", "standby"]
    desk: str
    """Address of the other one's desk."""
    broker: str
    """HOST:PORT of its broker."""
    here: str
    """The same of ours, as others reach it."""


def read_peer(folder: Path) -> Peer | None:
    """Return what is known of the other machine, if there is one."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / PEER).read_bytes(), type=Peer)
    return None


def write_peer(folder: Path, peer: Peer) -> None:
    """Keep it."""
    if read_peer(folder) != peer:
        write_private(folder / PEER, msgspec.json.encode(peer) + b"\n")


def secret_of(key: SigningKey) -> str:
    """Return what shows that somebody has the event's key: both machines have it, and nobody else."""
    return hmac.new(key.to_bytes(), b"homologue standby", hashlib.sha256).hexdigest()


class FollowAsked(Struct, frozen=True, forbid_unknown_fields=True):
    """What a standby asks its active scorer, again and again."""

    have: Have
    version: str
    host: str
    """Name by which its broker and desk are reached; empty: where it asks from."""
    broker: int
    desk: int
    of: str
    """By which name it has reached us."""
    take_over: bool = False
    """Whether it is to become the active one."""


class FollowTold(Struct, frozen=True, forbid_unknown_fields=True):
    """What it is told."""

    part: JournalPart
    term: int
    broker: int
    """Port of our broker."""
    host: str
    """Where the standby is, as we see it."""
    tables: int
    """How many tables are heard of."""
    handed_over: bool = False
    """Nothing more will follow: the standby is to be the active one."""


class StandbyState(NamedTuple):
    """How the standby is."""

    desk: str
    behind: int
    """Messages that it does not have."""
    silent_s: float
    """Since it was heard of last, or since our start where it never was."""
    heard: bool
    """Whether it is there."""


class StandbyWatch:
    """The standby of this scorer, if it has one. Heard from the desk's threads, looked at by the scorer's."""

    def __init__(self, height: Callable[[], int], seconds: Callable[[], float] = time.monotonic) -> None:
        """`height` returns that of the journal."""
        self._height, self._seconds = height, seconds
        self._changed = threading.Condition()
        self._there, self._began = 0, seconds()
        self._heard_at: float | None = None
        self._missed = False
        self._leaving_since, self._told_at = inf, inf
        self._has_all = False
        """Whether the standby has everything, and nothing follows: it may be told to take over."""
        self.peer: Peer | None = None
        self.decided = 0
        """The height of the last decision of the desk."""

    def heard(self, have: int, peer: Peer) -> None:
        """Take in what the standby has on its disk."""
        with self._changed:
            self._there, self._heard_at, self.peer = have, self._seconds(), peer
            self._changed.notify_all()

    @property
    def state(self) -> StandbyState | None:
        """How it is; None if there never was one."""
        if self.peer is None:
            return None
        now, behind = self._seconds(), max(0, self._height() - self._there)
        since = self._began if self._heard_at is None else self._heard_at
        heard = self._heard_at is not None and now - self._heard_at < SILENT_S
        return StandbyState(self.peer.desk, behind, now - since, heard)

    def wait(self) -> None:
        """Wait until the standby has what the desk has decided, if it is there. From any thread."""
        state, wanted = self.state, self.decided
        if state and state.heard:
            with self._changed:
                self._changed.wait_for(lambda: self._there >= wanted or self.handed_over, PATIENCE_S)

    def concerns(self) -> list[Concern]:
        """Return what people are to be told, each once."""
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
        """Whether no message and no decision is taken any more."""
        with self._changed:
            if self._told_at == inf and self._seconds() - self._leaving_since > LEAVING_S:
                self._leaving_since, self._has_all = inf, False
            return self._leaving_since < inf

    @property
    def handed_over(self) -> bool:
        """Whether the standby was told that it is the active one."""
        return self._told_at < inf

    def tell(self) -> bool:
        """Return whether the standby, which asks, is told to take over: from then on this scorer may only end."""
        with self._changed:
            if told := self._has_all and self._there >= self._height():
                self._told_at = min(self._told_at, self._seconds())
            return told

    def left(self, *, settled: bool) -> bool:
        """Return whether this scorer is to end, as the standby has been told. `settled`: nothing waits here."""
        if self.leaving and settled and self._there >= self._height():
            self._has_all = True
        return self._seconds() - self._told_at >= FAREWELL_S


Reason = Literal["", "handed_over", "asked", "no_answer", "tables"]


class Takeover:
    """Decides when a standby becomes the active scorer. `now` in s of a clock that counts on."""

    def __init__(self, now: float) -> None:
        """Begin as if the first scorer had just been heard."""
        self._heard_at, self._known, self._known_at = now, 0, now
        self._came: set[int] = set()
        self.reason: Reason = ""

    def heard(self, now: float, tables: int) -> None:
        """The first scorer has answered, and hears of so many tables.

        One that was started again hears of few at first: what it has heard of just before is not forgotten at once.
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
        """A table has lost the first scorer's broker, and come to ours."""
        self._came.add(table)
        if 2 * len(self._came) > self._known:
            self.reason = self.reason or "tables"

    def settle(self, reason: Reason) -> None:
        """Take over for another reason."""
        self.reason = self.reason or reason
