"""What comes of a movement: everybody's plays, how many tables compare each deal, about how long it takes. Pure."""

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Final

from broker.rules.movement import Order
from broker.rules.movement.check import SEATED
from broker.scorer.carriers.pace import ASSUMED, MINUTE
from broker.scorer.event import Plan

USUAL_MINUTES: Final = ASSUMED // MINUTE
HOUR: Final = 60


@dataclass(frozen=True, slots=True)
class Coming:
    """What an organiser wants to know before a movement is kept. Pairs are the fewest and the most."""

    plays_each: tuple[int, int]
    deals: int
    tables: int
    """That play at once."""
    compared: tuple[int, int]
    """At how many tables a deal is played."""
    turns: int
    """Plays one after the other at a table: what the plan, and the sessions in it, count as rounds."""
    minutes: int
    """About how long all of it takes, restoring and carrying included, pauses not."""

    @property
    def nobody_compared(self) -> bool:
        """Whether no deal is played at a second table."""
        return self.compared[1] <= 1

    @property
    def time(self) -> str:
        """Hours and minutes, as 8:20."""
        return f"{self.minutes // HOUR}:{self.minutes % HOUR:02}"


def minutes_a_play(plan: Plan) -> int:
    """Give how long a play takes: the longest that a session allows, or what is usual."""
    return max((session.play_minutes or 0 for session in plan.sessions), default=0) or USUAL_MINUTES


def of_order(order: Order, minutes: int = USUAL_MINUTES) -> Coming:
    """Give what comes of an order, without making it. `minutes` of a play."""
    seats, turns = order.tables * SEATED * order.rounds, order.rounds * order.deals_per_round
    fewest, left = divmod(seats, order.players)
    met = min(order.rounds, order.pods) * order.pod
    return Coming(
        plays_each=(fewest * order.deals_per_round, (fewest + bool(left)) * order.deals_per_round),
        deals=max(order.rounds, order.pods) * order.deals_per_round,
        tables=order.tables,
        compared=(min(met, order.tables), min(met, order.tables)),
        turns=turns,
        minutes=turns * minutes,
    )


def of_plan(plan: Plan) -> Coming | None:
    """Give what comes of the movement that a plan has; None where it has none."""
    if not plan.plays:
        return None
    each = Counter(chain.from_iterable(play.players.values() for play in plan.plays))
    at = Counter(play.deal for play in plan.plays)
    turns = max(play.round for play in plan.plays)
    return Coming(
        plays_each=(min(each[player.id] for player in plan.players), max(each.values())),
        deals=len(at),
        tables=max(Counter(play.round for play in plan.plays).values()),
        compared=(min(at.values()), max(at.values())),
        turns=turns,
        minutes=turns * minutes_a_play(plan),
    )


def told(coming: Coming, minutes: int) -> str:
    """Say it in one sentence."""
    return (
        f"{_range(coming.plays_each)} plays for everybody, {coming.deals} deals, each at {_range(coming.compared)} "
        f"of {coming.tables} tables, about {coming.time} h at {minutes} minutes a play"
    )


def _range(pair: tuple[int, int]) -> str:
    least, most = pair
    return str(least) if least == most else f"{least} to {most}"
