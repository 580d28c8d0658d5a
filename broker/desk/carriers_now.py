"""Where every carrier is and goes now, and when the round will be over: made once for all who look."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from broker.contract.sessions import Session
from broker.contract.words import PublicState
from broker.scorer.carriers.dispatch import Carrier, Move, Slow, carriers, moves, slow
from broker.scorer.carriers.forecast import Span, forecast
from broker.scorer.carriers.pace import Pace, pace
from broker.scorer.carriers.progress import Leg, PlayKey, Progress, Stage
from broker.scorer.event import Event
from broker.scorer.moment import Moment
from broker.scorer.view import TableView, View

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
"""After so long it is made anew though nothing has come: time goes on, and a table may be slow by now."""


@dataclass(frozen=True)
class Carrying:
    """All that those who carry, and the arbiters, are told. Times are ms since 1970."""

    now: int
    round: int
    round_ends: Span | None
    session: Session
    session_ends: Span | None
    pace: Pace
    moves: Sequence[Move]
    slow: Sequence[Slow]
    carriers: Sequence[Carrier]

    @property
    def urgent(self) -> list[Move]:
        """Give those for which a table waits."""
        return [move for move in self.moves if move.urgency == "now"]

    @property
    def later(self) -> list[Move]:
        """Give the others."""
        return [move for move in self.moves if move.urgency != "now"]


class _Kept(NamedTuple):
    of: tuple[object, object]
    told: Carrying
    made: float
    until: float


class CarriersNow:
    """Gives it for the feed's newest view. For one thread alone. `clock` in ms since 1970; `seconds` counts on."""

    def __init__(
        self, moments: Callable[[], Moment], clock: Callable[[], int], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._moments, self._clock, self._seconds = moments, clock, seconds
        self._kept: _Kept | None = None

    def at(self, view: View) -> Carrying:
        """Give what holds now; the same object while nothing has changed, and of a great event not all the time."""
        moment, began, kept = self._moments(), self._seconds(), self._kept
        fresh = kept and kept.of == (moment, view.tables) and began < kept.made + OLD_S
        if kept is None or not (fresh or began < kept.until):
            told = carrying(moment, view.tables, self._clock())
            ended = self._seconds()
            kept = self._kept = _Kept((moment, view.tables), told, began, ended + REST * (ended - began))
        return kept.told


def carrying(moment: Moment, tables: Iterable[TableView], now: int) -> Carrying:
    """Give what holds at a moment. Pure."""
    event, progress = moment.event, progress_of(moment, tables, now)
    round_ = _first_open(event, progress)
    session = session_of(event, round_)
    speed = pace(progress, session.play_minutes)
    told = forecast(progress, speed)
    return Carrying(
        now=now,
        round=round_,
        round_ends=told.round(round_),
        session=session,
        session_ends=told.rounds(session.first_round, session.last_round),
        pace=speed,
        moves=moves(progress, told),
        slow=slow(progress, speed),
        carriers=tuple(carriers(progress)),
    )


def progress_of(moment: Moment, tables: Iterable[TableView], now: int) -> Progress:
    """Give how far the plays are: as they were really played, and as the tables say of themselves.

    A result's time is by its table's clock. A clock that is ahead of ours tells no more than that it is over.
    """
    # Taken at once: the scorer goes on adding.
    event, told = moment.event, {**{key: one.at for key, one in list(moment.results.items())}, **moment.instead}
    recorded: dict[PlayKey, int] = {key: min(at, now) for key, at in told.items() if moment.settled(key)}
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
        legs=tuple(_legs(moment)),
        now=now,
        recorded=recorded,
        at_work=at_work,
        begins={session.first_round: _ms(session.starts) for session in sessions if session.starts},
        last_of_session=frozenset(session.last_round for session in sessions),
    )


def _legs(moment: Moment) -> Iterable[Leg]:
    """Give the ways that there really are: none to a play that arbiters have settled without its being played."""
    for play in moment.event.plan.plays:
        key = play.table, play.round
        laid = moment.ruled[key][0] if key in moment.ruled else None
        if laid is None:
            yield Leg(play.round, play.table, play.deal)
        elif laid.result or laid.win or not laid.settled:
            yield Leg(play.round, play.table, laid.deal)


def _ms(local: str) -> int:
    """Give a local time, as the plan has it, in ms since 1970; one that no calendar has is none."""
    try:
        return int(datetime.fromisoformat(local).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _first_open(event: Event, progress: Progress) -> int:
    """Give the first round that is not over; of an event that is over, its last."""
    left = (leg.round for leg in progress.legs if leg.key not in progress.recorded)
    return min(left, default=max((play.round for play in event.plan.plays), default=1))


def session_of(event: Event, round_: int) -> Session:
    """Give the session of a round; an event whose plan has none is one."""
    for session in event.plan.sessions:
        if session.first_round <= round_ <= session.last_round:
            return session
    return Session(event.plan.title, 1, max((play.round for play in event.plan.plays), default=1))
