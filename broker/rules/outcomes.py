"""What a play's outcome pays in a duplicate event, by either rule book; and whether it is one at all.

Duplicate riichi is our own definition, since no source has one (docs/riichi-session.md): a hand is scored alone,
without counters, deposits and paarenchan, in hundreds of points. What is left is zero-sum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Protocol

from broker.i18n import N_
from broker.protocol import SEATS, RiichiEvent, Seat, WinKind
from broker.rules.deal import SEAT_INDEX
from broker.rules.errors import RuleError
from broker.rules.points import Outcome, seat_points
from broker.rules.profiles import Rules
from broker.rules.riichi import (
    Abort,
    ExhaustiveDraw,
    RiichiProfile,
    Ron,
    SessionEvent,
    SessionState,
    Tsumo,
    event_from_message,
    settle_event,
    wins_that_count,
)


class Ended(Protocol):
    """How a play ended, as a result or a correction tells it."""

    @property
    def win(self) -> WinKind:
        """How it ended."""

    @property
    def winners(self) -> Mapping[Seat, int]:
        """Hand values, or han."""

    @property
    def discarder(self) -> Seat | None:
        """Whose tile it was."""

    @property
    def hand(self) -> RiichiEvent | None:
        """How a hand of riichi ended."""


def points_paid(ended: Ended, dealer: Seat, rules: Rules) -> dict[Seat, int]:
    """Return the points of all four seats; of riichi in hundreds.

    Raises RuleError as `seat_points` and `score_riichi`, `hand_missing`, `hand_not_asked`, `hand_differs`.
    """
    told = Outcome(ended.win, dict(ended.winners), ended.discarder)
    if not isinstance(rules, RiichiProfile):
        if ended.hand is not None:
            raise RuleError("hand_not_asked", "han and fu are of riichi; this event is not")
        return seat_points(told, rules.payments)
    if ended.hand is None:
        raise RuleError("hand_missing", "of a hand of riichi its han and fu are told, or who was tenpai")
    outcome, right = score_riichi(ended.hand, dealer, rules)
    if outcome != told:
        raise RuleError("hand_differs", N_("the hand of riichi is told otherwise: {outcome}", outcome=outcome))
    return right


HUNDRED: Final = 100

ENOUGH: Final = 100_000_000
"""Points that nobody runs out of: a hand that is scored alone ends no session."""

HAN_OF_YAKUMAN: Final = 13
"""Han that stand for a yakuman where a hand is told by one number."""


def score_riichi(told: RiichiEvent, dealer: Seat, rules: RiichiProfile) -> tuple[Outcome, dict[Seat, int]]:
    """Return a play's outcome, its winners by their han, and each seat's points in hundreds.

    Winners are those whom the rules let win, of all who declared.

    Raises RuleError as `score_alone`, and where it cannot be.
    """
    event = event_from_message(told)
    points = score_alone(event, dealer, rules)
    if not isinstance(event, Ron | Tsumo):
        return Outcome("draw", {}), points
    if isinstance(event, Tsumo):
        return Outcome("self_drawn", _by_han(told, [event.win.winner])), points
    winners = [win.winner for win in wins_that_count(_fresh_state(dealer), event, rules)]
    return Outcome("discard", _by_han(told, winners), told.loser) if winners else Outcome("draw", {}), points


def _by_han(told: RiichiEvent, winners: Iterable[int]) -> dict[Seat, int]:
    han = {seat: win.yakuman * HAN_OF_YAKUMAN or win.han for seat, win in told.wins.items()}
    return {SEATS[winner]: han[SEATS[winner]] for winner in winners}


def score_alone(event: SessionEvent, dealer: Seat, rules: RiichiProfile) -> dict[Seat, int]:
    """Return each seat's points in hundreds; the players of an event are the seats in turn order.

    Raises RuleError `fined_not_scored` for what is no end of a hand: a fault costs IMPs, as a false hu does.
    """
    if not isinstance(event, Ron | Tsumo | ExhaustiveDraw | Abort):
        raise RuleError("fined_not_scored", "a hand is won, drawn or broken off; a fault is fined in IMP")
    deltas = settle_event(_fresh_state(dealer), _without_deposits(event), rules).deltas
    return {seat: points // HUNDRED for seat, points in zip(SEATS, deltas, strict=True)}


def _fresh_state(dealer: Seat) -> SessionState:
    return SessionState("E", SEAT_INDEX[dealer], 0, 0, (ENOUGH, ENOUGH, ENOUGH, ENOUGH))


def _without_deposits(event: Ron | Tsumo | ExhaustiveDraw | Abort) -> SessionEvent:
    """Take out what depends on the hands before: deposits, and the win that follows the last of eight counters."""
    if isinstance(event, Ron):
        wins = tuple(replace(win, after_eight_counters=False) for win in event.wins)
        return replace(event, riichi=(), chombo=(), wins=wins)
    if isinstance(event, Tsumo):
        return replace(event, riichi=(), chombo=(), win=replace(event.win, after_eight_counters=False))
    return replace(event, riichi=())
