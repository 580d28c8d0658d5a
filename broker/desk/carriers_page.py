"""The page for those who carry: which carrier goes where now, and when the round will be over."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.words import PublicState
from broker.desk.access import Access, Way, visitor_of
from broker.desk.annex import Annex
from broker.desk.forms_page import render
from broker.scorer.carriers.dispatch import carriers, moves, slow
from broker.scorer.carriers.forecast import forecast
from broker.scorer.carriers.pace import MINUTE, pace
from broker.scorer.carriers.progress import Leg, PlayKey, Progress, Stage
from broker.scorer.event import Event, Session
from broker.scorer.view import View, ViewFeed

WHO: Final = "see_public"
"""Runners need no more than a display: what stands here is where plays are, and nothing of how they went."""

STAGES: Final[Mapping[PublicState, Stage]] = {
    "restoring": "laid_out",
    "seating": "under_way",
    "confirming": "under_way",
    "playing": "under_way",
    "declared": "under_way",
    "accepting": "under_way",
    "recorded": "under_way",
}


def wall_clock() -> int:
    """Give the time, ms since 1970."""
    return time.time_ns() // 1_000_000


def annex(event: Event, clock: Callable[[], int] = wall_clock) -> Annex:
    """Give the desk the page of an event's carriers."""
    ways = (Way("/carriers", "carriers", WHO),)
    return Annex(lambda access, feed: CarriersPage(access, feed, event, clock).routes(), ways)


class CarriersPage:
    """Answers runners and arbiters from the feed's newest view."""

    def __init__(self, access: Access, feed: ViewFeed, event: Event, clock: Callable[[], int]) -> None:
        self._access, self._feed, self._event, self._clock = access, feed, event, clock

    def routes(self) -> Sequence[Route]:
        """Give the route."""
        return [self._access.route("/carriers", self.show, WHO)]

    async def show(self, request: Request) -> Response:
        """Show the page as it is now; it is loaded anew by itself."""
        return await run_in_threadpool(self._page, request)

    def _page(self, request: Request) -> Response:
        progress = progress_of(self._event, self._feed.current, self._clock())
        now_playing = _first_open(progress)
        session = session_of(self._event, now_playing)
        speed = pace(progress, session.play_minutes)
        told = forecast(progress, speed)
        listed = moves(progress, told)
        values: dict[str, object] = {
            "now": progress.now,
            "round": now_playing,
            "round_ends": told.round(now_playing),
            "session": session,
            "session_ends": told.rounds(session.first_round, session.last_round),
            "pace": speed,
            "minutes": lambda ms: max(0, round(ms / MINUTE)),
            "urgent": [move for move in listed if move.urgency == "now"],
            "next": [move for move in listed if move.urgency != "now"],
            "slow": slow(progress, speed),
            "carriers": list(carriers(progress)),
            "clock": clock_of,
        }
        return render(request, "carriers.html", "carriers", visitor_of(request), values=values)


def progress_of(event: Event, view: View, now: int) -> Progress:
    """Give how far the plays are, from the plan and what the room shows.

    A result's time is by its table's clock. A clock that is ahead of ours tells no more than that it is over.
    """
    recorded: dict[PlayKey, int] = {(play.table, play.round): min(play.at, now) for play in view.plays}
    at_work = {
        table.table: (table.round, STAGES[table.state])
        for table in view.tables
        if table.round
        and table.state is not None
        and table.state in STAGES
        and (table.table, table.round) not in recorded
    }
    sessions = event.plan.sessions
    return Progress(
        legs=tuple(Leg(play.round, play.table, play.deal) for play in event.plan.plays),
        now=now,
        recorded=recorded,
        at_work=at_work,
        begins={session.first_round: _ms(session.starts) for session in sessions if session.starts},
        last_of_session=frozenset(session.last_round for session in sessions),
    )


def _ms(local: str) -> int:
    """Give a local time, as the plan has it, in ms since 1970; one that no calendar has is none."""
    try:
        return int(datetime.fromisoformat(local).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _first_open(progress: Progress) -> int:
    """Give the first round that is not over; of an event that is over, its last."""
    rounds = sorted({leg.round for leg in progress.legs})
    left = {leg.round for leg in progress.legs if leg.key not in progress.recorded}
    return min(left, default=rounds[-1])


def session_of(event: Event, round_: int) -> Session:
    """Give the session of a round; an event whose plan has none is one."""
    for session in event.plan.sessions:
        if session.first_round <= round_ <= session.last_round:
            return session
    return Session(event.plan.title, 1, max(play.round for play in event.plan.plays))


def clock_of(ms: int) -> str:
    """Say a moment as the clock on the wall of the scorer's own place."""
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%H:%M")
