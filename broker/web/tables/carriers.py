"""Carriers: where each one is and where it goes next, when the round will end, and the page for runners."""

import dataclasses
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.routing import Route

from broker.event import MINUTE_MS, Event
from broker.people import Right
from broker.protocol import PublicState, Session
from broker.rulings import PlayKey
from broker.scorer import DashboardView, Snapshot, TableView, ViewFeed
from broker.scorer.carriers import (
    Carrier,
    CarrierMove,
    Leg,
    PlayPace,
    Progress,
    SlowTable,
    Span,
    Stage,
    carrier_moves,
    carrier_places,
    forecast_carriers,
    play_pace,
    slow_tables,
)
from broker.web import HtmlTranslator, LivePage, LivePages, Pagination, Visitor, errors, forms

STAGES: Final[Mapping[PublicState, Stage]] = {
    "restoring": "laid_out",
    "seating": "under_way",
    "confirming": "under_way",
    "playing": "under_way",
    "declared": "under_way",
    "accepting": "under_way",
    "recorded": "under_way",
}

PAUSE_FACTOR: Final = 20
"""After a slow computation, wait this many times as long before the next: with a thousand tables the page lags a
little."""

OLD_S: Final = 5.0
"""Seconds after which it is recomputed even without new messages: a table may have become slow meanwhile."""


@dataclass(frozen=True)
class CarrierState:
    """Everything that runners and arbiters see about carriers. Timestamps are ms since 1970."""

    now: int
    round: int
    round_ends: Span | None
    session: Session
    session_ends: Span | None
    pace: PlayPace
    moves: Sequence[CarrierMove]
    slow: Sequence[SlowTable]
    carriers: Sequence[Carrier]

    @property
    def urgent(self) -> list[CarrierMove]:
        """Moves for which a table is waiting."""
        return [move for move in self.moves if move.urgency == "now"]

    @property
    def later(self) -> list[CarrierMove]:
        """The other moves."""
        return [move for move in self.moves if move.urgency != "now"]


class _CachedState(NamedTuple):
    key: tuple[object, object]
    current: CarrierState
    computed_at: float
    not_before: float


class CarriersNow:
    """Computes `CarrierState` for the newest view.

    For one thread only. `clock` is in ms since 1970, `seconds` is monotonic.
    """

    def __init__(
        self, snapshots: Callable[[], Snapshot], clock: Callable[[], int], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._snapshots, self._clock, self._seconds = snapshots, clock, seconds
        self._cached: _CachedState | None = None

    def at(self, view: DashboardView) -> CarrierState:
        """Return the current state: the same object while nothing has changed, a little old for a large event."""
        snapshot, began, cached = self._snapshots(), self._seconds(), self._cached
        fresh = cached and cached.key == (snapshot, view.tables) and began < cached.computed_at + OLD_S
        if cached is None or not (fresh or began < cached.not_before):
            current = carrying(snapshot, view.tables, self._clock())
            ended = self._seconds()
            cached = self._cached = _CachedState(
                (snapshot, view.tables), current, began, ended + PAUSE_FACTOR * (ended - began)
            )
        return cached.current


def carrying(snapshot: Snapshot, tables: Iterable[TableView], now: int) -> CarrierState:
    """Return where the carriers are according to a snapshot's plays and the tables' states. A pure function."""
    event, progress = snapshot.event, progress_of(snapshot, tables, now)
    round_ = _first_open(event, progress)
    session = session_of_round(event, round_)
    speed = play_pace(progress, session.play_minutes)
    expected = forecast_carriers(progress, speed)
    return CarrierState(
        now=now,
        round=round_,
        round_ends=expected.round(round_),
        session=session,
        session_ends=expected.rounds(session.first_round, session.last_round),
        pace=speed,
        moves=carrier_moves(progress, expected),
        slow=slow_tables(progress, speed),
        carriers=tuple(carrier_places(progress)),
    )


def progress_of(snapshot: Snapshot, tables: Iterable[TableView], now: int) -> Progress:
    """Return the progress of all plays, from their results as played and from what the tables report.

    A result's timestamp comes from its table's clock; if that is ahead of ours, the result counts as of now.
    """
    event, arrived = snapshot.event, {**snapshot.results.times(), **snapshot.instead}
    recorded: dict[PlayKey, int] = {key: min(at, now) for key, at in arrived.items() if snapshot.settled(key)}
    at_work = {
        table.table: (table.round, STAGES[table.state])
        for table in tables
        if table.round
        and table.state is not None
        and table.state in STAGES
        and (table.table, table.round) not in recorded
    }
    sessions = event.plan.sessions
    return Progress(
        legs=tuple(_legs(snapshot)),
        now=now,
        recorded=recorded,
        at_work=at_work,
        begins={session.first_round: _ms(session.starts) for session in sessions if session.starts},
        last_of_session=frozenset(session.last_round for session in sessions),
    )


def _legs(snapshot: Snapshot) -> Iterable[Leg]:
    """Yield the journeys of carriers, leaving out plays that arbiters have settled without their being played."""
    for play in snapshot.event.plan.plays:
        key = play.table, play.round
        laid = snapshot.ruled[key][0] if key in snapshot.ruled else None
        if laid is None:
            yield Leg(play.round, play.table, play.deal)
        elif laid.result or laid.win or not laid.settled:
            yield Leg(play.round, play.table, laid.deal)


def _ms(local: str) -> int:
    """Return a local time of the plan in ms since 1970; 0 if it is not a valid date."""
    try:
        return int(datetime.fromisoformat(local).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _first_open(event: Event, progress: Progress) -> int:
    """Return the first round with an open play; for an event that is over, its last round."""
    left = (leg.round for leg in progress.legs if leg.key not in progress.recorded)
    return min(left, default=max((play.round for play in event.plan.plays), default=1))


def session_of_round(event: Event, round_: int) -> Session:
    """Return the session of a round. A plan without sessions counts as one session."""
    for session in event.plan.sessions:
        if session.first_round <= round_ <= session.last_round:
            return session
    return Session(event.plan.title, 1, max((play.round for play in event.plan.plays), default=1))


RIGHT: Final[Right] = "see_public"
"""Runners need no more rights than a display: the page shows where plays are, and nothing about their results."""

MOVES_SHOWN: Final = 60
"""Maximum number of carriers on one page."""

FEW_CARRIERS: Final = 12
"""Maximum number of carriers among which people find theirs at a glance, without a search field."""

LONGEST: Final = 64
"""Maximum length of the query's list of tables."""

ALL: Final = "all"


class CarriersPage:
    """Serves runners and arbiters from the feed's newest view."""

    def __init__(self, feed: ViewFeed, carriers: CarriersNow) -> None:
        self._feed, self._carriers = feed, carriers

    def routes(self, live: LivePages) -> Sequence[Route]:
        """Return the routes of the page and its stream."""
        return live.routes("/carriers", self.show, RIGHT)

    def show(self, request: Request, _visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show moves that are due now, moves to come, and when the round and the session end.

        `?tables=1-40` limits the page to carriers going to or coming from those tables; `?kind=all` shows where all
        are.
        """
        current, query = self._carriers.at(self._feed.current), request.query_params
        written, every = query.get("tables", "").strip()[:LONGEST], query.get("kind") == ALL
        try:
            only, unreadable = frozenset(forms.read_tables(written)), False
        except errors.TablesUnreadable:
            only, unreadable = frozenset[int](), True
        part = _part(current, only) if only else current
        ways = (*part.urgent, *part.later)
        pagination = Pagination.at(query, len(part.carriers if every else ways), MOVES_SHOWN)
        shown, few = ways[pagination.lines], len(current.carriers) <= MOVES_SHOWN
        values = {
            "current": part,
            "urgent": [move for move in shown if move.urgency == "now"],
            "later": [move for move in shown if move.urgency != "now"],
            "slow": part.slow[:MOVES_SHOWN],
            "carriers": part.carriers[pagination.lines] if every else part.carriers if few else (),
            "every": every,
            "written": written,
            "unreadable": unreadable,
            "longest": LONGEST,
            "pagination": pagination,
            "kept": _query_to_keep(every=every, written=written),
            "searched": bool(only) or len(current.carriers) > FEW_CARRIERS,
            "minutes": _minutes,
        }
        return LivePage("carriers.html", _("Carriers"), values, (current, written, every, pagination))


def _part(current: CarrierState, only: Collection[int]) -> CarrierState:
    """Return the part that concerns some tables."""
    return dataclasses.replace(
        current,
        moves=tuple(move for move in current.moves if move.to_table in only or move.from_table in only),
        slow=tuple(one for one in current.slow if one.table in only),
        carriers=tuple(one for one in current.carriers if one.table in only),
    )


def _query_to_keep(*, every: bool, written: str) -> str:
    """Return the query that links to other pages must keep."""
    query = {name: text for name, text in (("kind", ALL if every else ""), ("tables", written)) if text}
    return urlencode(query) + "&" * bool(query)


def _minutes(ms: int) -> int:
    """Return a duration in whole minutes."""
    return max(0, round(ms / MINUTE_MS))
