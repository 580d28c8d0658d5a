"""The table's state machine: a table of phases and events, no IO.

`handle(state, event)` gives the new state and the facts to be told. An event that the phase does not allow
raises NotNow and leaves the state as it was. The diagram in docs/ is made from RULES.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from broker.contract.facts import Fact
from kiosk.table import arbiter, calls, claim, guards, orders, pause, plan, restore, seating, self_test, settle
from kiosk.table.errors import NotNow
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
    Event,
    ExtraTimeGiven,
    FalseHuRuled,
    GuardOverridden,
    HandTold,
    Happened,
    LastTakenBack,
    NextDealCalled,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayEndedDrawn,
    PlayVoided,
    Reopened,
    Restarted,
    ResultRefused,
    RiichiLaid,
    RowTicked,
    SeatsSwapped,
    SelfTestBegun,
    SelfTestEnded,
    SessionStopped,
    TrayChecked,
    ValueEntered,
)
from kiosk.table.riichi import accepting, alone, hand
from kiosk.table.state import SETTLE_NS, Pause, Phase, Table

Step = tuple[Table, tuple[Fact, ...]]
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

    On another clock presses count at once: whoever has waited for the restart is not pushing twice. On the same clock
    times stay what they are: a button box may have kept presses from before, which belong between those that are known.
    """
    rebased = state if event.same_clock else _on_new_clock(state, event.at)
    if rebased.window is None:
        return rebased, ()
    began = rebased.pause.since if rebased.pause and rebased.paused else event.at
    return claim.stands(rebased, rebased.window.reopened(began)), ()


def _on_new_clock(state: Table, now: int) -> Table:
    """Move what is known to another clock: distances stay, the last of it is now."""
    return replace(
        state,
        since=now - SETTLE_NS,
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
    Rule((*BETWEEN, Phase.RESTORING), Assigned, plan.assigned, (Phase.RESTORING, Phase.FINISHED)),
    Rule((Phase.RESTORING,), TrayChecked, restore.checked, (Phase.SEATING, Phase.CONFIRMING)),
    Rule((Phase.RESTORING, Phase.SEATING), ButtonPressed, seating.pressed, (Phase.CONFIRMING,)),
    Rule((Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING), SeatsSwapped, seating.swapped, (Phase.SEATING,)),
    Rule((Phase.RESTORING,), GuardOverridden, guards.overridden),
    Rule((Phase.RESTORING,), DealBroughtForward, guards.brought_forward),
    Rule((Phase.RESTORING,), RowTicked, restore.ticked, (Phase.SEATING, Phase.CONFIRMING)),
    Rule((Phase.RESTORING,), CarrierTakenApart, restore.taken_apart),
    Rule((Phase.CONFIRMING,), ButtonPressed, restore.confirmed, (Phase.PLAYING,)),
    Rule((Phase.PLAYING, Phase.CLAIMING), ButtonPressed, claim.pressed, (Phase.CLAIMING,)),
    Rule((Phase.PLAYING, Phase.CLAIMING), PlayEndedDrawn, claim.ended, (Phase.CLAIMING,)),
    Rule((Phase.CLAIMING,), ButtonReleased, claim.released),
    Rule((Phase.PLAYING, Phase.CLAIMING), ButtonHeld, claim.held, (Phase.CLAIMING,)),
    Rule((Phase.CLAIMING,), ClaimWindowElapsed, claim.elapsed, (Phase.DECLARED, Phase.ACCEPTING, Phase.PLAYING)),
    Rule((Phase.DECLARED,), FalseHuRuled, settle.false_hu, (Phase.PLAYING,)),
    Rule((Phase.DECLARED,), ValueEntered, settle.valued, (Phase.ACCEPTING,)),
    Rule((Phase.ACCEPTING,), ButtonPressed, settle.accepted, (Phase.RECORDED,)),
    Rule((Phase.ACCEPTING,), ResultRefused, settle.refused, (Phase.PLAYING, Phase.DECLARED)),
    Rule((Phase.RECORDED,), NextDealCalled, plan.next_deal, (Phase.RESTORING, Phase.FINISHED)),
    Rule((Phase.RECORDED,), Reopened, arbiter.reopened, (Phase.DECLARED, Phase.PLAYING)),
    Rule(UNDER_WAY, DeclarationsCorrected, arbiter.corrected, (Phase.DECLARED, Phase.PLAYING)),
    Rule(PLAYED, PlayVoided, arbiter.voided, (Phase.RECORDED,)),
    Rule(PLAYED, PlayAdjusted, arbiter.adjusted, (Phase.RECORDED,)),
    Rule(SHOWN, ButtonHeld, calls.held),
    Rule(EVERY, CallToggled, calls.toggled),
    Rule(EVERY, Ordered, orders.carried_out, (Phase.DECLARED, Phase.PLAYING)),
    Rule(EVERY, ArbiterAdmitted, arbiter.admitted),
    Rule(EVERY, PinRefused, arbiter.refused),
    Rule(EVERY, ArbiterLeft, arbiter.left),
    Rule(EVERY, PauseRuled, arbiter.paused),
    Rule(EVERY, ExtraTimeGiven, arbiter.extra_time),
    Rule(EVERY, SelfTestBegun, self_test.begun),
    Rule(EVERY, SelfTestEnded, self_test.ended),
    Rule(EVERY, Restarted, _restarted),
)

PLAY: Final = (Phase.PLAYING, Phase.CLAIMING)
"""Where what is public must do the same whether or not somebody has pressed."""

RIICHI: Final = (
    Rule((*PLAY, Phase.DECLARED), RiichiLaid, hand.laid),
    Rule(PLAY, ButtonHeld, hand.held, (Phase.PLAYING,)),
    Rule(PLAY, PlayEndedDrawn, hand.ended, (Phase.CLAIMING,)),
    Rule(PLAY, HandTold, hand.told, (Phase.CLAIMING, Phase.RECORDED)),
    Rule((Phase.CLAIMING,), ClaimWindowElapsed, hand.elapsed, (Phase.DECLARED, Phase.ACCEPTING, Phase.PLAYING)),
    Rule((Phase.DECLARED,), ButtonPressed, hand.tenpai),
    Rule((Phase.DECLARED,), HandTold, hand.shown, (Phase.ACCEPTING,)),
    Rule((Phase.ACCEPTING,), ButtonPressed, accepting.accepted, (Phase.RECORDED,)),
    Rule((Phase.ACCEPTING,), ResultRefused, accepting.refused, (Phase.PLAYING, Phase.DECLARED)),
    Rule((Phase.RECORDED,), HandTold, accepting.fault),
    Rule((Phase.RECORDED,), NextDealCalled, accepting.next_hand, (Phase.PLAYING, Phase.FINISHED)),
    Rule((Phase.RECORDED,), SessionStopped, accepting.stopped, (Phase.FINISHED,)),
    Rule((*PLAY, Phase.RECORDED, Phase.FINISHED), LastTakenBack, accepting.taken_back, (Phase.PLAYING,)),
)
"""What is otherwise, or more, at a table that plays a riichi session."""

ALONE: Final = (
    Rule(PLAY, PlayEndedDrawn, alone.ended, (Phase.CLAIMING,)),
    Rule(PLAY, HandTold, alone.told, (Phase.CLAIMING,)),
    Rule((Phase.CLAIMING,), ClaimWindowElapsed, alone.elapsed, (Phase.DECLARED, Phase.ACCEPTING, Phase.PLAYING)),
    Rule((Phase.DECLARED,), ButtonPressed, alone.tenpai),
    Rule((Phase.DECLARED,), HandTold, alone.shown, (Phase.ACCEPTING,)),
)
"""What is otherwise where planned deals are played under riichi rules, each hand scored alone."""

OF_DUPLICATE: Final = frozenset(
    {
        TrayChecked,
        RowTicked,
        CarrierTakenApart,
        SeatsSwapped,
        GuardOverridden,
        DealBroughtForward,
        FalseHuRuled,
        ValueEntered,
        Reopened,
        DeclarationsCorrected,
        PlayVoided,
        PlayAdjusted,
    }
)
"""What never belongs to a riichi session: its hands would be lost, and the scorer refuses what would be told."""

_HANDLERS: Final = {(phase, rule.event): rule.handler for rule in RULES for phase in rule.phases}
_OF_RIICHI: Final = {(phase, rule.event): rule.handler for rule in RIICHI for phase in rule.phases}
_ALONE: Final = {(phase, rule.event): rule.handler for rule in ALONE for phase in rule.phases}


def handle(state: Table, event: Event) -> Step:
    """Give the state after an event, and the facts to tell. Raises NotNow."""
    pause.refuse(state, event)
    guards.refuse(state, event)
    self_test.refuse(state, event)
    if isinstance(event, ButtonPressed):
        _refuse_told_late(state, event)
    handler = _handler(state, event)
    if handler is None:
        raise _refusal(state.phase, event)
    after, facts = handler(state, event)
    return self_test.overtaken(after), facts


def _handler(state: Table, event: Event) -> Handler | None:
    asked = (state.phase, type(event))
    if state.alone:
        return _ALONE.get(asked) or _HANDLERS.get(asked)
    if state.session is None:
        return _HANDLERS.get(asked)
    return None if type(event) in OF_DUPLICATE else _OF_RIICHI.get(asked) or _HANDLERS.get(asked)


def _refuse_told_late(state: Table, event: ButtonPressed) -> None:
    """Refuse a press of a window whose outcome the table has seen: it cannot be taken for a hu, or an acceptance."""
    closed_at = state.closed_at if state.phase in (Phase.DECLARED, Phase.ACCEPTING) else None
    if closed_at is None or event.at >= closed_at:
        return
    if event.seat in state.fines:
        raise NotNow("press_of_dead_hand", f"{event.seat} has declared a false hu in this play")
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
