"""What each seat scores at the table in one play (OEDMC rules 1-2).

The four points need not sum to zero: +32 with two winners, +64 with three, 0 to -2 self-drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from broker.contract.words import SEATS, Seat, WinKind
from broker.rules import declarers
from broker.rules.errors import RuleError
from broker.rules.profile import Payments


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a play ended: the winners with their hand values, and who discarded the tile."""

    win: WinKind
    winners: Mapping[Seat, int]
    discarder: Seat | None = None


def points(outcome: Outcome, payments: Payments) -> dict[Seat, int]:
    """Give the points of all four seats. Raises RuleError with the codes of `check`."""
    check(outcome, payments)
    if outcome.win == "draw":
        return dict.fromkeys(SEATS, 0)
    if outcome.win == "self_drawn":
        return _self_drawn(outcome, payments)
    return _on_discard(outcome, payments)


def kept(outcome: Outcome, payments: Payments) -> Outcome:
    """Give the outcome with those winners whom the profile lets win, out of all who declared a valid hand.

    Under `nearest` that is the first in turn order after the discarder (MCR); else everybody (OEDMC rule 2).
    """
    discarder, declared = outcome.discarder, outcome.winners
    if payments.several_hu.value != "nearest" or discarder is None or discarder in declared or not declared:
        return outcome
    won = declarers.winners(tuple(declared), discarder, "nearest").won
    return replace(outcome, winners={seat: declared[seat] for seat in won})


def check(outcome: Outcome, payments: Payments) -> None:
    """Raise RuleError where there can be no such outcome."""
    winners, discarder = outcome.winners, outcome.discarder
    if outcome.win == "draw":
        _refuse_if(bool(winners), "draw_with_winner", "a draw has no winner")
        _refuse_if(discarder is not None, "discarder_not_asked", "a draw has no discarder")
        return
    _refuse_if(not winners, "winner_missing", "a win needs a winner")
    if outcome.win == "self_drawn":
        _refuse_if(len(winners) > 1, "several_self_drawn", "only one player can win on a drawn tile")
        _refuse_if(discarder is not None, "discarder_not_asked", "a self-drawn win has no discarder")
    else:
        _refuse_if(discarder is None, "discarder_missing", "a win on a discard needs the discarder")
        _refuse_if(discarder in winners, "discarder_wins", "nobody wins on their own discard")
        one_only = payments.several_hu.value == "nearest" and len(winners) > 1
        _refuse_if(one_only, "several_winners", "only the nearest in turn order wins under this profile")
    for seat, value in winners.items():
        low = value < payments.minimum.value
        _refuse_if(low, "below_minimum", f"{seat}: {value} is under the minimum of {payments.minimum.value}")


def _refuse_if(wrong: bool, code: str, text: str) -> None:  # noqa: FBT001 - reads as a sentence
    if wrong:
        raise RuleError(code, text)


def _self_drawn(outcome: Outcome, payments: Payments) -> dict[Seat, int]:
    (winner, value), base = next(iter(outcome.winners.items())), payments.base.value
    if payments.self_drawn.value == "full":
        return {seat: 3 * (value + base) if seat == winner else -(value + base) for seat in SEATS}
    third = -(-value // 3)
    return {seat: value + 3 * base if seat == winner else -(base + third) for seat in SEATS}


def _on_discard(outcome: Outcome, payments: Payments) -> dict[Seat, int]:
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
