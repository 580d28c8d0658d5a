"""The table's state machine: a table of phases and events, no IO.

`handle(state, event)` gives the new state and the facts to be told. An event that the phase does not allow
raises NotNow and leaves the state as it was. The diagram in docs/ is made from RULES.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from kiosk.table import arbiter, claim, guards, plan, riichi
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    CallToggled,
    CarrierTakenApart,
    ClaimWindowElapsed,
    DealBroughtForward,
    DeclarationsCorrected,
    DepositLaid,
    Event,
    ExtraTimeGiven,
    FalseHuRuled,
    GuardOverridden,
    HandEntered,
    Happened,
    InfractionRuled,
    LastTakenBack,
    NextDealCalled,
    NoHuMeant,
    NotNow,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayEndedDrawn,
    PlayKept,
    PlayVoided,
    Reopened,
    Restarted,
    ResultRefused,
    RowTicked,
    SeatsSwapped,
    SelfTestBegun,
    SelfTestEnded,
    SessionStopped,
    TrayChecked,
    ValueEntered,
)
from kiosk.table.state import QUIET, SETTLE_NS, Pause, Phase, Step, Table

Handler = Callable[[Table, Any], Step]


@dataclass(frozen=True, slots=True)
class Rule:
    """In these phases this event is handled so, and leads there (or stays)."""

    phases: tuple[Phase, ...]
    event: type[Happened]
    handler: Handler
    leads_to: tuple[Phase, ...] = ()


def _restarted(state: Table, event: Restarted) -> Step:
    """An open claim window begins again, so that nobody loses their time.

    On another clock presses count at once, and none that comes then is doubtful: whoever has waited for the restart is
    not pushing twice. On the same clock times stay what they are: a button box may have kept presses from before,
    which belong between those that are known.
    """
    rebased = state if event.same_clock else _on_new_clock(state, event)
    if rebased.window is None:
        return rebased, ()
    began = rebased.pause.since if rebased.pause and rebased.paused else event.at
    return claim.with_window(rebased, rebased.window.reopened(began)), ()


def _on_new_clock(state: Table, event: Restarted) -> Table:
    """Move what is known to another clock: distances stay, the last of it is now."""
    now, since = event.at, event.at - claim.DOUBTFUL_NS
    if event.doubts and state.window:
        since = min(state.since + now - state.window.latest, now - SETTLE_NS)
    return replace(
        state,
        since=since,
        closed_at=None,
        play_clock=None,
        pin_wrong_at=now if state.pins_wrong else 0,
        window=state.window and state.window.moved(now - state.window.latest),
        pause=Pause(now) if state.paused else None,
    )


EVERY: Final = tuple(Phase)
SHOWN: Final = tuple(phase for phase in Phase if phase not in (Phase.PLAYING, Phase.CLAIMING))
"""Where no claim is to be kept silent."""
UNDER_WAY: Final = (Phase.PLAYING, Phase.CLAIMING, Phase.DECLARED, Phase.ACCEPTING)
PLAYED: Final = tuple(phase for phase in Phase if phase not in (Phase.WAITING, Phase.FINISHED))
"""Where there is a play to rule on."""
BETWEEN: Final = (Phase.WAITING, Phase.RECORDED, Phase.FINISHED)

RULES: Final = (
    Rule((*BETWEEN, *plan.LAYING), Assigned, plan.on_assigned, (Phase.RESTORING, Phase.FINISHED)),
    Rule((Phase.RESTORING,), TrayChecked, plan.on_tray_checked, (Phase.SEATING, Phase.CONFIRMING)),
    Rule((Phase.RESTORING, Phase.SEATING), ButtonPressed, plan.on_seating_press, (Phase.CONFIRMING,)),
    Rule((Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING), SeatsSwapped, plan.on_seats_swapped, (Phase.SEATING,)),
    Rule((Phase.RESTORING,), GuardOverridden, guards.on_guard_overridden),
    Rule((Phase.RESTORING,), DealBroughtForward, guards.on_deal_brought_forward),
    Rule((Phase.RESTORING,), RowTicked, plan.on_row_ticked, (Phase.SEATING, Phase.CONFIRMING)),
    Rule((Phase.RESTORING,), CarrierTakenApart, plan.on_carrier_taken_apart),
    Rule((Phase.CONFIRMING,), ButtonPressed, plan.on_confirming_press, (Phase.PLAYING,)),
    Rule((Phase.PLAYING, Phase.CLAIMING), ButtonPressed, claim.on_claim_press, (Phase.CLAIMING,)),
    Rule((Phase.PLAYING, Phase.CLAIMING), PlayEndedDrawn, claim.on_play_drawn, (Phase.CLAIMING,)),
    Rule((Phase.CLAIMING,), ButtonReleased, claim.on_claim_release),
    Rule((Phase.PLAYING, Phase.CLAIMING), ButtonHeld, claim.on_claim_hold, (Phase.CLAIMING,)),
    Rule(
        (Phase.CLAIMING,), ClaimWindowElapsed, claim.on_window_elapsed, (Phase.DECLARED, Phase.ACCEPTING, Phase.PLAYING)
    ),
    Rule((Phase.CLAIMING,), NoHuMeant, claim.on_no_hu_meant),
    Rule((Phase.DECLARED,), FalseHuRuled, claim.on_false_hu, (Phase.PLAYING,)),
    Rule((Phase.DECLARED,), ValueEntered, claim.on_value_entered, (Phase.ACCEPTING,)),
    Rule((Phase.ACCEPTING,), ButtonPressed, claim.on_result_accepted, (Phase.RECORDED,)),
    Rule((Phase.ACCEPTING,), ResultRefused, claim.on_result_refused, (Phase.PLAYING, Phase.DECLARED)),
    Rule((Phase.RECORDED,), NextDealCalled, plan.on_next_deal, (Phase.RESTORING, Phase.FINISHED)),
    Rule((Phase.RECORDED,), PlayKept, plan.on_play_kept),
    Rule((Phase.RECORDED,), Reopened, arbiter.on_reopened, (Phase.DECLARED, Phase.PLAYING)),
    Rule(UNDER_WAY, DeclarationsCorrected, arbiter.on_declarations_corrected, (Phase.DECLARED, Phase.PLAYING)),
    Rule(EVERY, InfractionRuled, arbiter.on_infraction_ruled, (Phase.DECLARED, Phase.PLAYING)),
    Rule(PLAYED, PlayVoided, arbiter.on_play_voided, (Phase.RECORDED,)),
    Rule(PLAYED, PlayAdjusted, arbiter.on_play_adjusted, (Phase.RECORDED,)),
    Rule(SHOWN, ButtonHeld, claim.on_long_press),
    Rule(EVERY, CallToggled, claim.on_call_toggled),
    Rule(EVERY, Ordered, arbiter.on_ordered, (Phase.DECLARED, Phase.PLAYING)),
    Rule(EVERY, ArbiterAdmitted, arbiter.on_arbiter_admitted),
    Rule(EVERY, PinRefused, arbiter.on_pin_refused),
    Rule(EVERY, ArbiterLeft, arbiter.on_arbiter_left),
    Rule(EVERY, PauseRuled, arbiter.on_pause_ruled),
    Rule(EVERY, ExtraTimeGiven, arbiter.on_extra_time),
    Rule(EVERY, SelfTestBegun, guards.on_self_test_begun),
    Rule(EVERY, SelfTestEnded, guards.on_self_test_ended),
    Rule(EVERY, Restarted, _restarted),
)

RIICHI: Final = (
    Rule((*QUIET, Phase.DECLARED), DepositLaid, riichi.on_deposit_laid),
    Rule(QUIET, ButtonHeld, riichi.on_riichi_long_press, (Phase.PLAYING,)),
    Rule(QUIET, PlayEndedDrawn, riichi.on_hand_drawn, (Phase.CLAIMING,)),
    Rule(QUIET, HandEntered, riichi.on_hand_aborted, (Phase.CLAIMING, Phase.RECORDED)),
    Rule(
        (Phase.CLAIMING,),
        ClaimWindowElapsed,
        riichi.on_hand_window_elapsed,
        (Phase.DECLARED, Phase.ACCEPTING, Phase.PLAYING),
    ),
    Rule((Phase.DECLARED,), ButtonPressed, riichi.on_tenpai_press),
    Rule((Phase.DECLARED,), HandEntered, riichi.on_hand_valued, (Phase.ACCEPTING,)),
    Rule((Phase.ACCEPTING,), ButtonPressed, riichi.on_payment_accepted, (Phase.RECORDED,)),
    Rule((Phase.ACCEPTING,), ResultRefused, riichi.on_payment_refused, (Phase.PLAYING, Phase.DECLARED)),
    Rule((Phase.RECORDED,), HandEntered, riichi.on_minor_fault),
    Rule((Phase.RECORDED,), NextDealCalled, riichi.on_next_hand, (Phase.PLAYING, Phase.FINISHED)),
    Rule((Phase.RECORDED,), SessionStopped, riichi.on_session_stopped, (Phase.FINISHED,)),
    Rule((*QUIET, Phase.RECORDED, Phase.FINISHED), LastTakenBack, riichi.on_last_taken_back, (Phase.PLAYING,)),
)
"""What is otherwise, or more, at a table that plays a riichi session."""

PLANNED_RIICHI: Final = (
    Rule(QUIET, PlayEndedDrawn, riichi.on_planned_drawn, (Phase.CLAIMING,)),
    Rule(QUIET, HandEntered, riichi.on_planned_aborted, (Phase.CLAIMING,)),
    Rule(
        (Phase.CLAIMING,),
        ClaimWindowElapsed,
        riichi.on_planned_window_elapsed,
        (Phase.DECLARED, Phase.ACCEPTING, Phase.PLAYING),
    ),
    Rule((Phase.DECLARED,), ButtonPressed, riichi.on_planned_tenpai_press),
    Rule((Phase.DECLARED,), HandEntered, riichi.on_planned_valued, (Phase.ACCEPTING,)),
)
"""What is otherwise where planned deals are played under riichi rules, each hand scored alone."""

DUPLICATE_ONLY: Final = frozenset(
    {
        TrayChecked,
        RowTicked,
        CarrierTakenApart,
        SeatsSwapped,
        GuardOverridden,
        DealBroughtForward,
        FalseHuRuled,
        InfractionRuled,
        ValueEntered,
        Reopened,
        DeclarationsCorrected,
        PlayVoided,
        PlayAdjusted,
        PlayKept,
    }
)
"""What never belongs to a riichi session: its hands would be lost, and the scorer refuses what would be told."""

_HANDLERS: Final = {(phase, rule.event): rule.handler for rule in RULES for phase in rule.phases}
_OF_RIICHI: Final = {(phase, rule.event): rule.handler for rule in RIICHI for phase in rule.phases}
_OF_PLANNED_RIICHI: Final = {(phase, rule.event): rule.handler for rule in PLANNED_RIICHI for phase in rule.phases}


def handle(state: Table, event: Event) -> Step:
    """Return the state after an event, and the facts to tell. Raises NotNow."""
    guards.refuse_in_pause(state, event)
    guards.refuse_guarded(state, event)
    guards.refuse_in_self_test(state, event)
    if isinstance(event, ButtonPressed):
        _refuse_late_press(state, event)
    handler = _handler(state, event)
    if handler is None:
        raise _refusal(state.phase, event)
    after, facts = handler(state, event)
    return guards.end_self_test_in_play(after), facts


def _handler(state: Table, event: Event) -> Handler | None:
    asked = (state.phase, type(event))
    if state.alone:
        return _OF_PLANNED_RIICHI.get(asked) or _HANDLERS.get(asked)
    if state.session is None:
        return _HANDLERS.get(asked)
    return None if type(event) in DUPLICATE_ONLY else _OF_RIICHI.get(asked) or _HANDLERS.get(asked)


def _refuse_late_press(state: Table, event: ButtonPressed) -> None:
    """Refuse a press of a window whose outcome the table has seen: it cannot be taken for a hu, or an acceptance."""
    closed_at = state.closed_at if state.phase in (Phase.DECLARED, Phase.ACCEPTING) else None
    if closed_at is None or event.at >= closed_at:
        return
    if event.seat in state.dead_hands:
        raise NotNow("press_of_dead_hand", f"{event.seat} cannot win this play any more")
    if any(one.seat == event.seat for one in state.declarations):
        raise NotNow("press_again", f"{event.seat} has declared already")
    raise NotNow("press_told_late", f"{event.seat} pressed in time, but the window was closed before that was told")


def _refusal(phase: Phase, event: Event) -> NotNow:
    text = f"{type(event).__name__} while {phase.value}"
    if not isinstance(event, ButtonPressed):
        return NotNow("not_now", text)
    if phase is Phase.WAITING:
        return NotNow("press_before_play", text)
    if phase is Phase.DECLARED:
        return NotNow("press_after_window", text)
    return NotNow("press_after_play", text)
