"""The silent claim (MIL): opened by the first press, closed after the profile's time, told only then."""

from dataclasses import replace

from broker.contract.facts import Declared, Fact, Press
from broker.rules.points import Outcome
from kiosk.table import calls, settle
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonHeld, ButtonPressed, ButtonReleased, ClaimWindowElapsed, PlayEndedDrawn
from kiosk.table.pause import in_play_time
from kiosk.table.state import SETTLE_NS, Declaration, Phase, Table
from kiosk.table.window import ClaimWindow

NS_PER_MS = 1_000_000
LONGEST_MS = 60_000


def pressed(state: Table, event: ButtonPressed) -> tuple[Table, tuple[Fact, ...]]:
    """Take a press in, silently. Order is by the kernel's edge, whatever order the events come in."""
    if event.seat in state.fines:
        raise NotNow("press_of_dead_hand", f"{event.seat} has declared a false hu in this play")
    if event.at < state.since:
        raise NotNow("press_before_play", f"{event.seat}, told when the play had begun")
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, just as the play began")
    return stands(state, _window(state).pressed(event.seat, in_play_time(state, event.at))), ()


def released(state: Table, event: ButtonReleased) -> tuple[Table, tuple[Fact, ...]]:
    """Take in that a finger let go, silently: what it pressed is a hu now, or a call."""
    return stands(state, _window(state).released(event.seat, in_play_time(state, event.at))), ()


def held(state: Table, event: ButtonHeld) -> tuple[Table, tuple[Fact, ...]]:
    """Take a call in, silently: no hu, and nobody is told before a window opened by this press would be over.

    That holds for whoever may not declare (a dead hand, a second press), too: anybody may call.
    """
    return stands(state, _window(state).held(event.seat, in_play_time(state, event.at))), ()


def ended(state: Table, event: PlayEndedDrawn) -> tuple[Table, tuple[Fact, ...]]:
    """Nobody won, it is said: wait in silence for whoever presses on the last discard, and as if nobody had before.

    The same is seen whether or not somebody has pressed, before or after, and for as long: the key tells nothing.
    """
    if state.phase is Phase.PLAYING and event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", "just as the play began")
    return stands(state, _window(state).ended(event.at)), ()


def elapsed(state: Table, event: ClaimWindowElapsed) -> tuple[Table, tuple[Fact, ...]]:
    """Close the window and tell who declared, then who called.

    Where the play was said to be over and nobody declared, it is a draw; where there were only calls, it goes on.
    """
    closes_at, window = state.closes_at, state.window
    if closes_at is None or window is None or event.at < closes_at:
        raise NotNow("window_still_open")
    after = replace(state, window=None, closed_at=window.deadline)
    declared: tuple[Fact, ...] = ()
    if window.declared:
        after, declared = replace(after, phase=Phase.DECLARED, since=event.at), (_declared(state),)
    elif window.ended_at is not None:
        after = settle.show(after, Outcome("draw", {}), event.at)
    else:
        after = replace(after, phase=Phase.PLAYING)
    if window.called_at is None:
        return after, declared
    after, call = calls.discreet(after)
    return after, (*declared, *call)


def _window(state: Table) -> ClaimWindow:
    """Give the open window, or one that opens now; with a window of no time the first press counts all the same."""
    return state.window or ClaimWindow(max(1, state.claim_ms * NS_PER_MS))


def stands(state: Table, window: ClaimWindow) -> Table:
    """Let the table stand by its window."""
    declarations = tuple(Declaration(one.seat, one.at) for one in window.declared)
    return replace(state, phase=Phase.CLAIMING, window=window, declarations=declarations)


def _declared(state: Table) -> Declared:
    play, first = calls.play_of(state), state.declarations[0].at
    presses = tuple(
        Press(seat=one.seat, after_ms=min((one.at - first) // NS_PER_MS, LONGEST_MS)) for one in state.declarations
    )
    return Declared(round=play.round, deal=play.deal, presses=presses)
