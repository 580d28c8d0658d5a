"""What the desk shows: one immutable view of the event, a feed that says when there is a newer one, and play clocks.

A play's time runs from the confirmation of its walls, without pauses. A table tells how long its pauses were and not
how much time is left, so nothing has to be sent while time goes on.
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
"""What is the matter with the walls of the present play: not those of its deal, or nobody has looked."""


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
    """Names of those who sit there in the table's present round, or in its next while it has said none."""
    paused: bool = False
    ordered: int = 0
    """Number of the last order that the table has carried out or refused."""
    obeyed: dict[int, str] = {}
    """Ids of the last orders that it has carried out or refused, by number."""
    refused: dict[int, str] = {}
    """Why it has refused one of them: a code, by number."""
    pin: str | None = None
    """Tells which setting of the arbiters' PIN the table has."""
    extra_min: int = 0
    """Minutes that were added to the present play, by whoever gave them."""
    arbiter: str | None = None
    """Who is let in to rule there; empty where it was by PIN."""
    calling_since: int | None = None
    """When its call was opened, ms since 1970 as far as a clock can be right (`tables.FactTimes`); so below."""
    attended: Attending | None = None
    """Who goes to its call."""
    playing_since: int | None = None
    """When the tiles of the present play were confirmed."""
    pausing_since: int | None = None
    """When a pause began, by the table's clock, that is not over: ruled there or ordered by the desk."""
    minutes: int | None = None
    """Time of the present play, by the plan that the table goes by; None: as long as it takes."""
    stood_ms: int | None = None
    """How long the present play stood still in pauses that are over; None: its time is not known."""
    played_ms: int | None = None
    """In a pause: how long the present play had gone on when it began."""
    walls: Walls | None = None
    silent: bool = False
    """It has neither signed off nor been heard of for SILENT_S seconds."""
    other_version: str | None = None
    """The version of its program, where that is not the scorer's."""
    hall: HallContact | None = None
    """At the centre, which hears the table's hall alone, whether that is in contact; None: not heard of yet."""

    @property
    def away(self) -> bool:
        """Whether the table was there and is not any more."""
        return self.silent or self.lifecycle in {"lost", "disconnected"}


class SeatView(Struct, frozen=True):
    """One player's line in a play."""

    player: str
    name: str
    points: int
    hand_value: int | None
    """HV of a winner; of riichi the han."""
    fine: int
    imp: Imp | None
    """IMP after the fine; None while it is not known."""
    worth: RiichiWin | None = None
    """What a winner's hand of riichi is worth."""
    sat: str | None = None
    """The substitute who really sat there."""


class PlayView(Struct, frozen=True):
    """One result, as it arrived. `provisional` until all tables have played the deal."""

    at: int
    """Ms since 1970 (UTC): by the table's clock as far as that can be right, else by the scorer's."""
    table: int
    round: int
    deal: int
    win: WinKind | None
    """None for a play that has no result but a ruling."""
    discarder: Seat | None
    seats: dict[Seat, SeatView]
    provisional: bool
    ruled: tuple[str, ...] = ()
    """Kinds of the rulings that count here, oldest first."""
    counts: bool = True
    """Whether its points count: not those of a play that is void, adjusted or reopened."""


class BesideView(Struct, frozen=True):
    """IMPs that a ruling gave or took beside all plays; `imp` is what remains after the `fine`."""

    player: str
    imp: int
    fine: int


class AlertView(Struct, frozen=True):
    """Something that an arbiter must know."""

    at: int
    code: str
    table: int | None
    text: str
    """In English; the desk says it in the reader's language where it has a sentence for the code."""
    values: dict[str, int | str] = {}
    """What is put into that sentence, beside the table."""
    about: int | None = None
    """Sets it apart from others of its code at its table."""
    seen: Attending | None = None
    """Who has seen it: it has not happened again since."""


class AnchorView(Struct, frozen=True):
    """What proves later that nothing has changed of what was stored when a round was over (`store/integrity.py`)."""

    round: int
    text: str


class DashboardView(Struct, frozen=True):
    """The whole room. `version` grows with every change."""

    version: int
    event: str
    title: str
    profile: str
    connected: bool
    """Whether the scorer is connected with the broker."""
    final: bool
    plays_in: int
    plays_expected: int
    tables: tuple[TableView, ...]
    plays: Sequence[PlayView]
    """Newest first."""
    standings: Sequence[Standing]
    alerts: tuple[AlertView, ...]
    """Newest first, the last of each code (`alerts.KEPT`)."""
    beside: tuple[BesideView, ...] = ()
    teams: tuple[TeamStanding, ...] = ()
    """In a team event, by the deals that all teams have played."""
    deals_left_out: tuple[int, ...] = ()
    """Deals that count for no team until an arbiter has ruled who sat where."""
    follow_ups: int = 0
    """Plays in which somebody meets a deal again: an arbiter is to rule on each. Not shown to others."""
    apart: int = 0
    """Plays of which something is kept apart, on which the head arbiter is to decide. Not shown to others."""
    corrections_until: int | None = None
    """When the correction period ends (ms since 1970), if that was set."""
    disk: DiskLevel = "ample"
    """How much room there is on the scorer's disk."""
    lost: int = 0
    """Messages that were in the store and are not there any more, as far as it is known. Not shown to others."""
    anchor: AnchorView | None = None
    """Of the last round that is over; made then, so that it tells of nothing that is stored since."""
    centre: CentreView | None = None
    """How it stands between this hall and the centre; None if the event is played in one place."""
    halls: tuple[HallView, ...] = ()
    """At the centre, how its halls stand."""

    @property
    def under_way(self) -> bool:
        """Whether results are in and others are missing, here or in other halls, so that some may be under embargo."""
        return self.plays_in > 0 and (self.plays_in < self.plays_expected or self.centre is not None)


def as_json(view: object) -> bytes:
    """Write a view, or what was made from one, as programs get it."""
    return msgspec.json.encode(view, enc_hook=_plain)


def _plain(value: object) -> str | list[object]:
    """Write a message as its English text; plays and standings may be no list or tuple."""
    return str(value) if isinstance(value, str) else list(value)  # type: ignore[call-overload]


PLAYING: Final = ("playing", "declared", "accepting")


def time_up_at(table: TableView) -> int | None:
    """Return when the time of a play that goes on is up (ms since 1970).

    None in a pause, where the plan gives the play no time, where none goes on, and where it is not known since when.
    """
    allowed = _allowed_ms(table)
    if allowed is None or table.paused or table.playing_since is None or table.stood_ms is None:
        return None
    return table.playing_since + table.stood_ms + allowed


def paused_left_ms(table: TableView) -> int | None:
    """What is left while the arbiter's pause lasts, below zero what it was over when that began; None as above."""
    allowed = _allowed_ms(table)
    return None if allowed is None or not table.paused or table.played_ms is None else allowed - table.played_ms


def time_left_ms(table: TableView, now: int) -> int | None:
    """Return what is left at a moment (ms since 1970), in a pause or not; None as above."""
    up = time_up_at(table)
    return paused_left_ms(table) if up is None else up - now


def whole_minutes(left: int) -> int:
    """Return the minutes of a time that is left (ms), one that has begun counted; below zero those that it is over."""
    return -(-left // MINUTE_MS)


def _allowed_ms(table: TableView) -> int | None:
    if table.minutes is None or table.state not in PLAYING:
        return None
    return (table.minutes + table.extra_min) * MINUTE_MS


class ViewFeed:
    """Carries views from the scorer's thread to any number of readers in event loops."""

    def __init__(self, first: DashboardView) -> None:
        self._view = first
        self._lock = threading.Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    @property
    def current(self) -> DashboardView:
        """The newest view."""
        return self._view

    def publish(self, view: DashboardView) -> None:
        """Put a newer view in place and wake the readers. From any thread."""
        with self._lock:
            self._view = view
            for loop, changed in self._waiting:
                with suppress(RuntimeError):  # a reader whose loop has ended must not end the scorer
                    loop.call_soon_threadsafe(changed.set)

    async def views(self) -> AsyncIterator[DashboardView]:
        """Return the newest view now and again whenever it has changed; a slow reader misses the ones between."""
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
