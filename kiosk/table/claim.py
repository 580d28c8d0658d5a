"""From the first press to a recorded result: calls for the arbiter, the silent claim (MIL), acceptance by four seats.

The first press opens a claim window. It closes after the profile's time, and only then is anything announced. A result
is never accepted by time-out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as replace_fields

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
    """Call the arbiter, or withdraw the call. Calling openly after a discreet call continues the same call."""
    current_play(state)
    after = replace(state, calling=event.open, discreet=False)
    return (after, ()) if state.calling == event.open else _with_call(after)


MOST_CALLS: Final = 90
"""Calls in one play that are recorded as facts. Beyond that (a broken button) they are shown, to the desk as well."""


def _with_call(state: Table) -> Step:
    """Report that a call was made or ended."""
    play, state = current_play(state), replace(state, calls=state.calls + state.calling)
    return state, (Call(round=play.round, deal=play.deal, open=state.calling),) if state.calls <= MOST_CALLS else ()


def on_long_press(state: Table, _: events.ButtonHeld) -> Step:
    """Handle a long press where no claim can be open."""
    return call_discreetly(state)


def call_discreetly(state: Table) -> Step:
    """Call the arbiter without showing the call at the table. A call that is already open stays as it is."""
    current_play(state)
    return (state, ()) if state.calling else _with_call(replace(state, calling=True, discreet=True))


LONGEST_MS = 60_000


def on_claim_press(state: Table, event: events.ButtonPressed) -> Step:
    """Record a press, silently. Presses are ordered by the kernel's edge, whatever order the events come in."""
    if event.seat in state.dead_hands:
        raise NotNow("press_of_dead_hand", f"{event.seat} cannot win this play any more")
    if event.at < state.since:
        raise NotNow("press_before_play", f"{event.seat}, reported when the play had begun")
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, just as the play began")
    return with_window(state, _window(state).pressed(event.seat, in_play_time(state, event.at))), ()


def on_claim_release(state: Table, event: events.ButtonReleased) -> Step:
    """Record, silently, that a finger let go, which settles whether its press was a hu or a call."""
    return with_window(state, _window(state).released(event.seat, in_play_time(state, event.at))), ()


def on_claim_hold(state: Table, event: events.ButtonHeld) -> Step:
    """Record a call, silently. Its press is no hu, and it is announced only when a window opened by it would be over.

    Seats that may not declare (a dead hand, a second press) may call all the same.
    """
    return with_window(state, _window(state).held(event.seat, in_play_time(state, event.at))), ()


def on_play_drawn(state: Table, event: events.PlayEndedDrawn) -> Step:
    """Record that somebody reported no winner, and wait in silence for presses on the last discard.

    The room sees the same, for the same time, whether or not anybody presses before or after: the key reveals nothing.
    """
    if state.phase is Phase.PLAYING and event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", "just as the play began")
    return with_window(state, _window(state).ended(event.at)), ()


DOUBTFUL_NS: Final = 4_000_000_000
"""Whoever presses so soon after play began or resumed may still mean to confirm the tiles or accept the result."""


def on_window_elapsed(state: Table, event: events.ClaimWindowElapsed) -> Step:
    """Close the window and announce who declared, then who called.

    If nobody declared, it is a draw if the play was said to be over; if there were only calls, play goes on. Presses
    that may not be declarations are queried first.
    """
    closes_at, window = state.closes_at, state.window
    if closes_at is None or window is None or event.at < closes_at:
        raise NotNow("window_still_open")
    after = replace(state, window=None, closed_at=window.deadline)
    declared: tuple[Fact, ...] = ()
    if state.doubted:
        after, declared = _with_answers(after, event.at)
    elif window.declared and event.asks and _doubtful(state, window):
        after = _with_question(after, event.at)
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
    """Return whether presses may not be declarations: the first came just as play began, or all four seats pressed.

    One of the four discards, so at most three can have won.
    """
    declared = window.declared
    return len(declared) == len(SEATS) or declared[0].at < in_play_time(state, state.since) + DOUBTFUL_NS


def _with_question(state: Table, at: int) -> Table:
    """Ask, in a window of its own, whether hu was meant. It looks the same whoever has pressed, and however many."""
    window = ClaimWindow(max(1, 2 * state.claim_ms * MILLISECOND_NS)).ended(at)
    return replace(state, window=window, doubted=state.declarations, declarations=(), doubt="asked", since=at)


def on_no_hu_meant(state: Table, event: events.NoHuMeant) -> Step:
    """Let play resume soon, whoever has answered by then. Whoever is too late presses again, and loses nothing.

    Raises NotNow `not_now`.
    """
    if not state.doubted or state.window is None:
        raise NotNow("not_now", "nobody is asked whether they meant hu")
    return replace(state, window=state.window.shortened(event.at), doubt="leaving"), ()


def _with_answers(state: Table, at: int) -> Step:
    """Declare for those who pressed again, with their first times. If all four did, nobody has declared."""
    again = {one.seat for one in state.declarations}
    meant = tuple(one for one in state.doubted if one.seat in again)
    after = replace(state, doubted=(), declarations=meant, doubt=None)
    if meant and len(meant) < len(SEATS):
        return _with_declared(after, at)
    return replace(after, phase=Phase.PLAYING, since=at, declarations=(), doubt="denied" if meant else None), ()


def _with_declared(state: Table, at: int) -> Step:
    """Announce who has declared."""
    return replace(state, phase=Phase.DECLARED, since=at, doubt=None), (_declared(state),)


def _window(state: Table) -> ClaimWindow:
    """Return the open window, or a new one. Even if the profile gives it no time, the first press counts."""
    return state.window or ClaimWindow(max(1, state.claim_ms * MILLISECOND_NS))


def without_claim(state: Table) -> Table:
    """Discard all presses, and the question about them."""
    return replace(state, window=None, declarations=(), doubted=(), doubt=None)


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
    """Fine the seat in IMP for this play; the other players' points are not touched (OEDMC). Raises NotNow."""
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
    """Accept the win as entered. Only those who declared on the earliest tile can have won. Raises NotNow."""
    if event.win == "draw":
        raise NotNow("not_a_win", "a draw is reported while playing")
    outcome = Outcome(event.win, event.winners, event.discarder)
    if entitled(state, event.declared_on, event.discarder) != set(event.winners):
        raise NotNow("winners_differ", "every declaration is either valued, on a later tile, or found false")
    rules = state.profile
    if not isinstance(rules, Profile):
        raise NotNow("not_now", "a hand of riichi is entered by han and fu")
    outcome = allowed_outcome(outcome, rules.payments)
    try:
        check_outcome(outcome, rules.payments)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    return replace(show_result(state, outcome, event.at), declared_on=event.declared_on), ()


def entitled(state: Table, declared_on: Mapping[Seat, Seat], discarder: Seat | None) -> set[Seat]:
    """Return the seats whose hands are to be valued: those that declared on the tile that ends the play."""
    declared = [one.seat for one in state.declarations]
    if not declared_on:
        return {*declared}
    if {*declared_on} != {*declared}:
        raise NotNow("winners_differ", "each seat that declared needs its tile, and no other seat")
    owner, first = play_sequence.winning_tile({seat: declared_on[seat] for seat in declared})
    if owner != discarder:
        raise NotNow("winners_differ", "the discarder must be the owner of the tile declared on first")
    return {*first}


def show_result(state: Table, outcome: Outcome, at: int) -> Table:
    """Ask the four seats to accept a result. Raises NotNow if a hand ruled dead after its press has won."""
    if dead := state.dead & outcome.winners.keys():
        raise NotNow("dead_hand_won", ", ".join(sorted(dead)))
    return replace(state, phase=Phase.ACCEPTING, since=at, outcome=outcome, declared_on={}, agreed=frozenset())


def on_result_refused(state: Table, event: events.ResultRefused | events.Reopened) -> Step:
    """Return to where the result was entered."""
    back = Phase.DECLARED if state.declarations or state.hand.asks_tenpai else Phase.PLAYING
    hand = replace(state.hand, result=None)
    return replace(state, phase=back, since=event.at, outcome=None, agreed=frozenset(), hand=hand), ()


def on_result_accepted(state: Table, event: events.ButtonPressed) -> Step:
    """Record one seat's acceptance; the fourth records the result and reports it."""
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
        hand=state.hand.result,
        declared_on=state.declared_on or None,
    )
    return replace_fields(ended, points=points.points_paid(ended, state.play.dealer, state.profile))
