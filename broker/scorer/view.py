"""What the desk shows: one immutable picture of the room, and a feed that says when there is a newer one."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Literal

import msgspec
from msgspec import Struct

from broker.contract.messages import Standing, TeamStanding
from broker.contract.riichi import RiichiWin
from broker.contract.words import Imp, Lifecycle, PublicState, Seat, WinKind

Walls = Literal["fouled", "unverified"]
"""What is the matter with the walls of the present play: not those of its deal, or nobody has looked."""


class Attending(Struct, frozen=True):
    """An arbiter who goes to a call, or has seen an alert: login name, full name, and since when (ms since 1970)."""

    account: str
    name: str
    at: int


class TableView(Struct, frozen=True):
    """One table as it last said of itself. `lifecycle` is None until it has said anything."""

    table: int
    lifecycle: Lifecycle | None
    state: PublicState | None
    round: int | None
    deal: int | None
    unsent: int
    calling: bool
    health: dict[str, str]
    gaps: tuple[int, ...]
    plays_in: int
    plays_expected: int
    players: dict[Seat, str]
    """Names of those who sit there in the table's present round."""
    paused: bool = False
    ordered: int = 0
    """Number of the last order that the table has carried out."""
    obeyed: dict[int, str] = {}
    """Ids of the last orders that it has carried out, by number."""
    pin: str | None = None
    """Tells which setting of the arbiters' PIN the table has."""
    extra_min: int = 0
    """Minutes that were added to the present play, by whoever gave them."""
    arbiter: str | None = None
    """Who is let in to rule there; empty where it was by PIN."""
    calling_since: int | None = None
    """When its call was opened, ms since 1970 as far as a clock can be right (`clocks.py`); so below."""
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


class SeatView(Struct, frozen=True):
    """One player's line in a play."""

    player: str
    name: str
    points: int
    hand_value: int | None
    """HV of a winner; of riichi the han."""
    fine: int
    imp: Imp | None
    """IMP after the fine; None while it cannot be said."""
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
    """Who has seen it: it has not happened anew since."""


class View(Struct, frozen=True):
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
    """Plays in which somebody meets a deal again: an arbiter is to rule on each. Not told to others."""
    corrections_until: int | None = None
    """When the correction period ends (ms since 1970), if that was said; until then nothing is final."""


def as_json(view: View) -> bytes:
    """Write a view as programs get it."""
    return msgspec.json.encode(view, enc_hook=list)  # plays and standings may be no list or tuple


class ViewFeed:
    """Carries views from the scorer's thread to any number of readers in event loops."""

    def __init__(self, first: View) -> None:
        self._view = first
        self._lock = threading.Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    @property
    def current(self) -> View:
        """The newest view."""
        return self._view

    def publish(self, view: View) -> None:
        """Put a newer view in place and wake the readers. From any thread."""
        with self._lock:
            self._view = view
            for loop, changed in self._waiting:
                with suppress(RuntimeError):  # a reader whose loop has ended must not end the scorer
                    loop.call_soon_threadsafe(changed.set)

    async def views(self) -> AsyncIterator[View]:
        """Give the newest view now and again whenever it has changed; a slow reader misses the ones between."""
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
