"""The points of the four seats in one play, and who wins when several players declare hu.

Under MCR (OEDMC rules 1-2) the four points need not sum to zero: +32 with two winners, +64 with three, 0 to -2
self-drawn. No source favours the quicker player: all declarations within the claim window count as simultaneous, and
where only one can win, turn order after the discarder decides. A riichi play is scored alone, in hundreds of points,
without counters and deposits.
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
    """Return the outcome with only those winners whom the profile lets win, out of all who declared a valid hand.

    Under `nearest` that is the first in turn order after the discarder (MCR); otherwise everybody (OEDMC rule 2).
    """
    discarder, declared = outcome.discarder, outcome.winners
    if payments.several_hu.value != "nearest" or discarder is None or discarder in declared or not declared:
        return outcome
    winner = min(declared, key=partial(turns_between, discarder))
    return replace(outcome, winners={winner: declared[winner]})


def check_outcome(outcome: Outcome, payments: McrPaymentRules) -> None:
    """Raise RuleError unless such an outcome is possible under these payments."""
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


class EndedPlay(Protocol):
    """How a play ended, as a result or a correction reports it."""

    @property
    def win(self) -> WinKind:
        """How the play ended."""

    @property
    def winners(self) -> Mapping[Seat, int]:
        """The winners' hand values, or their han under riichi."""

    @property
    def discarder(self) -> Seat | None:
        """The player who discarded the winning tile."""

    @property
    def hand(self) -> RiichiEvent | None:
        """How the hand of riichi ended; None under MCR."""


def points_paid(play: EndedPlay, dealer: Seat, rules: Rules) -> dict[Seat, int]:
    """Return the points of all four seats, in hundreds for riichi.

    Raises RuleError as `seat_points` and `score_riichi` do, and `hand_missing`, `hand_not_asked` or `hand_differs`.
    """
    reported = Outcome(play.win, dict(play.winners), play.discarder)
    if not isinstance(rules, RiichiProfile):
        if play.hand is not None:
            raise RuleError("hand_not_asked", "han and fu are for riichi; this event is not played under riichi rules")
        return seat_points(reported, rules.payments)
    if play.hand is None:
        raise RuleError("hand_missing", "a riichi hand needs its han and fu, or who was tenpai")
    outcome, points = score_riichi(play.hand, dealer, rules)
    if outcome != reported:
        raise RuleError("hand_differs", N_("the riichi hand gives a different outcome: {outcome}", outcome=outcome))
    return points


HUNDRED: Final = 100
"""The number of riichi points in one point of a result."""

AMPLE_SCORE: Final = 100_000_000
"""Starting points that nobody runs out of, since a hand that is scored alone ends no session."""

HAN_OF_YAKUMAN: Final = 13
"""Han recorded for each yakuman where one number stands for the hand."""


def score_riichi(message: RiichiEvent, dealer: Seat, rules: RiichiProfile) -> tuple[Outcome, dict[Seat, int]]:
    """Return a play's outcome, with its winners by their han, and each seat's points in hundreds.

    Of all who declared, only those whom the rules let win are winners.

    Raises RuleError as `score_alone` does, and for an event that is impossible.
    """
    event = event_from_message(message)
    points = score_alone(event, dealer, rules)
    if not isinstance(event, Ron | Tsumo):
        return Outcome("draw", {}), points
    if isinstance(event, Tsumo):
        return Outcome("self_drawn", _by_han(message, [event.win.winner])), points
    winners = [win.winner for win in wins_that_count(_fresh_state(dealer), event, rules)]
    return Outcome("discard", _by_han(message, winners), message.loser) if winners else Outcome("draw", {}), points


def _by_han(message: RiichiEvent, winners: Iterable[int]) -> dict[Seat, int]:
    han = {seat: win.yakuman * HAN_OF_YAKUMAN or win.han for seat, win in message.wins.items()}
    return {SEATS[winner]: han[SEATS[winner]] for winner in winners}


def score_alone(event: SessionEvent, dealer: Seat, rules: RiichiProfile) -> dict[Seat, int]:
    """Return each seat's points in hundreds. The event's player numbers are the seats in turn order.

    Raises RuleError `fined_not_scored` for an event that does not end a hand: a fault is fined in IMPs, like a false
    hu.
    """
    if not isinstance(event, Ron | Tsumo | ExhaustiveDraw | Abort):
        raise RuleError("fined_not_scored", "a hand is won, drawn or aborted; a fault is fined in IMPs")
    deltas = settle_event(_fresh_state(dealer), _without_deposits(event), rules).deltas
    return {seat: points // HUNDRED for seat, points in zip(SEATS, deltas, strict=True)}


def _fresh_state(dealer: Seat) -> SessionState:
    return SessionState("E", SEAT_INDEX[dealer], 0, 0, (AMPLE_SCORE, AMPLE_SCORE, AMPLE_SCORE, AMPLE_SCORE))


def _without_deposits(event: Ron | Tsumo | ExhaustiveDraw | Abort) -> SessionEvent:
    """Remove what depends on earlier hands: deposits, and the bonus for a win after eight counters."""
    if isinstance(event, Ron):
        wins = tuple(replace(win, after_eight_counters=False) for win in event.wins)
        return replace(event, riichi=(), chombo=(), wins=wins)
    if isinstance(event, Tsumo):
        return replace(event, riichi=(), chombo=(), win=replace(event.win, after_eight_counters=False))
    return replace(event, riichi=())


def to_imp(difference: Fraction, scale: ImpRules) -> int:
    """Convert a difference from the datum to IMPs. The scale is symmetrical above and below the datum."""
    begins = (2 * step - (scale.gap.value == "midpoint") for step in scale.scale.value)
    size = sum(2 * abs(difference) >= step for step in begins)
    return size if difference > 0 else -size
