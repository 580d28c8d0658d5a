"""From how a hand ended to an entry of the session that four seats have accepted; and back."""

from dataclasses import replace

from msgspec.structs import replace as changed

from broker.contract.facts import Fact, RiichiHand, RiichiTakenBack
from broker.contract.riichi import RiichiEvent
from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.riichi.session.apply import Settled, apply
from broker.rules.riichi.session.told import by_seat, event_of, standing_of
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    ButtonPressed,
    HandTold,
    LastTakenBack,
    NextDealCalled,
    ResultRefused,
    SessionStopped,
)
from kiosk.table.riichi.session import Entry, Session
from kiosk.table.state import SETTLE_NS, Phase, Table, afresh, session_of

Step = tuple[Table, tuple[Fact, ...]]

END = RiichiEvent(kind="end")


def check(state: Table, told: RiichiEvent) -> Settled:
    """Give what an event would pay. Raises NotNow with the code of what is wrong with it."""
    session = session_of(state)
    try:
        return apply(session.state, event_of(told), session.profile)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None


def show(state: Table, event: HandTold) -> Table:
    """Put what a hand pays before the four seats."""
    session = session_of(state)
    whole = _whole(session, event)
    settled = check(state, whole)
    shown = replace(session, pending=whole, settled=settled)
    return replace(state, phase=Phase.ACCEPTING, since=event.at, agreed=frozenset(), session=shown)


def _whole(session: Session, event: HandTold) -> RiichiEvent:
    """Add what the table knows: who has laid a deposit, and who is tenpai. A riichi that was won on was none."""
    failed = event.told.loser if event.on_riichi_tile else None
    riichi = tuple(seat for seat in session.riichi if seat != failed)
    if event.told.kind != "draw":
        return changed(event.told, riichi=riichi)
    return changed(event.told, riichi=riichi, tenpai=tuple(seat for seat in SEATS if seat in session.tenpai))


def refused(state: Table, event: ResultRefused) -> Step:
    """Go back to where it came from."""
    session = replace(session_of(state), pending=None, settled=None)
    back = Phase.DECLARED if state.declarations or session.asking else Phase.PLAYING
    return replace(state, phase=back, since=event.at, agreed=frozenset(), session=session), ()


def accepted(state: Table, event: ButtonPressed) -> Step:
    """Take one seat's acceptance; with the fourth the hand is recorded."""
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")
    agreed = state.agreed | {event.seat}
    if len(agreed) < len(SEATS):
        return replace(state, agreed=agreed), ()
    session = session_of(state)
    if session.pending is None or session.settled is None:
        raise NotNow("not_now", "there is nothing to accept")
    recorded, fact = _recorded(session, session.pending, session.settled)
    return replace(state, phase=Phase.RECORDED, since=event.at, agreed=agreed, session=recorded), (fact,)


def fault(state: Table, event: HandTold) -> Step:
    """Record a minor fault, which the arbiter has ruled; the hand goes on."""
    if event.told.kind != "minor_fault":
        raise NotNow("not_now", "the hand is recorded; take it back first")
    settled = check(state, event.told)
    session, fact = _recorded(session_of(state), event.told, settled)
    after = replace(state, session=session)
    if session.state.over:  # somebody's score ends the session at once
        after = replace(after, phase=Phase.RECORDED, since=event.at, window=None, declarations=())
    return after, (fact,)


def next_hand(state: Table, event: NextDealCalled) -> Step:
    """Deal the next hand, or end the session."""
    session = session_of(state)
    if session.state.over:
        return _ended(state, event.at)
    return _begin(state, replace(session.next_hand(), hand=session.hand + 1), event.at), ()


def stopped(state: Table, event: SessionStopped) -> Step:
    """End the session between two hands: the time is up."""
    return _ended(state, event.at)


def _ended(state: Table, at: int) -> Step:
    """Give out what lies on the table."""
    session = session_of(state).next_hand()
    ending = replace(state, session=session)
    recorded, fact = _recorded(session, END, check(ending, END))
    return replace(ending, phase=Phase.FINISHED, since=at, agreed=frozenset(), session=recorded), (fact,)


def taken_back(state: Table, event: LastTakenBack) -> Step:
    """Take the last entry back: a hand is played on where it was, a minor fault never was, an ended session goes on."""
    session = session_of(state)
    if not session.entries:
        raise NotNow("nothing_to_take_back", "nothing of this session was recorded here")
    last = session.entries[-1]
    kind = last.fact.event.kind
    if kind not in ("minor_fault", "end") and session.riichi and state.phase is not Phase.RECORDED:
        raise NotNow("not_now", "riichi is declared in the hand that followed")
    before = replace(session, state=last.before, entries=session.entries[:-1], recorded=session.recorded - 1)
    fact = RiichiTakenBack(round=session.planned.round, deal=last.hand, entry=last.fact.entry)
    if kind == "minor_fault" and state.phase is not Phase.RECORDED:
        return replace(state, session=before), (fact,)
    if kind == "end":
        return replace(state, phase=Phase.RECORDED, since=event.at, session=before), (fact,)
    again = replace(before.next_hand(), hand=last.hand, riichi=last.riichi)
    return _begin(state, again, event.at), (fact,)


def _begin(state: Table, session: Session, at: int) -> Table:
    """Begin a hand."""
    return replace(afresh(state, at), phase=Phase.PLAYING, session=session)


def _recorded(session: Session, told: RiichiEvent, settled: Settled) -> tuple[Session, RiichiHand]:
    """Make an entry. What lay on the table of this hand is in the state by then, but where the hand goes on."""
    number, over = session.recorded + 1, told.kind not in ("minor_fault", "end")
    fact = RiichiHand(
        round=session.planned.round,
        deal=session.hand,
        profile=session.profile.id,
        entry=number,
        event=told,
        deltas=by_seat(settled.deltas),
        standing=standing_of(settled.state, session.hand + over),
    )
    entry = Entry(fact, session.state, session.hand, session.riichi)
    riichi = () if over else session.riichi
    entries = (*session.entries, entry)
    return replace(session, state=settled.state, settled=settled, riichi=riichi, recorded=number, entries=entries), fact
