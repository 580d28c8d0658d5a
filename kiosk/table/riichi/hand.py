"""One hand: riichi deposits, presses, and what ends it. Nothing that is seen here depends on who has pressed."""

from dataclasses import replace

from broker.contract.facts import Fact
from broker.contract.words import Seat
from kiosk.table import claim
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    ButtonHeld,
    ButtonPressed,
    ClaimWindowElapsed,
    HandTold,
    PlayEndedDrawn,
    RiichiLaid,
)
from kiosk.table.pause import in_play_time
from kiosk.table.riichi import accepting
from kiosk.table.riichi.session import Session
from kiosk.table.state import SETTLE_NS, Phase, Table, session_of

Step = tuple[Table, tuple[Fact, ...]]


def laid(state: Table, event: RiichiLaid) -> Step:
    """Lay a riichi deposit, or take it back."""
    return _with(state, _laid(session_of(state), event.seat, laid=event.laid)), ()


def held(state: Table, event: ButtonHeld) -> Step:
    """Take a long press in: it declares riichi, which is public, so that it shows at once; and it claims nothing.

    A hold that was one says so aloud and discards; whoever else has pressed is not told of, now as before.
    """
    session = session_of(state)
    if event.at < state.since:  # it began over the hand before, where it would have called the arbiter
        return state, ()
    if state.window is not None:
        window = replace(state.window.held(event.seat, in_play_time(state, event.at)), called_at=None)
        empty = not window.contacts and window.ended_at is None
        state = _reopened(state) if empty else claim.stands(state, window)
    poor = session.score(event.seat) < session.profile.points.deposit.value
    if event.seat in session.riichi or poor:
        return state, ()
    return _with(state, _laid(session, event.seat, laid=True)), ()


def _reopened(state: Table) -> Table:
    """Go back to before the only press, which was none."""
    return replace(state, phase=Phase.PLAYING, window=None, declarations=())


def _laid(session: Session, seat: Seat, *, laid: bool) -> Session:
    others = tuple(one for one in session.riichi if one != seat)
    if not laid:
        return replace(session, riichi=others)
    if seat in session.riichi:
        return session
    if session.score(seat) < session.profile.points.deposit.value:
        raise NotNow("riichi_without_points", f"{seat} has {session.score(seat)} points, too few for the deposit")
    return replace(session, riichi=(*others, seat))


def ended(state: Table, event: PlayEndedDrawn) -> Step:
    """Take in that nobody won; who has won on the last tile presses now."""
    after, facts = claim.ended(state, event)
    return _with(after, replace(session_of(state), ending=None)), facts


def told(state: Table, event: HandTold) -> Step:
    """Take in what ends a hand that nobody won. As with an empty wall, claims come first: whoever has won presses."""
    if event.told.kind == "minor_fault":
        return accepting.fault(state, event)
    if event.told.kind not in ("abort", "chombo"):
        raise NotNow("not_a_win", "a win is told when it was declared")
    accepting.check(state, event.told)
    after, _ = claim.ended(state, PlayEndedDrawn(at=event.at))
    return _with(after, replace(session_of(state), ending=event.told)), ()


def elapsed(state: Table, event: ClaimWindowElapsed) -> Step:
    """Close the window: who declared shows the hand; else what was said to end the hand is to be accepted."""
    session = session_of(state)
    after, facts = claim.elapsed(state, event)
    if after.phase is not Phase.ACCEPTING:
        return _with(after, replace(session, ending=None)), facts
    after = replace(after, outcome=None)
    if session.ending is not None:
        return accepting.show(
            _with(after, replace(session, ending=None)), HandTold(at=event.at, told=session.ending)
        ), facts
    asked = replace(session, asking=True, tenpai=frozenset(session.riichi))
    return replace(_with(after, asked), phase=Phase.DECLARED), facts


def tenpai(state: Table, event: ButtonPressed) -> Step:
    """Take in that a seat says to be tenpai, or after all not; who is in riichi is."""
    session = session_of(state)
    if not session.asking:
        raise NotNow("press_after_window", f"{event.seat}, when the claim window was over")
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")
    said = session.tenpai ^ {event.seat}
    return _with(state, replace(session, tenpai=said | frozenset(session.riichi))), ()


def shown(state: Table, event: HandTold) -> Step:
    """Take in how the hand ended: the value of each who declared, or who is tenpai; or a fault that was found."""
    session, kind = session_of(state), event.told.kind
    declared = {one.seat for one in state.declarations}
    if kind in ("ron", "tsumo") and set(event.told.wins) != declared:
        raise NotNow("winners_differ", "every declaration is valued, or it is a chombo")
    if kind == "draw" and not session.asking:
        raise NotNow("not_now", "nobody was asked whether they are tenpai")
    return accepting.show(state, event), ()


def _with(state: Table, session: Session) -> Table:
    return replace(state, session=session)
