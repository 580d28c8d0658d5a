"""The silent claim (MIL): opened by the first press, closed after the profile's time, told only then."""

from dataclasses import replace

from broker.contract.messages import Declared, Fact, Press
from broker.contract.words import SEATS
from broker.rules.points import Outcome
from kiosk.table import settle
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, ClaimWindowElapsed, PlayEndedDrawn
from kiosk.table.state import SETTLE_NS, Declaration, Phase, Table

NS_PER_MS = 1_000_000


def pressed(state: Table, event: ButtonPressed) -> tuple[Table, tuple[Fact, ...]]:
    """Take a press in, silently. Order is by the kernel's edge, whatever order the events come in."""
    if event.seat in state.fines:
        raise NotNow("press_of_dead_hand", f"{event.seat} has declared a false hu in this play")
    if state.phase is Phase.PLAYING:
        return _opened(state, event)
    if any(one.seat == event.seat and one.at <= event.at for one in state.declarations):
        raise NotNow("press_again", f"{event.seat} has declared already")
    deadline = state.claim_deadline
    if deadline is not None and event.at >= deadline:
        raise NotNow("press_after_window", f"{event.seat}, when the claim window was over")
    return _told_late(replace(state, since=min(state.since, event.at)), Declaration(event.seat, event.at)), ()


def ended(state: Table, event: PlayEndedDrawn) -> tuple[Table, tuple[Fact, ...]]:
    """Nobody won, it is said: wait in silence for whoever presses on the last discard, and as if nobody had before.

    The same is seen whether or not somebody has pressed, before or after, and for as long: the key tells nothing.
    """
    if state.phase is Phase.PLAYING and event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", "just as the play began")
    since = event.at if state.phase is Phase.PLAYING else state.since
    return replace(state, phase=Phase.CLAIMING, since=since, ended=True), ()


def _told_late(state: Table, new: Declaration) -> Table:
    """Put a press in its place. An earlier one moves the window, and whoever falls out of it has not declared."""
    others = [one for one in state.declarations if one.seat != new.seat]
    ordered = sorted((*others, new), key=lambda one: (one.at, SEATS.index(one.seat)))
    deadline = state.claim_deadline
    return replace(state, declarations=tuple(one for one in ordered if deadline is None or one.at < deadline))


def _opened(state: Table, event: ButtonPressed) -> tuple[Table, tuple[Fact, ...]]:
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, just as the play began")
    first = Declaration(event.seat, event.at)
    return replace(state, phase=Phase.CLAIMING, since=event.at, declarations=(first,)), ()


def rebased(declarations: tuple[Declaration, ...], now: int) -> tuple[Declaration, ...]:
    """Move presses to a new clock: the last of them is now, their distances stay."""
    return tuple(Declaration(one.seat, now - (declarations[-1].at - one.at)) for one in declarations)


def elapsed(state: Table, event: ClaimWindowElapsed) -> tuple[Table, tuple[Fact, ...]]:
    """Close the window and tell who declared; where the play was said to be over and nobody did, it is a draw."""
    deadline, play = state.claim_deadline, state.play
    if deadline is None or play is None or event.at < deadline:
        raise NotNow("window_still_open")
    if not state.declarations:
        return settle.show(state, Outcome("draw", {}), event.at), ()
    first = state.declarations[0].at
    presses = tuple(
        Press(seat=one.seat, after_ms=max(0, min(one.at - first, 60_000 * NS_PER_MS)) // NS_PER_MS)
        for one in state.declarations
    )
    fact = Declared(round=play.round, deal=play.deal, presses=presses)
    return replace(state, phase=Phase.DECLARED, since=event.at, ended=False), (fact,)
