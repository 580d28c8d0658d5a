"""What a ruling is to the table, one event each, as it was chosen on the arbiter's panel."""

from kiosk.panel import Decided
from kiosk.table.events import (
    DealBroughtForward,
    DeclarationsCorrected,
    Event,
    ExtraTimeGiven,
    FalseHuRuled,
    GuardOverridden,
    PauseRuled,
    PlayAdjusted,
    PlayVoided,
    Reopened,
    SeatsSwapped,
    SelfTestBegun,
)
from kiosk.table.state import Table


def event_of(decided: Decided, state: Table, now: int) -> Event:
    """Give the event."""
    match decided.act:
        case "pause" | "resume":
            return PauseRuled(at=now, begin=decided.act == "pause", reason=decided.reason)
        case "self_test":
            return SelfTestBegun(at=now, asked=True)
        case "extra_time":
            return ExtraTimeGiven(at=now, minutes=decided.amount, reason=decided.reason)
        case "swap" | "declared" | "false_hu":
            return _of_seats(decided, now)
        case "forward":
            return DealBroughtForward(at=now, round=_round_here(state), reason=decided.reason)
        case _:
            return _of_play(decided, now)


def _of_seats(decided: Decided, now: int) -> Event:
    if decided.act == "swap":
        one, other = decided.seats
        return SeatsSwapped(at=now, one=one, other=other, reason=decided.reason)
    if decided.act == "declared":
        return DeclarationsCorrected(at=now, seats=decided.seats, reason=decided.reason)
    return FalseHuRuled(at=now, seat=decided.seats[0], imp=decided.amount, reason=decided.reason)


def _of_play(decided: Decided, now: int) -> Event:
    match decided.act:
        case "override":
            return GuardOverridden(at=now, reason=decided.reason)
        case "reopen":
            return Reopened(at=now, reason=decided.reason)
        case "adjust":
            return PlayAdjusted(at=now, at_fault=decided.seats, reason=decided.reason)
        case _:
            return PlayVoided(at=now, reason=decided.reason)


def _round_here(state: Table) -> int:
    """Give the round of the deal whose carrier is here; 1 where that is not known, which the table then refuses."""
    deal = state.check.deal if state.check else None
    plays = state.assignment.plays if state.assignment else ()
    return next((play.round for play in plays if play.deal == deal), 1)
