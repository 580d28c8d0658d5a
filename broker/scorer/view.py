"""What the desk shows: an immutable view of the event, a feed that delivers newer ones, and play clocks.

A play's time runs from the confirmation of its walls, without pauses. A table reports how long its pauses were rather
than how much time is left, so nothing has to be sent as time passes.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec
from msgspec import Struct

from broker.event import MINUTE_MS
from broker.halls.centre import HallView
from broker.halls.link import CentreView
from broker.protocol import Imp, Lifecycle, PublicState, RiichiWin, Seat, Standing, TeamStanding, WinKind
from broker.scorer.space import DiskLevel

Walls = Literal["fouled", "unverified"]
"""What is wrong with the walls of the current play: they are not those of its deal, or were not verified."""


class Attending(Struct, frozen=True):
    """An arbiter who goes to a call, or has seen an alert: login name, full name, and since when (ms since 1970)."""

    account: str
    name: str
    at: int


HallContact = Literal["there", "away"]


class TableView(Struct, frozen=True):
    """One table by its last state. `lifecycle` is None until it has sent one."""

    table: int
    lifecycle: Lifecycle | None = None
    state: PublicState | None = None
    round: int | None = None
    deal: int | None = None
    unsent: int = 0
    calling: bool = False
    health: dict[str, str] = {}
    gaps: tuple[int, ...] = ()
    plays_in: int = 0
    plays_expected: int = 0
    players: dict[Seat, str] = {}
    """Names of those who sit there in the table's current round, or in its next one if it has reported none."""
    paused: bool = False
    ordered: int = 0
    """Number of the last order that the table has carried out or refused."""
    obeyed: dict[int, str] = {}
    """Ids of the last orders that it has carried out or refused, by number."""
    refused: dict[int, str] = {}
    """The refusal code of refused orders, by number."""
    pin: str | None = None
    """Identifies which setting of the arbiters' PIN the table has."""
    extra_min: int = 0
    """Minutes that were added to the current play, by anyone."""
    arbiter: str | None = None
    """The arbiter let in to rule there; empty if let in by PIN."""
    calling_since: int | None = None
    """When its call was opened, ms since 1970, as far as a clock can be right (`tables.FactTimes`). The same below."""
    attended: Attending | None = None
    """Who goes to its call."""
    playing_since: int | None = None
    """When the tiles of the current play were confirmed."""
    pausing_since: int | None = None
    """When the current pause began, by the table's clock: ruled there or ordered by the desk."""
    minutes: int | None = None
    """Time for the current play by the table's plan. None: no limit."""
    stood_ms: int | None = None
    """How long the current play stood still in pauses that are over. None: its time is not known."""
    played_ms: int | None = None
    """During a pause: how long the current play had gone on when the pause began."""
    walls: Walls | None = None
    silent: bool = False
    """Whether it has not signed off, but has not been heard for SILENT_S seconds."""
    other_version: str | None = None
    """The version of its program, if it is not the scorer's."""
    hall: HallContact | None = None
    """At the centre, which only hears halls: whether the table's hall is in contact. None: not heard yet."""

    @property
    def away(self) -> bool:
        """Whether the device was connected and has disappeared."""
        return self.silent or self.lifecycle in {"lost", "disconnected"}


class SeatView(Struct, frozen=True):
    """One player's line in a play."""

    player: str
    name: str
    points: int
    hand_value: int | None
    """HV of a winner; in riichi the han."""
    fine: int
    imp: Imp | None
    """IMPs after the fine, or None while they are not known."""
    worth: RiichiWin | None = None
    """The value of a winner's hand of riichi."""
    sat: str | None = None
    """The substitute who actually sat there."""


class PlayView(Struct, frozen=True):
    """One result, as it arrived. `provisional` until all tables have played the deal."""

    at: int
    """Ms since 1970 (UTC), by the table's clock as far as that can be right, otherwise by the scorer's."""
    table: int
    round: int
    deal: int
    win: WinKind | None
    """None for a play that has a ruling and no result."""
    discarder: Seat | None
    seats: dict[Seat, SeatView]
    provisional: bool
    ruled: tuple[str, ...] = ()
    """Kinds of the rulings that count here, oldest first."""
    counts: bool = True
    """Whether the play's points count. Void, adjusted and reopened plays do not."""


class AdjustmentView(Struct, frozen=True):
    """IMPs that a ruling gave or took outside of plays. `imp` is what remains after the `fine`."""

    player: str
    imp: int
    fine: int


class AlertView(Struct, frozen=True):
    """Something that an arbiter must know."""

    at: int
    code: str
    table: int | None
    text: str
    """In English. The desk shows it in the reader's language if it has a sentence for the code."""
    values: dict[str, int | str] = {}
    """Values for that sentence, other than the table."""
    about: int | None = None
    """Distinguishes the alert from others with the same code and table."""
    seen: Attending | None = None
    """Who has seen it. None again once it has recurred."""


class AnchorView(Struct, frozen=True):
    """Later proof that nothing has changed of what was stored when a round was over (`store/records.py`)."""

    round: int
    text: str


class DashboardView(Struct, frozen=True):
    """The state of the whole event. `version` increases with every change."""

    version: int
    event: str
    title: str
    profile: str
    connected: bool
    """Whether the scorer is connected to the broker."""
    final: bool
    plays_in: int
    plays_expected: int
    tables: tuple[TableView, ...]
    plays: Sequence[PlayView]
    """Newest first."""
    standings: Sequence[Standing]
    alerts: tuple[AlertView, ...]
    """Newest first; the most recent ones of each code (`alerts.MOST_PER_CODE`)."""
    beside: tuple[AdjustmentView, ...] = ()
    teams: tuple[TeamStanding, ...] = ()
    """In a team event, by the deals that all teams have played."""
    deals_left_out: tuple[int, ...] = ()
    """Deals that count for no team until an arbiter has ruled who sat where."""
    follow_ups: int = 0
    """Plays in which somebody meets a deal again, each of which needs a ruling. Shown to arbiters only."""
    apart: int = 0
    """Plays kept apart, on which the head arbiter has to decide. Shown to arbiters only."""
    corrections_until: int | None = None
    """When the correction period ends (ms since 1970), if that was set."""
    disk: DiskLevel = "ample"
    """How much space there is on the scorer's disk."""
    lost: int = 0
    """Number of messages known to be lost from the store. Shown to arbiters only."""
    anchor: AnchorView | None = None
    """The anchor of the last complete round, made when it was over, so that it reveals nothing stored since."""
    centre: CentreView | None = None
    """State of the link from this hall to the centre, or None if the event is played in one place."""
    halls: tuple[HallView, ...] = ()
    """At the centre, the status of its halls."""

    @property
    def under_way(self) -> bool:
        """Whether some results are in and others missing, here or in other halls, so that there may be an embargo."""
        return self.plays_in > 0 and (self.plays_in < self.plays_expected or self.centre is not None)


def as_json(view: object) -> bytes:
    """Encode a view, or a part of one, as JSON."""
    return msgspec.json.encode(view, enc_hook=_plain)


def _plain(value: object) -> str | list[object]:
    """Encode a message as its English text, and sequences of plays or standings as lists."""
    return str(value) if isinstance(value, str) else list(value)  # type: ignore[call-overload]


PLAYING: Final = ("playing", "declared", "accepting")


def time_up_at(table: TableView) -> int | None:
    """Return when the time of the current play is up (ms since 1970).

    None during a pause, if the plan sets no time, if no play is in progress, or if its start is unknown.
    """
    allowed = _allowed_ms(table)
    if allowed is None or table.paused or table.playing_since is None or table.stood_ms is None:
        return None
    return table.playing_since + table.stood_ms + allowed


def paused_left_ms(table: TableView) -> int | None:
    """Return the time left (ms) in an arbiter's pause, negative if it was already up; None if unknown or not paused."""
    allowed = _allowed_ms(table)
    return None if allowed is None or not table.paused or table.played_ms is None else allowed - table.played_ms


def time_left_ms(table: TableView, now: int) -> int | None:
    """Return the time left (ms) at `now` (ms since 1970), in a pause or not. None if it is not known."""
    up = time_up_at(table)
    return paused_left_ms(table) if up is None else up - now


def whole_minutes(left: int) -> int:
    """Return a remaining time (ms) in minutes, rounded up: below zero, only full minutes of overtime count."""
    return -(-left // MINUTE_MS)


def _allowed_ms(table: TableView) -> int | None:
    if table.minutes is None or table.state not in PLAYING:
        return None
    return (table.minutes + table.extra_min) * MINUTE_MS


class ViewFeed:
    """Delivers views from the scorer's thread to any number of readers in event loops."""

    def __init__(self, first: DashboardView) -> None:
        self._view = first
        self._lock = threading.Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    @property
    def current(self) -> DashboardView:
        """The newest view."""
        return self._view

    def publish(self, view: DashboardView) -> None:
        """Publish a newer view and wake the readers. Thread-safe."""
        with self._lock:
            self._view = view
            for loop, changed in self._waiting:
                with suppress(RuntimeError):  # a closed event loop of a reader must not stop the scorer
                    loop.call_soon_threadsafe(changed.set)

    async def views(self) -> AsyncIterator[DashboardView]:
        """Yield the current view, and each newer one. A slow reader misses the ones between."""
        changed = asyncio.Event()
        entry = (asyncio.get_running_loop(), changed)
        with self._lock:
            self._waiting.add(entry)
        try:
            while True:
                changed.clear()
                yield self._view
                await changed.wait()
        finally:
            with self._lock:
                self._waiting.discard(entry)
