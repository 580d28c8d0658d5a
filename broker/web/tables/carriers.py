"""Carriers: where each is and goes now, when the round will be over, and the page for those who carry."""

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

REST: Final = 20
"""What takes long is not done again for so many times as long: of a thousand tables it is a little older."""

OLD_S: Final = 5.0
"""After so long it is recreated though nothing has come: time goes on, and a table may be slow by now."""


@dataclass(frozen=True)
class Carrying:
    """All that those who carry, and the arbiters, are told. Times are ms since 1970."""

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
        """Return those for which a table waits."""
        return [move for move in self.moves if move.urgency == "now"]

    @property
    def later(self) -> list[CarrierMove]:
        """Return the others."""
        return [move for move in self.moves if move.urgency != "now"]


class _Kept(NamedTuple):
    of: tuple[object, object]
    current: Carrying
    made: float
    until: float


class CarriersNow:
    """Returns it for the feed's newest view. For one thread alone. `clock` in ms since 1970; `seconds` counts on."""

    def __init__(
        self, snapshots: Callable[[], Snapshot], clock: Callable[[], int], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._snapshots, self._clock, self._seconds = snapshots, clock, seconds
        self._kept: _Kept | None = None

    def at(self, view: DashboardView) -> Carrying:
        """Return what holds now; the same object while nothing has changed, and of a great event not all the time."""
        snapshot, began, kept = self._snapshots(), self._seconds(), self._kept
        fresh = kept and kept.of == (snapshot, view.tables) and began < kept.made + OLD_S
        if kept is None or not (fresh or began < kept.until):
            current = carrying(snapshot, view.tables, self._clock())
            ended = self._seconds()
            kept = self._kept = _Kept((snapshot, view.tables), current, began, ended + REST * (ended - began))
        return kept.current


def carrying(snapshot: Snapshot, tables: Iterable[TableView], now: int) -> Carrying:
    """Return where the carriers are, by the plays of a snapshot. Pure."""
    event, progress = snapshot.event, progress_of(snapshot, tables, now)
    round_ = _first_open(event, progress)
    session = session_of_round(event, round_)
    speed = play_pace(progress, session.play_minutes)
    expected = forecast_carriers(progress, speed)
    return Carrying(
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
    """Return how far the plays are: as they were really played, and as the tables say of themselves.

    A result's time is by its table's clock. A clock that is ahead of ours tells no more than that it is over.
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
    """Return the ways that there really are: none to a play that arbiters have settled without its being played."""
    for play in snapshot.event.plan.plays:
        key = play.table, play.round
        laid = snapshot.ruled[key][0] if key in snapshot.ruled else None
        if laid is None:
            yield Leg(play.round, play.table, play.deal)
        elif laid.result or laid.win or not laid.settled:
            yield Leg(play.round, play.table, laid.deal)


def _ms(local: str) -> int:
    """Return a local time, as the plan has it, in ms since 1970; one that no calendar has is none."""
    try:
        return int(datetime.fromisoformat(local).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _first_open(event: Event, progress: Progress) -> int:
    """Return the first round that is not over; of an event that is over, its last."""
    left = (leg.round for leg in progress.legs if leg.key not in progress.recorded)
    return min(left, default=max((play.round for play in event.plan.plays), default=1))


def session_of_round(event: Event, round_: int) -> Session:
    """Return the session of a round; an event whose plan has none is one."""
    for session in event.plan.sessions:
        if session.first_round <= round_ <= session.last_round:
            return session
    return Session(event.plan.title, 1, max((play.round for play in event.plan.plays), default=1))


WHO: Final[Right] = "see_public"
"""Runners need no more than a display: what stands here is where plays are, and nothing of how they went."""

MOVES_SHOWN: Final = 60
"""Of so many carriers a page tells."""

FEW: Final = 12
"""Of so many one finds one's own at a glance."""

LONGEST: Final = 64
"""Characters of the tables that somebody carries for."""

EVERY: Final = "all"


class CarriersPage:
    """Answers runners and arbiters from the feed's newest view."""

    def __init__(self, feed: ViewFeed, carriers: CarriersNow) -> None:
        self._feed, self._carriers = feed, carriers

    def routes(self, live: LivePages) -> Sequence[Route]:
        """Return the routes."""
        return live.routes("/carriers", self.show, WHO)

    def show(self, request: Request, _visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show the ways that are to be gone now, those to come, and when the round and the session end.

        `?tables=1-40` keeps to what goes to those tables or comes from them; `?kind=all` shows where all carriers are.
        """
        current, asked = self._carriers.at(self._feed.current), request.query_params
        written, every = asked.get("tables", "").strip()[:LONGEST], asked.get("kind") == EVERY
        try:
            only, unreadable = frozenset(forms.tables_of(written)), False
        except errors.TablesUnreadable:
            only, unreadable = frozenset[int](), True
        part = _part(current, only) if only else current
        ways = (*part.urgent, *part.later)
        pagination = Pagination.at(asked, len(part.carriers if every else ways), MOVES_SHOWN)
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
            "kept": _kept_query(every=every, written=written),
            "searched": bool(only) or len(current.carriers) > FEW,
            "minutes": _minutes,
        }
        return LivePage("carriers.html", _("Carriers"), values, (current, written, every, pagination))


def _part(current: Carrying, only: Collection[int]) -> Carrying:
    """Return what those are told who carry for some tables."""
    return dataclasses.replace(
        current,
        moves=tuple(move for move in current.moves if move.to_table in only or move.from_table in only),
        slow=tuple(one for one in current.slow if one.table in only),
        carriers=tuple(one for one in current.carriers if one.table in only),
    )


def _kept_query(*, every: bool, written: str) -> str:
    """Return what of the address stays on the next page."""
    kept = {name: text for name, text in (("kind", EVERY if every else ""), ("tables", written)) if text}
    return urlencode(kept) + "&" * bool(kept)


def _minutes(ms: int) -> int:
    """Return a span in whole minutes."""
    return max(0, round(ms / MINUTE_MS))
