"""What a visitor may see: the public view of the room, and sheets without deals under embargo."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from broker.people import Authentication, PeopleStoreBroken, accounts
from broker.protocol import Standing
from broker.scorer import (
    DashboardView,
    DealSheet,
    Embargo,
    PlayerSheet,
    PlayView,
    ReceiptIndex,
    ReceiptSheet,
    Snapshot,
    StandingsTable,
    TableView,
    TeamSheet,
    ViewFeed,
    deal_sheet,
    player_sheet,
    receipt_sheet,
    standings_table,
    team_sheet,
)
from broker.scorer.dashboard import Arrivals
from broker.web.auth import Visitor
from broker.web.errors import SheetUnknown

REVEALING_STATES: Final = ("declared", "accepting")
"""States that show that a table has an outcome, and how it came about."""


class PublicViews:
    """Removes from views what is under embargo or for arbiters only, and reuses the parts that have not changed.

    For use by one thread only.
    """

    def __init__(self) -> None:
        self._embargo = Embargo()
        self._open_plays: tuple[Snapshot, Arrivals] | None = None
        self._tables: dict[int, tuple[TableView, TableView]] = {}

    def of(self, view: DashboardView) -> DashboardView:
        """Return the public part of a view.

        Team standings cover complete deals only (`TeamRoom.follow`), so they are under no embargo.
        """
        plays, standings = self._open(view)
        return replace(
            view,
            plays=plays,
            standings=standings if view.centre or view.plays_in != view.plays_expected else view.standings,
            alerts=(),
            follow_ups=0,
            apart=0,
            lost=0,
            centre=None,
            halls=(),
            tables=tuple(self._table(table) for table in view.tables),
        )

    def _open(self, view: DashboardView) -> tuple[Sequence[PlayView], Sequence[Standing]]:
        if not isinstance(view.plays, Arrivals):  # a view without an event: nothing is known to be open
            return (), ()
        open_part, cached = self._embargo.open_part(view.plays.snapshot), self._open_plays
        if cached is None or cached[0] is not open_part:
            cached = self._open_plays = open_part, view.plays.of_complete_deals()
        return cached[1], open_part.standings

    def _table(self, table: TableView) -> TableView:
        cached = self._tables.get(table.table)
        if cached is None or cached[0] is not table:
            cached = self._tables[table.table] = table, _public_table(table)
        return cached[1]


def _public_table(table: TableView) -> TableView:
    """Remove what is for arbiters only. That somebody has declared would give away a deal under embargo."""
    state = "playing" if table.state in REVEALING_STATES else table.state
    quiet = replace(table, health={}, gaps=(), unsent=0, ordered=0, obeyed={}, refused={}, state=state)
    quiet = replace(quiet, calling=False, pin=None, arbiter=None)
    timeless = replace(quiet, calling_since=None, playing_since=None, pausing_since=None, played_ms=None)
    return replace(timeless, attended=None, walls=None)


PUBLIC_PAUSE_S: Final = 1.0
"""Minimum number of seconds between two changes of a public page."""


class PublicFeed:
    """The public view as it changes. It is sampled by the clock, so that the time of a change gives nothing away.

    It numbers its own versions: gaps in the arbiters' numbers would show that something has happened unseen.
    """

    def __init__(self, feed: ViewFeed, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._feed, self._sleep = feed, sleep
        self._views, self._lock = PublicViews(), threading.Lock()
        self._made: tuple[DashboardView, DashboardView] | None = None

    @property
    def current(self) -> DashboardView:
        """The newest view. May be read from any thread."""
        with self._lock:
            view = self._feed.current
            if self._made is None or self._made[0] is not view:
                self._made = view, self._next(view)
            return self._made[1]

    def _next(self, view: DashboardView) -> DashboardView:
        now = self._views.of(view)
        if self._made is None:
            return replace(now, version=0)
        before = self._made[1]
        if replace(now, version=before.version) == before:
            return before
        return replace(now, version=before.version + 1)

    async def views(self) -> AsyncIterator[DashboardView]:
        """Yield the newest view now, and then at each tick of the clock at which it has changed."""
        shown: DashboardView | None = None
        while True:
            view = self.current
            if view is not shown:
                shown = view
                yield view
            await self._sleep(PUBLIC_PAUSE_S)


class Feeds:
    """The arbiters' feed and the public one."""

    def __init__(self, feed: ViewFeed) -> None:
        self.room, self.public = feed, PublicFeed(feed)

    def of(self, visitor: Visitor) -> ViewFeed | PublicFeed:
        """Return the feed that a visitor may read."""
        return self.room if visitor.may("see_room") else self.public


SnapshotSource = Callable[[], Snapshot]
"""Returns all plays as the scorer knows them now."""


class EmbargoTrace:
    """Notes in the audit log which arbiter has looked at something under embargo, once per person, item and hour."""

    def __init__(self, auth: Authentication | None) -> None:
        """Without `auth` there are no accounts, and nothing is noted."""
        self._auth, self._last = auth, dict[tuple[str, str], int]()
        self._lock = threading.Lock()

    def note_items(self, visitor: Visitor, items: Iterable[int | str]) -> None:
        """Note that a visitor has looked at some items. Raises PeopleStoreBroken."""
        name = visitor.name
        if not name or self._auth is None:
            return
        now = self._auth.clock()
        with self._lock:
            new = [
                item
                for item in map(str, items)
                if not 0 <= now - self._last.get((name, item), now + 1) < accounts.HOUR_MS
            ]
            self._last.update({(name, item): now for item in new})
        if new:
            self._auth.audit.note(now, name, accounts.EMBARGO_READ, ",".join(new), address=visitor.address)

    def note_page(self, visitor: Visitor, page: str, *, hidden: bool) -> None:
        """Note who reads a page that shows results as they arrive. `hidden` is whether some are under embargo.

        An entry that cannot be written is no error: a desk whose disk is full keeps showing the page.
        """
        if hidden and visitor.may("see_room"):
            with suppress(PeopleStoreBroken):
                self.note_items(visitor, [page])


class DealInfo(Struct, frozen=True):
    """One deal of the event. `plays_in` is null where the visitor may not know it."""

    deal: int
    expected: int
    plays_in: int | None
    complete: bool


SLOW_S: Final = 0.1
PAUSE_FACTOR: Final = 10
"""After a slow computation, wait this many times as long before the next. Standings of a thousand tables lag a
little."""


class _CachedStandings(NamedTuple):
    snapshot: Snapshot
    standings: StandingsTable
    not_before: float
    """Earliest time of the next computation, by the monotonic clock in seconds."""


class _LastPlayer(NamedTuple):
    snapshot: Snapshot
    standings: StandingsTable
    sheet: PlayerSheet


class Sheets:
    """Makes the sheets that a visitor may see. For use by one thread only."""

    def __init__(
        self,
        snapshots: SnapshotSource,
        now: Callable[[], int],
        trace: EmbargoTrace | None = None,
    ) -> None:
        """`now` returns ms since 1970. `trace` notes who looks at what is under embargo."""
        self._snapshots, self.now, self._trace = snapshots, now, trace
        self._embargo = Embargo()
        self._cached_standings: dict[bool, _CachedStandings] = {}
        self._receipts = ReceiptIndex()
        self._last: _LastPlayer | None = None

    def snapshot(self, visitor: Visitor) -> Snapshot:
        """Return the snapshot that a visitor may see.

        The other methods read plays only through here; `receipt` looks up a code among all plays, and shows only open
        ones.
        """
        now = self._snapshots()
        return now if visitor.may("see_room") else self._embargo.open_part(now)

    def standings(self, visitor: Visitor) -> StandingsTable:
        """Return the standings, computed once per snapshot, and less often in a large event."""
        self.note_page(visitor, "standings")
        return self._standings(visitor)

    def note_page(self, visitor: Visitor, page: str) -> None:
        """Note who reads a page that shows results as they arrive."""
        if self._trace:
            snapshot = self.snapshot(visitor)
            self._trace.note_page(visitor, page, hidden=not snapshot.by_deal.keys() <= snapshot.complete)

    def _standings(self, visitor: Visitor) -> StandingsTable:
        snapshot, arbiter = self.snapshot(visitor), visitor.may("see_room")
        cached, began = self._cached_standings.get(arbiter), time.monotonic()
        if cached is None or (
            cached.snapshot is not snapshot
            and (began >= cached.not_before or _must_recompute(cached.snapshot, snapshot))
        ):
            standings, ended = standings_table(snapshot), time.monotonic()
            pause = PAUSE_FACTOR * (ended - began) if ended - began > SLOW_S else 0
            cached = self._cached_standings[arbiter] = _CachedStandings(snapshot, standings, ended + pause)
        return cached.standings

    def deals(self, visitor: Visitor) -> tuple[DealInfo, ...]:
        """List the deals of the event."""
        snapshot, arbiter = self.snapshot(visitor), visitor.may("see_room")
        return tuple(
            DealInfo(
                deal,
                len(snapshot.plays_with(deal)),
                _plays_in(snapshot, deal) if arbiter else None,
                deal in snapshot.complete,
            )
            for deal in sorted(snapshot.event.expected)
        )

    def deal(self, visitor: Visitor, deal: int) -> DealSheet:
        """Return the traveller of a deal. Raises SheetUnknown."""
        try:
            sheet = deal_sheet(self.snapshot(visitor), deal)
        except KeyError:
            raise SheetUnknown(f"this event has no deal {deal}") from None
        self._note_deals(visitor, [deal])
        return sheet

    def player(self, visitor: Visitor, player: str) -> PlayerSheet:
        """Return a player's sheet, caching the last one for the same page in another language. Raises SheetUnknown."""
        snapshot, standings, last = self.snapshot(visitor), self._standings(visitor), self._last
        if (
            last is None
            or last.snapshot is not snapshot
            or last.standings is not standings
            or last.sheet.player != player
        ):
            try:
                last = self._last = _LastPlayer(snapshot, standings, player_sheet(snapshot, standings, player))
            except KeyError:
                raise SheetUnknown("this event has no such player") from None
        sheet = last.sheet
        self._note_deals(visitor, sorted({play.deal for play in sheet.plays}))
        return sheet

    def _note_deals(self, visitor: Visitor, deals: Iterable[int]) -> None:
        snapshot = self.snapshot(visitor)
        hidden = [deal for deal in deals if deal not in snapshot.complete and _plays_in(snapshot, deal)]
        if self._trace and hidden and visitor.may("see_room"):
            self._trace.note_items(visitor, hidden)

    def team(self, visitor: Visitor, number: int) -> TeamSheet:
        """Return a team's sheet by its number in the event's list. Raises SheetUnknown."""
        try:
            return team_sheet(self.snapshot(visitor), self._standings(visitor), number)
        except KeyError:
            raise SheetUnknown("this event has no such team") from None

    def receipt(self, visitor: Visitor, code: str) -> ReceiptSheet:
        """Return the result that a receipt code stands for. Raises SheetUnknown."""
        message = self._receipts.find(self._snapshots(), code)
        if message is None:
            raise SheetUnknown("no result has this code")
        return receipt_sheet(self.snapshot(visitor), message)


def _must_recompute(before: Snapshot, now: Snapshot) -> bool:
    """Return whether standings must be recomputed now: a deal is under embargo again, or their finality has changed."""
    return not before.complete <= now.complete or before.final != now.final


def _plays_in(snapshot: Snapshot, deal: int) -> int:
    rows = snapshot.by_deal.get(deal, ())
    return sum(len(row.group.members) for row in rows) + len(snapshot.unplayed.get(deal, ()))
