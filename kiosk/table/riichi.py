"""Hands of riichi: those of a session, with deposits and its score, and planned deals that are scored alone.

Nothing visible during a hand depends on who has pressed.
"""

from collections.abc import Mapping
from dataclasses import replace

from msgspec.structs import replace as replace_fields

from broker.protocol import SEATS, RiichiEvent, RiichiRecorded, RiichiTakenBack, Seat
from broker.rules import Outcome, RuleError, points
from broker.rules.riichi import (
    RiichiProfile,
    SettledEvent,
    event_from_message,
    points_by_seat,
    settle_event,
    standing_from_state,
)
from kiosk.table import claim, events
from kiosk.table.session import NOT_ENDING_A_HAND, HandEnd, RiichiSession, SessionEntry
from kiosk.table.state import (
    NotNow,
    Phase,
    Step,
    Table,
    check_settled,
    cleared,
    current_play,
    in_play_time,
    riichi_session_of,
    with_acceptance,
)

END = RiichiEvent(kind="end")


def check_payment(state: Table, entry: RiichiEvent) -> SettledEvent:
    """Return what an entry would pay. Raises NotNow with the code of what is wrong with it."""
    session = riichi_session_of(state)
    try:
        return settle_event(session.state, event_from_message(entry), session.profile)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None


def show_payment(state: Table, event: events.HandEntered) -> Table:
    """Ask the four seats to accept a hand's payment. Raises NotNow."""
    session = riichi_session_of(state)
    whole = _completed(state, session, event)
    settled = check_payment(state, whole)
    accepting = replace(state, phase=Phase.ACCEPTING, since=event.at, agreed=frozenset(), declared_on=event.declared_on)
    return _with_payment(accepting, replace(session, settled=settled), whole)


def _with_payment(state: Table, session: RiichiSession, entry: RiichiEvent | None) -> Table:
    """Return the table with a session, and the entry that it has settled."""
    return replace(state, session=session, hand=replace(state.hand, result=entry))


def _completed(state: Table, session: RiichiSession, event: events.HandEntered) -> RiichiEvent:
    """Add what the table knows: who is in riichi, and who is tenpai. A riichi whose own tile was won on is void."""
    failed = event.told.loser if event.on_riichi_tile else None
    riichi = tuple(seat for seat in session.riichi if seat != failed)
    entry = replace_fields(event.told, riichi=riichi)
    return entry if entry.kind != "draw" else _with_tenpai(state, entry)


def _with_tenpai(state: Table, entry: RiichiEvent) -> RiichiEvent:
    return replace_fields(entry, tenpai=tuple(seat for seat in SEATS if seat in state.hand.tenpai))


def on_payment_refused(state: Table, event: events.ResultRefused) -> Step:
    """Return to where the payment was entered."""
    after, facts = claim.on_result_refused(state, event)
    return replace(after, session=replace(riichi_session_of(state), settled=None)), facts


def on_payment_accepted(state: Table, event: events.ButtonPressed) -> Step:
    """Record one seat's acceptance; the fourth records the hand."""
    state = with_acceptance(state, event)
    if len(state.agreed) < len(SEATS):
        return state, ()
    session = riichi_session_of(state)
    if state.hand.result is None or session.settled is None:
        raise NotNow("not_now", "there is nothing to accept")
    recorded, fact = _recorded(session, state.hand.result, session.settled, state.declared_on)
    return replace(state, phase=Phase.RECORDED, since=event.at, session=recorded), (fact,)


def on_minor_fault(state: Table, event: events.HandEntered) -> Step:
    """Record a minor fault ruled by the arbiter; the hand goes on. Raises NotNow."""
    if event.told.kind != "minor_fault":
        raise NotNow("not_now", "the hand is recorded; take it back first")
    settled = check_payment(state, event.told)
    session, fact = _recorded(riichi_session_of(state), event.told, settled)
    after = _with_payment(state, session, event.told)
    if session.state.over:  # a negative score, for example, ends the session at once
        after = replace(claim.without_claim(after), phase=Phase.RECORDED, since=event.at)
    return after, (fact,)


def on_next_hand(state: Table, event: events.NextDealCalled) -> Step:
    """Begin the next hand, or end the session."""
    session = riichi_session_of(state)
    if session.state.over:
        return _ended(state, event.at)
    return _begin(state, replace(session.next_hand(), hand=session.hand + 1), event.at), ()


def on_session_stopped(state: Table, event: events.SessionStopped) -> Step:
    """End the session between two hands, as the time is up."""
    return _ended(state, event.at)


def _ended(state: Table, at: int) -> Step:
    """End the session, paying out the deposits on the table."""
    session = riichi_session_of(state).next_hand()
    recorded, fact = _recorded(session, END, check_payment(replace(state, session=session), END))
    over = replace(state, phase=Phase.FINISHED, since=at, hand=HandEnd(result=END), session=recorded)
    return replace(over, agreed=frozenset()), (fact,)


def on_last_taken_back(state: Table, event: events.LastTakenBack) -> Step:
    """Take back the last entry: a hand resumes where it was, a minor fault is undone, an ended session continues."""
    session = riichi_session_of(state)
    if not session.entries:
        raise NotNow("nothing_to_take_back", "nothing of this session was recorded here")
    last = session.entries[-1]
    kind = last.fact.event.kind
    if last.ended_hand and session.riichi and state.phase is not Phase.RECORDED:
        raise NotNow("not_now", "riichi is declared in the hand that followed")
    before = replace(session, state=last.before, entries=session.entries[:-1], recorded=session.recorded - 1)
    fact = RiichiTakenBack(round=session.planned.round, deal=last.hand, entry=last.fact.entry)
    if kind == "minor_fault" and state.phase is not Phase.RECORDED:
        return replace(state, session=before), (fact,)
    if kind == "end" or any(one.hand == last.hand and one.ended_hand for one in before.entries):
        return _shown_again(replace(state, phase=Phase.RECORDED, since=event.at), before), (fact,)
    again = replace(before.next_hand(), hand=last.hand, riichi=last.riichi)
    return _begin(state, again, event.at), (fact,)


def _shown_again(state: Table, session: RiichiSession) -> Table:
    """Show what the last remaining entry paid, if this device knows it."""
    last = next(reversed(session.entries), None)
    if last is None:
        return _with_payment(state, replace(session, settled=None), None)
    entry = last.fact.event
    settled = settle_event(last.before, event_from_message(entry), session.profile)
    return _with_payment(state, replace(session, settled=settled), entry)


def _begin(state: Table, session: RiichiSession, at: int) -> Table:
    """Begin a hand. The session's clock runs on, and its added minutes stay."""
    hand = replace(cleared(state, at), play_clock=state.play_clock, extra_min=state.extra_min)
    return replace(hand, phase=Phase.PLAYING, session=session)


def _recorded(
    session: RiichiSession, entry: RiichiEvent, settled: SettledEvent, declared_on: Mapping[Seat, Seat] | None = None
) -> tuple[RiichiSession, RiichiRecorded]:
    """Make an entry. If it ends the hand, the hand's deposits are now part of the session's state."""
    number, over = session.recorded + 1, entry.kind not in NOT_ENDING_A_HAND
    fact = RiichiRecorded(
        round=session.planned.round,
        deal=session.hand,
        profile=session.profile.id,
        entry=number,
        event=entry,
        deltas=points_by_seat(settled.deltas),
        standing=standing_from_state(settled.state, session.hand + over),
        declared_on=dict(declared_on) if declared_on else None,
    )
    session_entry = SessionEntry(fact, session.state, session.hand, session.riichi)
    riichi = () if over else session.riichi
    shown = replace(session, settled=settled, riichi=riichi)
    return replace(shown, state=settled.state, recorded=number, entries=(*session.entries, session_entry)), fact


def on_deposit_laid(state: Table, event: events.DepositLaid) -> Step:
    """Lay a riichi deposit, or take it back."""
    return replace(state, session=_with_deposit(riichi_session_of(state), event.seat, laid=event.laid)), ()


def on_riichi_long_press(state: Table, event: events.ButtonHeld) -> Step:
    """Handle a long press: it declares riichi, which is public and shows at once, and it claims nothing.

    A player who held on purpose says so aloud and discards. Whether anybody else has pressed remains hidden.
    """
    session = riichi_session_of(state)
    if event.at < state.since:  # it began in the previous hand, where it would have called the arbiter
        return state, ()
    if state.window is not None:
        window = replace(state.window.held(event.seat, in_play_time(state, event.at)), called_at=None)
        empty = not window.presses and window.ended_at is None
        state = _reopened(state) if empty else claim.with_window(state, window)
    poor = session.score(event.seat) < session.profile.points.deposit.value
    if event.seat in session.riichi or poor:
        return state, ()
    return replace(state, session=_with_deposit(session, event.seat, laid=True)), ()


def _reopened(state: Table) -> Table:
    """Withdraw the only press, which turned out to be a declaration of riichi."""
    return replace(claim.without_claim(state), phase=Phase.PLAYING)


def _with_deposit(session: RiichiSession, seat: Seat, *, laid: bool) -> RiichiSession:
    others = tuple(one for one in session.riichi if one != seat)
    if not laid:
        return replace(session, riichi=others)
    if seat in session.riichi:
        return session
    if session.score(seat) < session.profile.points.deposit.value:
        raise NotNow("riichi_without_points", f"{seat} has {session.score(seat)} points, too few for the deposit")
    return replace(session, riichi=(*others, seat))


def on_hand_drawn(state: Table, event: events.PlayEndedDrawn) -> Step:
    """Record that nobody won; whoever won on the last tile presses now."""
    after, facts = claim.on_play_drawn(state, event)
    return replace(after, hand=HandEnd()), facts


def on_hand_aborted(state: Table, event: events.HandEntered) -> Step:
    """Record what ends a hand without a winner. As with an empty wall, claims come first: whoever has won presses."""
    if event.told.kind == "minor_fault":
        return on_minor_fault(state, event)
    if event.told.kind not in ("abort", "chombo"):
        raise NotNow("not_a_win", "a win is entered once it was declared")
    check_payment(state, event.told)
    return _ended_early(state, event)


def _ended_early(state: Table, event: events.HandEntered) -> Step:
    after, _ = claim.on_play_drawn(state, events.PlayEndedDrawn(at=event.at))
    return replace(after, hand=HandEnd(ending=event.told)), ()


def on_hand_window_elapsed(state: Table, event: events.ClaimWindowElapsed) -> Step:
    """Close the window: winners show their hands, or else the reported end of the hand is to be accepted."""
    closed, facts = claim.on_window_elapsed(state, event)
    after, ending = replace(closed, hand=HandEnd()), state.hand.ending
    if after.phase is not Phase.ACCEPTING:
        return after, facts
    after = replace(after, outcome=None)
    if ending is None:
        return replace(after, phase=Phase.DECLARED, hand=HandEnd(asks_tenpai=True, tenpai=_in_riichi(state))), facts
    if state.session is None:
        return _show_planned(after, ending, event.at), facts
    return show_payment(after, events.HandEntered(at=event.at, told=ending)), facts


def on_tenpai_press(state: Table, event: events.ButtonPressed) -> Step:
    """Record that a seat says it is tenpai, or no longer says so; a seat in riichi always is. Raises NotNow."""
    if not state.hand.asks_tenpai:
        raise NotNow("press_after_window", f"{event.seat}, when the claim window was over")
    check_settled(state, event)
    tenpai = state.hand.tenpai ^ {event.seat}
    return replace(state, hand=replace(state.hand, tenpai=tenpai | _in_riichi(state))), ()


def _in_riichi(state: Table) -> frozenset[Seat]:
    return frozenset(state.session.riichi if state.session else ())


def on_hand_valued(state: Table, event: events.HandEntered) -> Step:
    """Record how the hand ended: each winner's value, who is tenpai, or a fault. Raises NotNow."""
    kind = event.told.kind
    if kind == "minor_fault":
        return on_minor_fault(state, event)
    if kind in ("ron", "tsumo") and set(event.told.wins) != claim.entitled(state, event.declared_on, event.told.loser):
        raise NotNow("winners_differ", "every declaration is valued, or it is a chombo")
    if kind == "draw" and not state.hand.asks_tenpai:
        raise NotNow("not_now", "nobody was asked whether they are tenpai")
    return show_payment(state, event), ()


def on_planned_aborted(state: Table, event: events.HandEntered) -> Step:
    """Record an abortive draw. As with an empty wall, claims come first: whoever has won presses. Raises NotNow."""
    if event.told.kind != "abort":
        raise NotNow("not_a_win", "a win is entered once it was declared")
    _outcome(state, event.told)
    return _ended_early(state, event)


def on_planned_valued(state: Table, event: events.HandEntered) -> Step:
    """Record how the hand ended: each winner's value, or for a drawn hand that all have answered. Raises NotNow."""
    kind, won = event.told.kind, set(event.told.wins)
    if kind in ("ron", "tsumo") and won == claim.entitled(state, event.declared_on, event.told.loser):
        return replace(_show_planned(state, event.told, event.at), declared_on=event.declared_on), ()
    if kind == "draw" and state.hand.asks_tenpai:
        return _show_planned(state, _with_tenpai(state, event.told), event.at), ()
    raise NotNow("winners_differ", "every declaration is either valued or found false")


def _show_planned(state: Table, ending: RiichiEvent, at: int) -> Table:
    """Ask the four seats to accept what a hand is worth."""
    outcome = _outcome(state, ending)
    return replace(claim.show_result(state, outcome, at), hand=replace(state.hand, ending=None, result=ending))


def _outcome(state: Table, ending: RiichiEvent) -> Outcome:
    """Return the outcome of a hand. Raises NotNow with the code of what is wrong with it."""
    rules = state.profile
    if not isinstance(rules, RiichiProfile):
        raise NotNow("no_session", "this table plays no riichi")
    try:
        return points.score_riichi(ending, current_play(state).dealer, rules)[0]
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
