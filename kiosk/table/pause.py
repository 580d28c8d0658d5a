"""The arbiter's pause: the table's time stands still, an open claim window's too, and buttons declare nothing."""

from dataclasses import replace

from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, ClaimWindowElapsed, Event, PlayEndedDrawn
from kiosk.table.state import Pause, Table


def begun(state: Table, at: int) -> Table:
    """Begin a pause, unless there is one."""
    return state if state.paused else replace(state, pause=Pause(at))


def ended(state: Table, at: int) -> Table:
    """End the pause, if there is one. What was left of an open claim window is left again."""
    pause = state.pause
    if pause is None or not state.paused:
        return state
    over = replace(pause, until=max(at, pause.since))
    clock = state.play_clock and state.play_clock.after(over.length)
    return replace(state, pause=over, play_clock=clock, window=state.window and state.window.moved(over.length))


def refuse(state: Table, event: Event) -> None:
    """Refuse what does not go on in a pause, by when it happened, not by when it is told. Raises NotNow.

    The arbiter may still be called, trays may be looked at, and a result on the screen may be entered again.
    """
    pause = state.pause
    if pause is None:
        return
    if isinstance(event, ButtonPressed) and pause.since <= event.at and (pause.until is None or event.at < pause.until):
        raise NotNow("press_in_pause", f"{event.seat}, while the arbiter had paused the table")
    if isinstance(event, PlayEndedDrawn | ClaimWindowElapsed) and state.paused:
        raise NotNow("table_paused", type(event).__name__)


def in_play_time(state: Table, at: int) -> int:
    """Give a time without the pause: what was before the latest pause and is told after it is moved as all else was."""
    pause = state.pause
    return at + pause.length if pause is not None and at < pause.since else at
