"""What keeps a play from going on: a deal that may not be played here, the arbiter's pause, a running self-test.

The arbiter may override a guard; what really happened is then a fact.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from broker.protocol import Name, Overridden, PlannedPlay, Reason
from kiosk.table import plan
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    CallToggled,
    ClaimWindowElapsed,
    DealBroughtForward,
    Event,
    ExtraTimeGiven,
    GuardOverridden,
    InfractionRuled,
    NoHuMeant,
    NotNow,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayEndedDrawn,
    PlayVoided,
    Restarted,
    SeatsSwapped,
    SelfTestBegun,
    SelfTestEnded,
)
from kiosk.table.state import QUIET, Pause, Phase, Step, Table, arbiter_name, current_play


def index_brought_forward(state: Table, round_: int) -> int:
    """Return the index of a play that may be played before its turn. Raises NotNow."""
    plays = state.assignment.plays if state.assignment else ()
    index = next((at for at, one in enumerate(plays) if one.round == round_), None)
    if index is None or index == state.index:
        raise NotNow("no_such_play", f"round {round_}")
    if round_ in {one.round for one in state.played}:
        raise NotNow("deal_played_here", f"round {round_}")
    if _ids(plays[index]) != {player.id for player in state.players.values()}:
        raise NotNow("other_players", f"round {round_} is for other players than sit here")
    return index


def _ids(play: PlannedPlay) -> set[str]:
    return {player.id for player in play.players.values()}


OUT_OF_ORDER: Final = "out_of_order"

GOES_ON: Final = (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    CallToggled,
    DealBroughtForward,
    ExtraTimeGiven,
    GuardOverridden,
    InfractionRuled,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayVoided,
    Restarted,
    SeatsSwapped,
    SelfTestBegun,
    SelfTestEnded,
)
"""What a play that is stopped still allows: people sit down, the arbiter is called and rules."""


def active_guards(state: Table) -> tuple[str, ...]:
    """Return the codes of what stops the present play, the gravest first."""
    return tuple(stop.code for stop in _guards(state) if stop.code not in state.allowed)


def _guards(state: Table) -> Iterator[NotNow]:
    if state.phase is not Phase.RESTORING or state.play is None:
        return
    if any(one.deal == state.play.deal for one in state.played):
        yield NotNow("deal_played_here", f"deal {state.play.deal}")
    if again := players_repeating(state):
        yield NotNow("player_played_deal", ", ".join(again))


def players_repeating(state: Table) -> tuple[str, ...]:
    """The ids of those at the table who have played this deal already, here or, as the scorer says, elsewhere."""
    if state.play is None or state.assignment is None:
        return ()
    here = {player.id for player in state.players.values()}
    had = {one for play in state.played if play.deal == state.play.deal for one in play.players}
    return tuple(sorted(here & (had | set(state.assignment.repeats.get(state.play.round, ())))))


def refuse_guarded(state: Table, event: Event) -> None:
    """Refuse to go on with a play that is stopped. Raises NotNow with the code of what stops it."""
    if not isinstance(event, GOES_ON) and (stopped := active_guards(state)):
        raise NotNow(stopped[0])


def on_guard_overridden(state: Table, event: GuardOverridden) -> Step:
    """Let the play go on; what had stopped it is told."""
    author = arbiter_name(state)
    codes, play = active_guards(state), current_play(state)
    if not codes:
        raise NotNow("nothing_to_override", "nothing stops this play")
    fact = _overridden(state, author, play, codes, event.reason)
    return replace(state, allowed=state.allowed | {*codes}), (fact,)


def on_deal_brought_forward(state: Table, event: DealBroughtForward) -> Step:
    """Take another play of this table before its turn; the one that had its turn comes later."""
    author = arbiter_name(state)
    index = index_brought_forward(state, event.round)
    begun = plan.begin_play(state, index, event.at)
    play = current_play(begun)
    return begun, (_overridden(state, author, play, (OUT_OF_ORDER,), event.reason),)


def _overridden(state: Table, author: Name, play: PlannedPlay, codes: tuple[str, ...], reason: Reason) -> Overridden:
    return Overridden(
        round=play.round,
        deal=play.deal,
        guards=codes,
        reason=reason,
        author=author,
        session=state.arbiter_session,
    )


def with_pause(state: Table, at: int) -> Table:
    """Begin a pause, unless there is one."""
    return state if state.paused else replace(state, pause=Pause(at))


def without_pause(state: Table, at: int) -> Table:
    """End the pause, if there is one. What was left of an open claim window is left again."""
    pause = state.pause
    if pause is None or not state.paused:
        return state
    over = replace(pause, until=max(at, pause.since))
    clock = state.play_clock and state.play_clock.after(over.length)
    return replace(state, pause=over, play_clock=clock, window=state.window and state.window.moved(over.length))


def refuse_in_pause(state: Table, event: Event) -> None:
    """Refuse what does not go on in a pause, by when it happened, not by when it is told. Raises NotNow.

    The arbiter may still be called, trays may be looked at, and a result on the screen may be entered again.
    """
    pause = state.pause
    if pause is None:
        return
    if isinstance(event, ButtonPressed) and pause.since <= event.at and (pause.until is None or event.at < pause.until):
        raise NotNow("press_in_pause", f"{event.seat}, while the arbiter had paused the table")
    if isinstance(event, PlayEndedDrawn | NoHuMeant | ClaimWindowElapsed) and state.paused:
        raise NotNow("table_paused", type(event).__name__)


def in_play_time(state: Table, at: int) -> int:
    """A time without the pause: what was before the latest pause and is told after it is moved as all else was."""
    pause = state.pause
    return at + pause.length if pause is not None and at < pause.since else at


IDLE: Final = (Phase.WAITING, Phase.FINISHED)
"""Where anybody may ask for it: nothing is played."""

BEFORE_PLAY: Final = (*IDLE, Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING)
"""Where a day may begin with it."""


def on_self_test_begun(state: Table, event: SelfTestBegun) -> Step:
    """Begin. Raises NotNow: in a play only the arbiter asks for it, and pauses the play first."""
    if event.asked and state.phase not in IDLE:
        arbiter_name(state)
    if in_play(state) or (not event.asked and state.phase not in BEFORE_PLAY):
        raise NotNow("not_now", "a self-test in the middle of a play")
    return replace(state, self_test="running"), ()


def on_self_test_ended(state: Table, event: SelfTestEnded) -> Step:
    """End, or go on without."""
    if state.self_test != "running":
        raise NotNow("not_now", "no self-test is running")
    return replace(state, self_test=event.verdict), ()


def refuse_in_self_test(state: Table, event: Event) -> None:
    """Refuse what a button would mean: it is being tried. Raises NotNow."""
    if state.self_test == "running" and isinstance(event, ButtonPressed | ButtonHeld):
        raise NotNow("press_in_test", event.seat)


def end_self_test_in_play(state: Table) -> Table:
    """Drop a self-test where the play goes on: the desk has ended the pause in which it was."""
    return replace(state, self_test="skipped") if state.self_test == "running" and in_play(state) else state


def in_play(state: Table) -> bool:
    """Return whether tiles are being played with, and buttons declare."""
    return state.phase in QUIET and not state.paused
