"""The table's state machine: rules for phases and events, without IO.

`handle(state, event)` returns the new state and the facts to send. An event that the phase does not allow raises NotNow
and leaves the state as it was, as does one that a guard, the arbiter's pause or a self-test stops. The diagram in docs/
is made from RULES.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from broker.protocol import PlannedPlay
from kiosk.table import arbiter, claim, events, plan, riichi
from kiosk.table.state import QUIET, SETTLE_NS, NotNow, Pause, Phase, Step, Table, arbiter_name, in_play

Handler = Callable[[Table, Any], Step]


@dataclass(frozen=True, slots=True)
class Rule:
    """How an event is handled in some phases, and the phases it may lead to (none: it stays)."""

    phases: tuple[Phase, ...]
    event: type[events.Happened]
    handler: Handler
    leads_to: tuple[Phase, ...] = ()


def index_brought_forward(state: Table, round_: int) -> int:
    """Return the index of a play that may be played before its turn. Raises NotNow."""
    plays = state.assignment.plays if state.assignment else ()
    index = next((at for at, one in enumerate(plays) if one.round == round_), None)
    if index is None or index == state.index:
        raise NotNow("no_such_play", f"round {round_}")
    recorded = state.assignment.recorded if state.assignment else ()
    if round_ in {*recorded, *(one.round for one in state.played)}:
        raise NotNow("deal_played_here", f"round {round_}")
    if _ids(plays[index]) != {player.id for player in state.players.values()}:
        raise NotNow("other_players", f"round {round_} is for other players than sit here")
    return index


def _ids(play: PlannedPlay) -> set[str]:
    return {player.id for player in play.players.values()}


OUT_OF_ORDER: Final = "out_of_order"

ALLOWED_WHEN_GUARDED: Final = (
    events.ArbiterAdmitted,
    events.ArbiterLeft,
    events.Assigned,
    events.ButtonHeld,
    events.ButtonPressed,
    events.CallToggled,
    events.DealBroughtForward,
    events.ExtraTimeGiven,
    events.GuardOverridden,
    events.InfractionRuled,
    events.Ordered,
    events.PauseRuled,
    events.PinRefused,
    events.PlayAdjusted,
    events.PlayVoided,
    events.Restarted,
    events.SeatsSwapped,
    events.SelfTestBegun,
    events.SelfTestEnded,
)
"""Events that are allowed even when a guard stops the play: people sit down, the arbiter is called and rules."""


def active_guards(state: Table) -> tuple[str, ...]:
    """Return the codes of the guards that stop the current play, the gravest first."""
    return tuple(stop.code for stop in _guards(state) if stop.code not in state.allowed)


def _guards(state: Table) -> Iterator[NotNow]:
    if state.phase is not Phase.RESTORING or state.play is None:
        return
    if any(one.deal == state.play.deal for one in state.played):
        yield NotNow("deal_played_here", f"deal {state.play.deal}")
    if again := players_repeating(state):
        yield NotNow("player_played_deal", ", ".join(again))


def players_repeating(state: Table) -> tuple[str, ...]:
    """Return the ids of players here who have played this deal before, at this table or, says the scorer, elsewhere."""
    if state.play is None or state.assignment is None:
        return ()
    here = {player.id for player in state.players.values()}
    had = {one for play in state.played if play.deal == state.play.deal for one in play.players}
    return tuple(sorted(here & (had | set(state.assignment.repeats.get(state.play.round, ())))))


def refuse_guarded(state: Table, event: events.Event) -> None:
    """Refuse to go on with a play that a guard stops. Raises NotNow with the guard's code."""
    if not isinstance(event, ALLOWED_WHEN_GUARDED) and (guards := active_guards(state)):
        raise NotNow(guards[0])


def on_guard_overridden(state: Table, event: events.GuardOverridden) -> Step:
    """Let the play go on, and report the guards that were overridden."""
    codes = active_guards(state)
    fact = arbiter.overridden(state, codes, event.reason)
    if not codes:
        raise NotNow("nothing_to_override", "nothing stops this play")
    return replace(state, allowed=state.allowed | {*codes}), (fact,)


def on_deal_brought_forward(state: Table, event: events.DealBroughtForward) -> Step:
    """Play another deal of this table before its turn; the one whose turn it was comes later."""
    arbiter_name(state)
    begun = plan.begin_play(state, index_brought_forward(state, event.round), event.at)
    return begun, (arbiter.overridden(begun, (OUT_OF_ORDER,), event.reason),)


def refuse_in_pause(state: Table, event: events.Event) -> None:
    """Refuse events that may not happen in a pause, judged by when they happened rather than arrived. Raises NotNow.

    The arbiter may still be called and rule, and trays may be checked. Keys only reach the arbiter's panel.
    """
    pause = state.pause
    if pause is None:
        return
    if (
        isinstance(event, events.ButtonPressed)
        and pause.since <= event.at
        and (pause.until is None or event.at < pause.until)
    ):
        raise NotNow("press_in_pause", f"{event.seat}, while the arbiter had paused the table")
    if isinstance(event, events.PlayEndedDrawn | events.NoHuMeant | events.ClaimWindowElapsed) and state.paused:
        raise NotNow("table_paused", type(event).__name__)


IDLE: Final = (Phase.WAITING, Phase.FINISHED)
"""Phases in which anybody may ask for a self-test: nothing is being played."""

BEFORE_PLAY: Final = (*IDLE, Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING)
"""Phases in which a self-test may start by itself."""


def on_self_test_begun(state: Table, event: events.SelfTestBegun) -> Step:
    """Begin a self-test. Raises NotNow: during a play only the arbiter may ask for it, once play is paused."""
    if event.asked and state.phase not in IDLE:
        arbiter_name(state)
    if in_play(state) or (not event.asked and state.phase not in BEFORE_PLAY):
        raise NotNow("not_now", "a self-test in the middle of a play")
    return replace(state, self_test="running"), ()


def on_self_test_ended(state: Table, event: events.SelfTestEnded) -> Step:
    """End a self-test, or skip it."""
    if state.self_test != "running":
        raise NotNow("not_now", "no self-test is running")
    return replace(state, self_test=event.verdict), ()


def refuse_in_self_test(state: Table, event: events.Event) -> None:
    """Refuse presses while the buttons are being tested. Raises NotNow."""
    if state.self_test == "running" and isinstance(event, events.ButtonPressed | events.ButtonHeld):
        raise NotNow("press_in_test", event.seat)


def end_self_test_in_play(state: Table) -> Table:
    """Abort a self-test if play resumes because the desk ended the pause it was run in."""
    return replace(state, self_test="skipped") if state.self_test == "running" and in_play(state) else state


def on_restarted(state: Table, event: events.Restarted) -> Step:
    """Restart an open claim window, so that nobody loses their time.

    On another clock, presses count at once and are not doubtful: whoever waited for the restart is not pressing twice.
    On the same clock, times stay as they are: a button box may have kept presses from before, which belong among the
    known ones.
    """
    rebased = state if event.same_clock else _on_new_clock(state, event)
    if rebased.window is None:
        return rebased, ()
    began = rebased.pause.since if rebased.pause and rebased.paused else event.at
    return claim.with_window(rebased, rebased.window.reopened(began)), ()


def _on_new_clock(state: Table, event: events.Restarted) -> Table:
    """Move all known times to another clock: distances stay, and the latest time becomes now."""
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
NOT_QUIET: Final = tuple(phase for phase in Phase if phase not in QUIET)
"""Phases in which no claim must be kept silent."""
UNDER_WAY: Final = (Phase.PLAYING, Phase.CLAIMING, Phase.DECLARED, Phase.ACCEPTING)
PLAYED: Final = tuple(phase for phase in Phase if phase not in (Phase.WAITING, Phase.FINISHED))
"""Phases in which there is a play to rule on."""
AFTER_WINDOW: Final = (Phase.DECLARED, Phase.ACCEPTING, Phase.PLAYING)
BETWEEN_PLAYS: Final = (Phase.WAITING, Phase.RECORDED, Phase.FINISHED)

RULES: Final = (
    Rule((*BETWEEN_PLAYS, *plan.PREPARING), events.Assigned, plan.on_assigned, (Phase.RESTORING, Phase.FINISHED)),
    Rule((Phase.RESTORING,), events.TrayChecked, plan.on_tray_checked, (Phase.SEATING, Phase.CONFIRMING)),
    Rule(plan.PREPARING, events.ButtonPressed, plan.on_seating_press, (Phase.CONFIRMING,)),
    Rule(
        (Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING), events.SeatsSwapped, plan.on_seats_swapped, (Phase.SEATING,)
    ),
    Rule((Phase.RESTORING,), events.GuardOverridden, on_guard_overridden),
    Rule((Phase.RESTORING,), events.DealBroughtForward, on_deal_brought_forward),
    Rule((Phase.RESTORING,), events.RowTicked, plan.on_row_ticked, (Phase.SEATING, Phase.CONFIRMING)),
    Rule((Phase.RESTORING,), events.CarrierTakenApart, plan.on_carrier_taken_apart),
    Rule((Phase.CONFIRMING,), events.ButtonPressed, plan.on_confirming_press, (Phase.PLAYING,)),
    Rule(QUIET, events.ButtonPressed, claim.on_claim_press, (Phase.CLAIMING,)),
    Rule(QUIET, events.PlayEndedDrawn, claim.on_play_drawn, (Phase.CLAIMING,)),
    Rule((Phase.CLAIMING,), events.ButtonReleased, claim.on_claim_release),
    Rule(QUIET, events.ButtonHeld, claim.on_claim_hold, (Phase.CLAIMING,)),
    Rule(
        (Phase.CLAIMING,),
        events.ClaimWindowElapsed,
        claim.on_window_elapsed,
        AFTER_WINDOW,
    ),
    Rule((Phase.CLAIMING,), events.NoHuMeant, claim.on_no_hu_meant),
    Rule((Phase.DECLARED,), events.FalseHuRuled, claim.on_false_hu, (Phase.PLAYING,)),
    Rule((Phase.DECLARED,), events.ValueEntered, claim.on_value_entered, (Phase.ACCEPTING,)),
    Rule((Phase.ACCEPTING,), events.ButtonPressed, claim.on_result_accepted, (Phase.RECORDED,)),
    Rule((Phase.ACCEPTING,), events.ResultRefused, claim.on_result_refused, (Phase.PLAYING, Phase.DECLARED)),
    Rule((Phase.RECORDED,), events.NextDealCalled, plan.on_next_deal, (Phase.RESTORING, Phase.FINISHED)),
    Rule((Phase.RECORDED,), events.PlayKept, plan.on_play_kept),
    Rule((Phase.RECORDED,), events.Reopened, arbiter.on_reopened, (Phase.DECLARED, Phase.PLAYING)),
    Rule(UNDER_WAY, events.DeclarationsCorrected, arbiter.on_declarations_corrected, (Phase.DECLARED, Phase.PLAYING)),
    Rule(EVERY, events.InfractionRuled, arbiter.on_infraction_ruled, (Phase.DECLARED, Phase.PLAYING)),
    Rule(PLAYED, events.PlayVoided, arbiter.on_play_voided, (Phase.RECORDED,)),
    Rule(PLAYED, events.PlayAdjusted, arbiter.on_play_adjusted, (Phase.RECORDED,)),
    Rule(NOT_QUIET, events.ButtonHeld, claim.on_long_press),
    Rule(EVERY, events.CallToggled, claim.on_call_toggled),
    Rule(EVERY, events.Ordered, arbiter.on_ordered, (Phase.DECLARED, Phase.PLAYING)),
    Rule(EVERY, events.ArbiterAdmitted, arbiter.on_arbiter_admitted),
    Rule(EVERY, events.PinRefused, arbiter.on_pin_refused),
    Rule(EVERY, events.ArbiterLeft, arbiter.on_arbiter_left),
    Rule(EVERY, events.PauseRuled, arbiter.on_pause_ruled),
    Rule(EVERY, events.ExtraTimeGiven, arbiter.on_extra_time),
    Rule(EVERY, events.SelfTestBegun, on_self_test_begun),
    Rule(EVERY, events.SelfTestEnded, on_self_test_ended),
    Rule(EVERY, events.Restarted, on_restarted),
)

_ANY_RIICHI: Final = (
    Rule(QUIET, events.PlayEndedDrawn, riichi.on_hand_drawn, (Phase.CLAIMING,)),
    Rule((Phase.CLAIMING,), events.ClaimWindowElapsed, riichi.on_hand_window_elapsed, AFTER_WINDOW),
    Rule((Phase.DECLARED,), events.ButtonPressed, riichi.on_tenpai_press),
)

RIICHI: Final = (
    *_ANY_RIICHI,
    Rule((*QUIET, Phase.DECLARED), events.DepositLaid, riichi.on_deposit_laid),
    Rule(QUIET, events.ButtonHeld, riichi.on_riichi_long_press, (Phase.PLAYING,)),
    Rule(QUIET, events.HandEntered, riichi.on_hand_aborted, (Phase.CLAIMING, Phase.RECORDED)),
    Rule((Phase.DECLARED,), events.HandEntered, riichi.on_hand_valued, (Phase.ACCEPTING, Phase.RECORDED)),
    Rule((Phase.ACCEPTING,), events.ButtonPressed, riichi.on_payment_accepted, (Phase.RECORDED,)),
    Rule((Phase.ACCEPTING,), events.ResultRefused, riichi.on_payment_refused, (Phase.PLAYING, Phase.DECLARED)),
    Rule((Phase.RECORDED,), events.HandEntered, riichi.on_minor_fault),
    Rule((Phase.RECORDED,), events.NextDealCalled, riichi.on_next_hand, (Phase.PLAYING, Phase.FINISHED)),
    Rule((Phase.RECORDED,), events.SessionStopped, riichi.on_session_stopped, (Phase.FINISHED,)),
    Rule((*QUIET, Phase.RECORDED, Phase.FINISHED), events.LastTakenBack, riichi.on_last_taken_back, (Phase.PLAYING,)),
)
"""Rules that differ, or are added, at a table that plays a riichi session."""

PLANNED_RIICHI: Final = (
    *_ANY_RIICHI,
    Rule(QUIET, events.HandEntered, riichi.on_planned_aborted, (Phase.CLAIMING,)),
    Rule((Phase.DECLARED,), events.HandEntered, riichi.on_planned_valued, (Phase.ACCEPTING,)),
)
"""Rules that differ where planned deals are played under riichi rules, each hand scored alone."""

DUPLICATE_ONLY: Final = frozenset(
    {
        events.TrayChecked,
        events.RowTicked,
        events.CarrierTakenApart,
        events.SeatsSwapped,
        events.GuardOverridden,
        events.DealBroughtForward,
        events.FalseHuRuled,
        events.InfractionRuled,
        events.ValueEntered,
        events.Reopened,
        events.DeclarationsCorrected,
        events.PlayVoided,
        events.PlayAdjusted,
        events.PlayKept,
    }
)
"""Events that a riichi session never allows: they would lose its hands, and the scorer refuses their facts."""

_HANDLERS: Final = {(phase, rule.event): rule.handler for rule in RULES for phase in rule.phases}
_OF_RIICHI: Final = {(phase, rule.event): rule.handler for rule in RIICHI for phase in rule.phases}
_OF_PLANNED_RIICHI: Final = {(phase, rule.event): rule.handler for rule in PLANNED_RIICHI for phase in rule.phases}


def handle(state: Table, event: events.Event) -> Step:
    """Return the state after an event, and the facts to send. Raises NotNow."""
    refuse_in_pause(state, event)
    refuse_guarded(state, event)
    refuse_in_self_test(state, event)
    if isinstance(event, events.ButtonPressed):
        _refuse_late_press(state, event)
    handler = _handler(state, event)
    if handler is None:
        raise _refusal(state.phase, event)
    after, facts = handler(state, event)
    return end_self_test_in_play(after), facts


def _handler(state: Table, event: events.Event) -> Handler | None:
    key = (state.phase, type(event))
    if state.planned_riichi:
        return _OF_PLANNED_RIICHI.get(key) or _HANDLERS.get(key)
    if state.session is None:
        return _HANDLERS.get(key)
    return None if type(event) in DUPLICATE_ONLY else _OF_RIICHI.get(key) or _HANDLERS.get(key)


def _refuse_late_press(state: Table, event: events.ButtonPressed) -> None:
    """Refuse a press from a window whose outcome is already shown: it can be neither a hu nor an acceptance."""
    closed_at = state.closed_at if state.phase in (Phase.DECLARED, Phase.ACCEPTING) else None
    if closed_at is None or event.at >= closed_at:
        return
    if event.seat in state.dead_hands:
        raise NotNow("press_of_dead_hand", f"{event.seat} cannot win this play any more")
    if any(one.seat == event.seat for one in state.declarations):
        raise NotNow("press_again", f"{event.seat} has declared already")
    raise NotNow("press_told_late", f"{event.seat} pressed in time, but the report came after the window had closed")


def _refusal(phase: Phase, event: events.Event) -> NotNow:
    text = f"{type(event).__name__} while {phase.value}"
    if not isinstance(event, events.ButtonPressed):
        return NotNow("not_now", text)
    if phase is Phase.WAITING:
        return NotNow("press_before_play", text)
    if phase is Phase.DECLARED:
        return NotNow("press_after_window", text)
    return NotNow("press_after_play", text)
