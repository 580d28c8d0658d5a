"""From the first press to a recorded result: calls for the arbiter, the silent claim (MIL), acceptance by four seats.

A claim window is opened by the first press, closed after the profile's time, and told only then. Nobody accepts a
result by time-out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as changed

from broker.protocol import SEATS, Call, Declared, Fact, Fine, Press, Result, Seat, play_sequence
from broker.rules import Outcome, Profile, RuleError, allowed_outcome, check_outcome, points
from kiosk.table import events, plan
from kiosk.table.state import (
    MILLISECOND_NS,
    SETTLE_NS,
    ClaimWindow,
    Declaration,
    NotNow,
    Phase,
    Step,
    Table,
    arbiter_name,
    current_play,
    in_play_time,
    with_acceptance,
)


def on_call_toggled(state: Table, event: events.CallToggled) -> Step:
    """Call, or take a call back. A call that was made discreetly and is made again openly is the same call."""
    current_play(state)
    after = replace(state, calling=event.open, discreet=False)
    return (after, ()) if state.calling == event.open else _called(after)


MOST_CALLS: Final = 90
"""In one play. More are shown, and the desk sees them, but they are no facts: a broken button would tell of no end."""


def _called(state: Table) -> Step:
    """Tell that a call was made, or is over."""
    play, state = current_play(state), replace(state, calls=state.calls + state.calling)
    return state, (Call(round=play.round, deal=play.deal, open=state.calling),) if state.calls <= MOST_CALLS else ()


def on_long_press(state: Table, _: events.ButtonHeld) -> Step:
    """Take a long press in where no claim can be open."""
    return call_discreetly(state)


def call_discreetly(state: Table) -> Step:
    """Call so that the arbiter learns of it and the table does not; where there is a call already it stays as it is."""
    current_play(state)
    return (state, ()) if state.calling else _called(replace(state, calling=True, discreet=True))


LONGEST_MS = 60_000


def on_claim_press(state: Table, event: events.ButtonPressed) -> Step:
    """Take a press in, silently. Order is by the kernel's edge, whatever order the events come in."""
    if event.seat in state.dead_hands:
        raise NotNow("press_of_dead_hand", f"{event.seat} cannot win this play any more")
    if event.at < state.since:
        raise NotNow("press_before_play", f"{event.seat}, told when the play had begun")
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, just as the play began")
    return with_window(state, _window(state).pressed(event.seat, in_play_time(state, event.at))), ()


def on_claim_release(state: Table, event: events.ButtonReleased) -> Step:
    """Take in that a finger let go, silently: what it pressed is a hu now, or a call."""
    return with_window(state, _window(state).released(event.seat, in_play_time(state, event.at))), ()


def on_claim_hold(state: Table, event: events.ButtonHeld) -> Step:
    """Take a call in, silently: no hu, and nobody is told before a window opened by this press would be over.

    That holds for whoever may not declare (a dead hand, a second press), too: anybody may call.
    """
    return with_window(state, _window(state).held(event.seat, in_play_time(state, event.at))), ()


def on_play_drawn(state: Table, event: events.PlayEndedDrawn) -> Step:
    """Nobody won, it is said: wait in silence for whoever presses on the last discard, and as if nobody had before.

    The same is seen whether or not somebody has pressed, before or after, and for as long: the key tells nothing.
    """
    if state.phase is Phase.PLAYING and event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", "just as the play began")
    return with_window(state, _window(state).ended(event.at)), ()


DOUBTFUL_NS: Final = 4_000_000_000
"""Who presses so soon after the play began, or began again, may still mean the tiles or the result."""


def on_window_elapsed(state: Table, event: events.ClaimWindowElapsed) -> Step:
    """Close the window and tell who declared, then who called.

    Where the play was said to be over and nobody declared, it is a draw; where there were only calls, it goes on.
    Presses that may be no declarations are asked about first.
    """
    closes_at, window = state.closes_at, state.window
    if closes_at is None or window is None or event.at < closes_at:
        raise NotNow("window_still_open")
    after = replace(state, window=None, closed_at=window.deadline)
    declared: tuple[Fact, ...] = ()
    if state.asked:
        after, declared = _answered(after, event.at)
    elif window.declared and event.asks and _doubtful(state, window):
        after = _asked(after, event.at)
    elif window.declared:
        after, declared = _with_declared(after, event.at)
    elif window.ended_at is not None:
        after = show_result(after, Outcome("draw", {}), event.at)
    else:
        after = replace(after, phase=Phase.PLAYING)
    if window.called_at is None:
        return after, declared
    after, call = call_discreetly(after)
    return after, (*declared, *call)


def _doubtful(state: Table, window: ClaimWindow) -> bool:
    """Return whether presses may be no declarations: the first came just as the play began, or all four have pressed.

    One discards, so that at most three can have won.
    """
    declared = window.declared
    return len(declared) == len(SEATS) or declared[0].at < in_play_time(state, state.since) + DOUBTFUL_NS


def _asked(state: Table, at: int) -> Table:
    """Ask whoever has pressed whether they meant hu, in a window of its own: alike whoever they are, and how many."""
    window = ClaimWindow(max(1, 2 * state.claim_ms * MILLISECOND_NS)).ended(at)
    return replace(state, window=window, asked=state.declarations, declarations=(), doubt="asked", since=at)


def on_no_hu_meant(state: Table, event: events.NoHuMeant) -> Step:
    """Let the play go on at once, alike whoever has answered by then. Who is too late presses anew, and loses nothing.

    Raises NotNow `not_now`.
    """
    if not state.asked or state.window is None:
        raise NotNow("not_now", "nobody is asked whether they meant hu")
    return replace(state, window=state.window.shortened(event.at), doubt="leaving"), ()


def _answered(state: Table, at: int) -> Step:
    """Declare for who has pressed once more, as of the first time. Four of them cannot be: then nobody has declared."""
    again = {one.seat for one in state.declarations}
    meant = tuple(one for one in state.asked if one.seat in again)
    after = replace(state, asked=(), declarations=meant, doubt=None)
    if meant and len(meant) < len(SEATS):
        return _with_declared(after, at)
    return replace(after, phase=Phase.PLAYING, since=at, declarations=(), doubt="denied" if meant else None), ()


def _with_declared(state: Table, at: int) -> Step:
    """Name who has declared."""
    return replace(state, phase=Phase.DECLARED, since=at, doubt=None), (_declared(state),)


def _window(state: Table) -> ClaimWindow:
    """Return the open window, or one that opens now; with a window of no time the first press counts all the same."""
    return state.window or ClaimWindow(max(1, state.claim_ms * MILLISECOND_NS))


def without_claim(state: Table) -> Table:
    """Forget who has pressed, and what was asked of them."""
    return replace(state, window=None, declarations=(), asked=(), doubt=None)


def with_window(state: Table, window: ClaimWindow) -> Table:
    """Return the table with a claim window and the declarations in it."""
    declarations = tuple(Declaration(one.seat, one.at) for one in window.declared)
    return replace(state, phase=Phase.CLAIMING, window=window, declarations=declarations)


def _declared(state: Table) -> Declared:
    play, first = current_play(state), state.declarations[0].at
    presses = tuple(
        Press(seat=one.seat, after_ms=min((one.at - first) // MILLISECOND_NS, LONGEST_MS)) for one in state.declarations
    )
    return Declared(round=play.round, deal=play.deal, presses=presses)


def on_false_hu(state: Table, event: events.FalseHuRuled) -> Step:
    """Fine the seat, in IMP and for this play; the other players' points are not touched (OEDMC). Raises NotNow."""
    by = arbiter_name(state)
    declarations = tuple(one for one in state.declarations if one.seat != event.seat)
    if len(declarations) == len(state.declarations):
        raise NotNow("did_not_declare", event.seat)
    if event.imp not in state.profile.false_hu.fines.value:
        raise NotNow("fine_not_in_profile", f"{event.imp} IMP")
    fines = {
        **state.fines,
        event.seat: Fine(imp=event.imp, reason=event.reason, author=by, session=state.arbiter_session),
    }
    after = replace(state, declarations=declarations, fines=fines)
    return (after if declarations else replace(after, phase=Phase.PLAYING, since=event.at)), ()


def on_value_entered(state: Table, event: events.ValueEntered) -> Step:
    """Take the win in as it was entered; only who declared on the earliest tile can have won."""
    if event.win == "draw":
        raise NotNow("not_a_win", "a draw is told while playing")
    outcome = Outcome(event.win, event.winners, event.discarder)
    if entitled(state, event.declared_on, event.discarder) != set(event.winners):
        raise NotNow("winners_differ", "every declaration is either valued, on a later tile, or found false")
    rules = state.profile
    if not isinstance(rules, Profile):
        raise NotNow("not_now", "a hand of riichi is told by han and fu")
    outcome = allowed_outcome(outcome, rules.payments)
    try:
        check_outcome(outcome, rules.payments)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    return replace(show_result(state, outcome, event.at), declared_on=event.declared_on), ()


def entitled(state: Table, declared_on: Mapping[Seat, Seat], discarder: Seat | None) -> set[Seat]:
    """Return whose hands are to be valued: of all who declared, those who did on the tile that ends the play."""
    declared = [one.seat for one in state.declarations]
    if not declared_on:
        return {*declared}
    if {*declared_on} != {*declared}:
        raise NotNow("winners_differ", "on which tile is said of each who declared, and of nobody else")
    owner, first = play_sequence.winning_tile({seat: declared_on[seat] for seat in declared})
    if owner != discarder:
        raise NotNow("winners_differ", "the discarder is whose tile was declared on first")
    return {*first}


def show_result(state: Table, outcome: Outcome, at: int) -> Table:
    """Put a result before the four seats. Raises NotNow if a dead hand has won, which had pressed before."""
    if dead := state.dead & outcome.winners.keys():
        raise NotNow("dead_hand_won", ", ".join(sorted(dead)))
    return replace(state, phase=Phase.ACCEPTING, since=at, outcome=outcome, declared_on={}, agreed=frozenset())


def on_result_refused(state: Table, event: events.ResultRefused | events.Reopened) -> Step:
    """Go back to where the result came from."""
    back = Phase.DECLARED if state.declarations or state.hand.asking else Phase.PLAYING
    hand = replace(state.hand, told=None)
    return replace(state, phase=back, since=event.at, outcome=None, agreed=frozenset(), hand=hand), ()


def on_result_accepted(state: Table, event: events.ButtonPressed) -> Step:
    """Take one seat's acceptance; with the fourth the result stands and is told."""
    state = with_acceptance(state, event)
    if len(state.agreed) < len(SEATS):
        return state, ()
    recorded = replace(state, phase=Phase.RECORDED, since=event.at, played=plan.with_this_play(state))
    return recorded, (pending_result(state),)


def pending_result(state: Table) -> Result:
    """Return the result that the four seats are asked to accept. Raises NotNow if there is none."""
    if state.play is None or state.outcome is None:
        raise NotNow("no_play")
    ended = Result(
        round=state.play.round,
        deal=state.play.deal,
        profile=state.profile.id,
        players={seat: player.id for seat, player in state.players.items()},
        win=state.outcome.win,
        winners=dict(state.outcome.winners),
        discarder=state.outcome.discarder,
        points={},
        fines=dict(state.fines),
        hand=state.hand.told,
        declared_on=state.declared_on or None,
    )
    return changed(ended, points=points.points_paid(ended, state.play.dealer, state.profile))
