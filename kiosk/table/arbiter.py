"""The arbiter at the table: let in by PIN or by the desk, and what is ruled here. It works when the link is down.

What was recorded is never changed: a result that is reopened stays in the record, what follows stands beside it.
"""

from dataclasses import replace
from typing import Final

from broker.contract.facts import Fact, Overridden, Ruled
from broker.contract.rulings import Adjusted, AtTable, FineRuled, Given, Reopen, Void
from broker.contract.words import PlayerId, Reason
from kiosk.table import calls, pause, plan, settle
from kiosk.table.authority import arbiter_of
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    DeclarationsCorrected,
    ExtraTimeGiven,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayVoided,
    Reopened,
)
from kiosk.table.riichi.one_hand import OneHand
from kiosk.table.state import Declaration, Phase, Table

Step = tuple[Table, tuple[Fact, ...]]

FREE_TRIES: Final = 3
"""So many wrong PINs cost no waiting."""

FIRST_WAIT_NS: Final = 60_000_000_000
LONGEST_WAIT_NS: Final = 60 * FIRST_WAIT_NS
"""After each further one the wait doubles, to an hour: four digits hold out for more than a year of guessing."""

AT_THE_TABLE: Final = "arbiter at the table"
"""Who has ruled, where a PIN was given: it is one PIN for all arbiters."""


def admitted(state: Table, event: ArbiterAdmitted) -> Step:
    """Let the arbiter in."""
    return replace(state, arbiter=event.by, pins_wrong=0, pin_wrong_at=0), ()


def left(state: Table, _: ArbiterLeft) -> Step:
    """The arbiter has gone; what the keys do is the players' again."""
    return replace(state, arbiter=None), ()


def refused(state: Table, event: PinRefused) -> Step:
    """Count a wrong PIN."""
    return replace(state, pins_wrong=state.pins_wrong + 1, pin_wrong_at=event.at), ()


def may_try(state: Table, now: int) -> None:
    """Refuse a PIN while wrong ones make it wait. Raises NotNow `pin_locked`."""
    beyond = state.pins_wrong - FREE_TRIES
    if beyond >= 0 and now < state.pin_wrong_at + min(FIRST_WAIT_NS << min(beyond, 10), LONGEST_WAIT_NS):
        raise NotNow("pin_locked", f"{state.pins_wrong} wrong ones")


def paused(state: Table, event: PauseRuled) -> Step:
    """Pause the table, or let it go on."""
    arbiter_of(state)
    return (pause.begun if event.begin else pause.ended)(state, event.at), ()


def extra_time(state: Table, event: ExtraTimeGiven) -> Step:
    """Add minutes to the present play."""
    arbiter_of(state)
    return replace(state, extra_min=state.extra_min + event.minutes), ()


def voided(state: Table, event: PlayVoided) -> Step:
    """End the play, or take its result away: it counts for nobody; fines stay."""
    return _ended(state, Void(), event.reason, event.at)


def adjusted(state: Table, event: PlayAdjusted) -> Step:
    """End the play, or take its result away: each player is given what the profile gives for the fault."""
    own: Given = "own"
    other: Given = "others" if event.at_fault else "nobody"
    gives = {player.id: own if seat in event.at_fault else other for seat, player in state.players.items()}
    return _ended(state, Adjusted(gives=gives), event.reason, event.at)


def reopened(state: Table, event: Reopened) -> Step:
    """Take the result that four have accepted back to where it was entered. Raises NotNow."""
    if state.outcome is None:
        raise NotNow("nothing_recorded", "this play has no result")
    fact = _ruled(state, Reopen(), event.reason)
    back, _ = settle.refused(replace(state, played=state.played[:-1]), event)
    return back, (fact,)


def corrected(state: Table, event: DeclarationsCorrected) -> Step:
    """Put right who has declared; the value is entered anew. Raises NotNow."""
    play, _ = calls.play_of(state), arbiter_of(state)
    if dead := [seat for seat in event.seats if seat in state.fines]:
        raise NotNow("press_of_dead_hand", ", ".join(dead))
    if len(set(event.seats)) != len(event.seats):
        raise NotNow("press_again", "a seat declares once")
    text = f"{', '.join(event.seats) or 'nobody'}: {event.reason}"
    fact = Overridden(round=play.round, deal=play.deal, guards=("declarations_corrected",), reason=text[:500])
    after = replace(
        state,
        phase=Phase.DECLARED if event.seats else Phase.PLAYING,
        since=event.at,
        declarations=tuple(Declaration(seat, event.at) for seat in event.seats),
        window=None,
        closed_at=event.at,
        outcome=None,
        agreed=frozenset(),
        hand=OneHand(),
    )
    return after, (fact,)


def _ended(state: Table, decision: AtTable, reason: Reason, at: int) -> Step:
    """Go to where the next deal is called. What had no result yet leaves its fines to be told by themselves."""
    facts = [_ruled(state, decision, reason)]
    if state.phase is not Phase.RECORDED:
        facts.extend(_ruled(state, FineRuled(takes=takes), why) for takes, why in _fines(state))
    played = state.played if state.phase is Phase.RECORDED else plan.over(state)
    ended = replace(
        state,
        phase=Phase.RECORDED,
        since=at,
        window=None,
        closed_at=None,
        declarations=(),
        outcome=None,
        agreed=frozenset(),
        hand=OneHand(),
        ruled="void" if isinstance(decision, Void) else "adjusted",
        played=played,
    )
    return ended, tuple(facts)


def _fines(state: Table) -> list[tuple[dict[PlayerId, int], str]]:
    return [({state.players[seat].id: fine.imp}, fine.reason) for seat, fine in state.fines.items()]


def _ruled(state: Table, decision: AtTable, reason: str) -> Ruled:
    play, by = calls.play_of(state), arbiter_of(state)
    return Ruled(round=play.round, deal=play.deal, decision=decision, author=by, role="table_arbiter", reason=reason)
