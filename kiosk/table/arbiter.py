"""The arbiter at the table: let in by PIN or by the desk, and what is ruled here. It works when the link is down.

What was recorded is never changed: a result that is reopened stays in the record, what follows stands beside it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from broker.contract.facts import Fact, Left, LetIn, Overridden, Paused, PinWrong, Ruled, TimeAdded
from broker.contract.plans import PlannedPlay
from broker.contract.rulings import Adjusted, AtTable, FineRuled, Given, Reopen, Void
from broker.contract.words import Name, PlayerId, Reason, Text
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

MOST_COUNTED: Final = 9999
"""Wrong PINs beyond this are told as so many."""

AT_THE_TABLE: Final = "arbiter at the table"
"""Who has ruled, where a PIN was given: it is one PIN for all arbiters."""


def admitted(state: Table, event: ArbiterAdmitted) -> Step:
    """Let the arbiter in."""
    by: Literal["pin", "desk"] = "pin" if event.by == AT_THE_TABLE else "desk"
    after = replace(state, arbiter=event.by, pins_wrong=0, pin_wrong_at=0)
    return after, _told(state, lambda of: LetIn(round=of.round, deal=of.deal, author=event.by, by=by))


def left(state: Table, _: ArbiterLeft) -> Step:
    """The arbiter has gone; what the keys do is the players' again."""
    author, after = state.arbiter, replace(state, arbiter=None)
    if author is None:
        return after, ()
    return after, _told(state, lambda of: Left(round=of.round, deal=of.deal, author=author))


def refused(state: Table, event: PinRefused) -> Step:
    """Count a wrong PIN."""
    tries = state.pins_wrong + 1
    told = _told(state, lambda of: PinWrong(round=of.round, deal=of.deal, tries=min(tries, MOST_COUNTED)))
    return replace(state, pins_wrong=tries, pin_wrong_at=event.at), told


def _told(state: Table, fact: Callable[[PlannedPlay], Fact]) -> tuple[Fact, ...]:
    """Give what is told of the play at hand, or of the table's last; a table without a plan has nobody to tell."""
    plays = state.assignment.plays if state.assignment else ()
    of = state.play or (plays[-1] if plays else None)
    return (fact(of),) if of else ()


def may_try(state: Table, now: int) -> None:
    """Refuse a PIN while wrong ones make it wait. Raises NotNow `pin_locked`."""
    beyond = state.pins_wrong - FREE_TRIES
    if beyond >= 0 and now < state.pin_wrong_at + min(FIRST_WAIT_NS << min(beyond, 10), LONGEST_WAIT_NS):
        raise NotNow("pin_locked", f"{state.pins_wrong} wrong ones")


def paused(state: Table, event: PauseRuled) -> Step:
    """Pause the table, or let it go on."""
    return paused_by(arbiter_of(state), event.reason, state, event.at, begin=event.begin)


def extra_time(state: Table, event: ExtraTimeGiven) -> Step:
    """Add minutes to the present play."""
    return given_by(arbiter_of(state), event.reason, state, event.minutes)


def paused_by(author: Name, reason: Text, state: Table, at: int, *, begin: bool) -> Step:
    """Begin a pause or end it, in somebody's name; where that changes nothing there is nothing to tell."""
    after = pause.begun(state, at) if begin else pause.ended(state, at)
    if after == state:
        return state, ()

    def fact(of: PlannedPlay) -> Fact:
        return Paused(round=of.round, deal=of.deal, begin=begin, author=author, reason=reason)

    return after, _told(state, fact)


def given_by(author: Name, reason: Text, state: Table, minutes: int) -> Step:
    """Add minutes to the present play, in somebody's name."""

    def fact(of: PlannedPlay) -> Fact:
        return TimeAdded(round=of.round, deal=of.deal, minutes=minutes, author=author, reason=reason)

    return replace(state, extra_min=state.extra_min + minutes), _told(state, fact)


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
