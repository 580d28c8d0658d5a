"""The arbiter at the table, let in by PIN or by the desk: rulings made here, and orders from the desk.

Rulings work without a connection. Each order of the desk is carried out once, in the desk's order, or refused with a
code that the desk shows.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from broker.i18n import SOURCE
from broker.protocol import (
    AT_THE_TABLE,
    MOST_ORDERS_KEPT,
    Adjusted,
    AwardGiven,
    Call,
    Command,
    Fact,
    FineRuled,
    Left,
    LetIn,
    Name,
    Order,
    Overridden,
    Paused,
    PinWrong,
    PlayerId,
    Reason,
    Reopen,
    Ruled,
    SessionId,
    TableDecision,
    Text,
    TimeAdded,
    Void,
)
from broker.rules.infractions import Choice, choices_of, infractions_of
from kiosk.table import claim, events, plan
from kiosk.table.session import HandEnd
from kiosk.table.state import (
    Declaration,
    NotNow,
    Phase,
    Step,
    Table,
    arbiter_name,
    current_play,
    with_pause,
    without_pause,
)

FREE_TRIES: Final = 3
"""Wrong PINs that cause no wait."""

SECOND_NS: Final = 1_000_000_000
MINUTE_S: Final = 60
FIRST_WAIT_NS: Final = 60_000_000_000
LONGEST_WAIT_NS: Final = 60 * FIRST_WAIT_NS
"""Each further wrong PIN doubles the wait, up to an hour: guessing four digits would take more than a year."""

MOST_COUNTED: Final = 9999
"""The highest number of wrong PINs that is reported."""


def on_arbiter_admitted(state: Table, event: events.ArbiterAdmitted) -> Step:
    """Let the arbiter in."""
    by: Literal["pin", "desk"] = "pin" if event.by == AT_THE_TABLE else "desk"
    after = replace(state, arbiter=event.by, arbiter_session=event.session, pins_wrong=0, pin_wrong_at=0)
    fact = partial(LetIn, author=event.by, by=by, session=event.session, sealed=event.sealed)
    return after, _fact_of_play(state, fact)


def on_arbiter_left(state: Table, _: events.ArbiterLeft) -> Step:
    """Let the arbiter go; keys work for the players again."""
    author, session = state.arbiter, state.arbiter_session
    after = replace(state, arbiter=None, arbiter_session=None)
    return after, _fact_of_play(state, partial(Left, author=author, session=session)) if author is not None else ()


def on_pin_refused(state: Table, event: events.PinRefused) -> Step:
    """Count a wrong PIN."""
    tries = state.pins_wrong + 1
    facts = _fact_of_play(state, partial(PinWrong, tries=min(tries, MOST_COUNTED)))
    return replace(state, pins_wrong=tries, pin_wrong_at=event.at), facts


def _fact_of_play(state: Table, fact: Callable[..., Fact]) -> tuple[Fact, ...]:
    """Return a fact about the current play, or else the table's last; none if the table has no plan."""
    plays = state.assignment.plays if state.assignment else ()
    of = state.play or (plays[-1] if plays else None)
    return (fact(round=of.round, deal=of.deal),) if of else ()


def pin_wait_s(state: Table, now: int) -> int:
    """Return the wait in seconds before the next PIN, in whole minutes if it is longer than one; 0 if there is none."""
    beyond = state.pins_wrong - FREE_TRIES
    if beyond < 0:
        return 0
    until = state.pin_wrong_at + min(FIRST_WAIT_NS << min(beyond, 10), LONGEST_WAIT_NS)
    left = max(0, -(-(until - now) // SECOND_NS))
    return left if left <= MINUTE_S else -(-left // MINUTE_S) * MINUTE_S


def refuse_locked_pin(state: Table, now: int) -> None:
    """Refuse a PIN during the wait after wrong ones. Raises NotNow `pin_locked`."""
    if pin_wait_s(state, now):
        raise NotNow("pin_locked", f"{state.pins_wrong} wrong ones")


def on_pause_ruled(state: Table, event: events.PauseRuled) -> Step:
    """Pause the table, or resume play."""
    ruler = arbiter_name(state), state.arbiter_session
    return pause_or_resume(ruler, event.reason, state, event.at, begin=event.begin)


def on_extra_time(state: Table, event: events.ExtraTimeGiven) -> Step:
    """Add minutes to the current play."""
    return add_minutes((arbiter_name(state), state.arbiter_session), event.reason, state, event.minutes)


Ruler = tuple[Name, SessionId | None]
"""The name of whoever ruled or gave an order, and the session in which they did."""


def pause_or_resume(ruler: Ruler, reason: Text, state: Table, at: int, *, begin: bool) -> Step:
    """Begin or end a pause in somebody's name. If that changes nothing, there is no fact."""
    after = with_pause(state, at) if begin else without_pause(state, at)
    if after == state:
        return state, ()
    author, session = ruler
    return after, _fact_of_play(state, partial(Paused, begin=begin, author=author, reason=reason, session=session))


def add_minutes(ruler: Ruler, reason: Text, state: Table, minutes: int) -> Step:
    """Add minutes to the current play, in somebody's name."""
    author, session = ruler
    fact = partial(TimeAdded, minutes=minutes, author=author, reason=reason, session=session)
    return replace(state, extra_min=state.extra_min + minutes), _fact_of_play(state, fact)


def on_play_voided(state: Table, event: events.PlayVoided) -> Step:
    """End the play or cancel its result, so that it counts for nobody; fines stay."""
    return _ended(state, Void(), event.reason, event.at)


def on_play_adjusted(state: Table, event: events.PlayAdjusted) -> Step:
    """End the play or cancel its result; each player gets what the profile awards, depending on fault."""
    own: AwardGiven = "own"
    other: AwardGiven = "others" if event.at_fault else "nobody"
    gives = {player.id: own if seat in event.at_fault else other for seat, player in state.players.items()}
    return _ended(state, Adjusted(gives=gives), event.reason, event.at)


def on_reopened(state: Table, event: events.Reopened) -> Step:
    """Cancel the accepted result and return to entering it. Raises NotNow."""
    if state.outcome is None:
        raise NotNow("nothing_recorded", "this play has no result")
    fact = _ruled(state, Reopen(), event.reason)
    back, _ = claim.on_result_refused(replace(state, played=state.played[:-1], reopened=True), event)
    return back, (fact,)


def on_declarations_corrected(state: Table, event: events.DeclarationsCorrected) -> Step:
    """Correct who has declared; the value is then entered again. Raises NotNow."""
    text = f"{', '.join(event.seats) or 'nobody'}: {event.reason}"
    fact = overridden(state, ("declarations_corrected",), text[:500])
    if dead := [seat for seat in event.seats if seat in state.dead_hands]:
        raise NotNow("press_of_dead_hand", ", ".join(dead))
    if len(set(event.seats)) != len(event.seats):
        raise NotNow("press_again", "a seat declares once")
    after = replace(
        _without_result(state),
        phase=Phase.DECLARED if event.seats else Phase.PLAYING,
        since=event.at,
        declarations=tuple(Declaration(seat, event.at) for seat in event.seats),
        closed_at=event.at,
    )
    return after, (fact,)


def _without_result(state: Table) -> Table:
    return replace(claim.without_claim(state), outcome=None, agreed=frozenset(), hand=HandEnd())


def overridden(state: Table, guards: tuple[str, ...], reason: Reason) -> Overridden:
    """Return the fact that the arbiter has overridden a state or a guard of the table. Raises NotNow."""
    author, play = arbiter_name(state), current_play(state)
    session = state.arbiter_session
    return Overridden(round=play.round, deal=play.deal, guards=guards, reason=reason, author=author, session=session)


def on_infraction_ruled(state: Table, event: events.InfractionRuled) -> Step:
    """Rule an infraction, with a measure allowed by the event. A dead hand can no longer declare. Raises NotNow."""
    current_play(state)
    known = infractions_of(state.profile).get(event.infraction)
    if known is None or Choice(event.measure, event.imp) not in choices_of(state.profile, event.infraction):
        raise NotNow("fine_not_in_profile", f"{event.infraction}: {event.measure} {event.imp} IMP")
    takes, reason = {state.players[seat].id: event.imp for seat in event.seats}, known.name(SOURCE)
    ruled = _ruled(state, FineRuled(takes=takes, measure=event.measure, infraction=known.id), reason)
    if event.measure != "dead_hand":
        return state, (ruled,)
    if state.phase is Phase.RECORDED and state.outcome and {*event.seats} & state.outcome.winners.keys():
        raise NotNow("dead_hand_won", "its result is entered again first")
    left = tuple(one.seat for one in state.declarations if one.seat not in event.seats)
    dead = replace(state, dead=state.dead | {*event.seats})
    if state.phase not in (Phase.DECLARED, Phase.ACCEPTING) or len(left) == len(state.declarations):
        return dead, (ruled,)
    after, facts = on_declarations_corrected(dead, events.DeclarationsCorrected(at=event.at, seats=left, reason=reason))
    return after, (ruled, *facts)


def _ended(state: Table, decision: TableDecision, reason: Reason, at: int) -> Step:
    """End the play without a result. If it had none before, its fines are reported as separate rulings."""
    facts = [_ruled(state, decision, reason)]
    if state.phase is not Phase.RECORDED:
        facts.extend(_ruled(state, FineRuled(takes=takes), why) for takes, why in _fines(state))
    played = state.played if state.phase is Phase.RECORDED else plan.with_this_play(state)
    ended = replace(
        _without_result(state),
        phase=Phase.RECORDED,
        since=at,
        closed_at=None,
        ruled="void" if isinstance(decision, Void) else "adjusted",
        played=played,
    )
    return ended, tuple(facts)


def _fines(state: Table) -> list[tuple[dict[PlayerId, int], str]]:
    return [({state.players[seat].id: fine.imp}, fine.reason) for seat, fine in state.fines.items()]


def _ruled(state: Table, decision: TableDecision, reason: str) -> Ruled:
    play, by = current_play(state), arbiter_name(state)
    return Ruled(
        round=play.round,
        deal=play.deal,
        decision=decision,
        author=by,
        role="table_arbiter",
        reason=reason,
        session=state.arbiter_session,
    )


ORDERED: Final = "ordered by the desk"
"""The recorded reason for a result that the desk took back. A ruling needs a reason; the desk keeps its own."""

NO_REASON: Final = ""
"""No reason is recorded for pauses and added time: the desk says in its reader's language that it ordered them."""


def event_of_order(order: Order, at: int) -> events.Ordered:
    """Return the event of an order. `at` is in ns."""
    return events.Ordered(
        at=at,
        seq=order.seq,
        id=order.id,
        command=order.command,
        minutes=order.minutes,
        author=order.author,
        session=order.session,
    )


def on_ordered(state: Table, event: events.Ordered) -> Step:
    """Carry out or refuse an order once: it may be delivered repeatedly, or after a later one."""
    if event.seq <= state.last_order:
        return state, ()
    known = (*state.handled_orders, (event.seq, event.id))[-MOST_ORDERS_KEPT:] if event.id else state.handled_orders
    refused = {seq: state.refused_orders[seq] for seq, _ in known if seq in state.refused_orders}
    taken = replace(state, last_order=event.seq, handled_orders=known, refused_orders=refused)
    try:
        return _HANDLERS[event.command](taken, event)
    except NotNow as refusal:
        return replace(taken, refused_orders={**refused, event.seq: refusal.code}) if event.id else taken, ()


def _call_cleared(state: Table, event: events.Ordered) -> Step:
    """Clear the call. One still open after the last play belongs to that play."""
    if state.play:
        return claim.on_call_toggled(state, events.CallToggled(at=event.at, open=False))
    if not state.calling:
        return state, ()
    return replace(state, calling=False, discreet=False), _fact_of_play(state, partial(Call, open=False))


def _reopened(state: Table, event: events.Ordered) -> Step:
    """Cancel the current result in the desk's name, unless that has been done. Raises NotNow."""
    if state.reopened and state.phase is not Phase.RECORDED:
        return state, ()
    if state.session is not None:
        raise NotNow("riichi_take_back", "in a riichi session the last hand is taken back at the table")
    if state.phase is not Phase.RECORDED and state.played:
        raise NotNow("next_deal_begun", "the table has gone on after its last result")
    if state.phase is not Phase.RECORDED:
        raise NotNow("nothing_recorded", "this play has no result")
    admitted = replace(state, arbiter=event.author, arbiter_session=event.session)
    after, facts = on_reopened(admitted, events.Reopened(at=event.at, reason=ORDERED))
    return replace(after, arbiter=state.arbiter, arbiter_session=state.arbiter_session), facts


def _paused(state: Table, event: events.Ordered, *, begin: bool) -> Step:
    return pause_or_resume((event.author, event.session), NO_REASON, state, event.at, begin=begin)


def _time_added(state: Table, event: events.Ordered) -> Step:
    if not event.minutes:  # an order without minutes does nothing
        return state, ()
    if not state.unfinished:  # the next play begins without added time
        raise NotNow("no_play", "nothing is being played here")
    return add_minutes((event.author, event.session), NO_REASON, state, event.minutes)


_HANDLERS: Final[dict[Command, Callable[[Table, events.Ordered], Step]]] = {
    "clear_call": _call_cleared,
    "pause": lambda state, event: _paused(state, event, begin=True),
    "resume": lambda state, event: _paused(state, event, begin=False),
    "extra_time": _time_added,
    "reopen": _reopened,
    "quiet_light": lambda state, _: (replace(state, light="quiet"), ()),
    "normal_light": lambda state, _: (replace(state, light="normal"), ()),
    "admit": lambda state, event: on_arbiter_admitted(
        state, events.ArbiterAdmitted(at=event.at, by=event.author, session=event.session)
    ),
}
