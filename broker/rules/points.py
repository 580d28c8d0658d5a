"""The points of the four seats in one play, and who wins where several declare hu.

Under MCR (OEDMC rules 1-2) the four points need not sum to zero: +32 with two winners, +64 with three, 0 to -2
self-drawn. No source gives anything to who was quicker: within the claim window all are simultaneous, and where not
all can win the turn order after the discarder decides. A play under riichi rules is scored alone, without counters
and deposits, in hundreds of points.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final, Protocol

from broker.errors import RuleError, refuse_if
from broker.i18n import N_
from broker.protocol import SEATS, RiichiEvent, Seat, WinKind
from broker.rules.deal import SEAT_INDEX, turns_between
from broker.rules.profile import ImpRules, McrPaymentRules
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a play ended: the winners with their hand values, and who discarded the tile."""

    win: WinKind
    winners: Mapping[Seat, int]
    discarder: Seat | None = None


def seat_points(outcome: Outcome, payments: McrPaymentRules) -> dict[Seat, int]:
    """Return the points of all four seats. Raises RuleError with the codes of `check_outcome`."""
    check_outcome(outcome, payments)
    if outcome.win == "draw":
        return dict.fromkeys(SEATS, 0)
    if outcome.win == "self_drawn":
        return _self_drawn(outcome, payments)
    return _on_discard(outcome, payments)


def allowed_outcome(outcome: Outcome, payments: McrPaymentRules) -> Outcome:
    """Return the outcome with those winners whom the profile lets win, out of all who declared a valid hand.

    Under `nearest` that is the first in turn order after the discarder (MCR); else everybody (OEDMC rule 2).
    """
    discarder, declared = outcome.discarder, outcome.winners
    if payments.several_hu.value != "nearest" or discarder is None or discarder in declared or not declared:
        return outcome
    won = min(declared, key=partial(turns_between, discarder))
    return replace(outcome, winners={won: declared[won]})


def check_outcome(outcome: Outcome, payments: McrPaymentRules) -> None:
    """Raise RuleError where there can be no such outcome."""
    winners, discarder = outcome.winners, outcome.discarder
    if outcome.win == "draw":
        refuse_if(bool(winners), "draw_with_winner", "a draw has no winner")
        refuse_if(discarder is not None, "discarder_not_asked", "a draw has no discarder")
        return
    refuse_if(not winners, "winner_missing", "a win needs a winner")
    if outcome.win == "self_drawn":
        refuse_if(len(winners) > 1, "several_self_drawn", "only one player can win on a drawn tile")
        refuse_if(discarder is not None, "discarder_not_asked", "a self-drawn win has no discarder")
    else:
        refuse_if(discarder is None, "discarder_missing", "a win on a discard needs the discarder")
        refuse_if(discarder in winners, "discarder_wins", "nobody wins on their own discard")
        one_only = payments.several_hu.value == "nearest" and len(winners) > 1
        refuse_if(one_only, "several_winners", "only the nearest in turn order wins under this profile")
    for seat, value in winners.items():
        least = payments.minimum.value
        if value < least:
            text = N_("{seat}: {value} is below the minimum of {least}", seat=seat, value=value, least=least)
            raise RuleError("below_minimum", text)


def _self_drawn(outcome: Outcome, payments: McrPaymentRules) -> dict[Seat, int]:
    (winner, value), base = next(iter(outcome.winners.items())), payments.base.value
    if payments.self_drawn.value == "full":
        return {seat: 3 * (value + base) if seat == winner else -(value + base) for seat in SEATS}
    third = -(-value // 3)
    return {seat: value + 3 * base if seat == winner else -(base + third) for seat in SEATS}


def _on_discard(outcome: Outcome, payments: McrPaymentRules) -> dict[Seat, int]:
    base, winners = payments.base.value, outcome.winners
    times = len(winners) if payments.several_hu.value == "base_each" else 1
    scored: dict[Seat, int] = {}
    for seat in SEATS:
        if seat in winners:
            scored[seat] = winners[seat] + 3 * base - base * (times - 1)
        elif seat == outcome.discarder:
            scored[seat] = -sum(winners.values()) - base * times
        else:
            scored[seat] = -base * times
    return scored


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
        raise RuleError("hand_differs", N_("the riichi hand gives a different outcome: {outcome}", outcome=outcome))
    return right


HUNDRED: Final = 100
"""Points of riichi, in which its results are."""

ENOUGH: Final = 100_000_000
"""Points that nobody runs out of: a hand that is scored alone ends no session."""

HAN_OF_YAKUMAN: Final = 13
"""Han that stand for a yakuman where a hand is told by one number."""


def score_riichi(told: RiichiEvent, dealer: Seat, rules: RiichiProfile) -> tuple[Outcome, dict[Seat, int]]:
    """Return a play's outcome, its winners by their han, and each seat's points in hundreds.

    Winners are those whom the rules let win, of all who declared.

    Raises RuleError as `score_alone`, and if it cannot be.
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


def to_imp(difference: Fraction, scale: ImpRules) -> int:
    """Convert points minus datum. The scale is symmetrical: what is won above the datum is lost below it."""
    begins = (2 * step - (scale.gap.value == "midpoint") for step in scale.scale.value)
    size = sum(2 * abs(difference) >= step for step in begins)
    return size if difference > 0 else -size
