"""The self-test of the hardware, as far as it is the table's: when it may be, and that buttons mean nothing meanwhile.

What is tested and found is `kiosk/self_test/`'s.
"""

from dataclasses import replace
from typing import Final

from broker.contract.facts import Fact
from kiosk.table.authority import arbiter_of
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonHeld, ButtonPressed, Event, SelfTestBegun, SelfTestEnded
from kiosk.table.state import Phase, Table

Step = tuple[Table, tuple[Fact, ...]]

IDLE: Final = (Phase.WAITING, Phase.FINISHED)
"""Where anybody may ask for it: nothing is played."""

BEFORE_PLAY: Final = (*IDLE, Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING)
"""Where a day may begin with it."""

PLAY: Final = (Phase.PLAYING, Phase.CLAIMING)


def begun(state: Table, event: SelfTestBegun) -> Step:
    """Begin. Raises NotNow: in a play only the arbiter asks for it, and pauses the play first."""
    if event.asked and state.phase not in IDLE:
        arbiter_of(state)
    if in_play(state) or (not event.asked and state.phase not in BEFORE_PLAY):
        raise NotNow("not_now", "a self-test in the middle of a play")
    return replace(state, self_test="running"), ()


def ended(state: Table, event: SelfTestEnded) -> Step:
    """End, or go on without."""
    if state.self_test != "running":
        raise NotNow("not_now", "no self-test is running")
    return replace(state, self_test=event.verdict), ()


def refuse(state: Table, event: Event) -> None:
    """Refuse what a button would mean: it is being tried. Raises NotNow."""
    if state.self_test == "running" and isinstance(event, ButtonPressed | ButtonHeld):
        raise NotNow("press_in_test", event.seat)


def overtaken(state: Table) -> Table:
    """Drop a self-test where the play goes on: the desk has ended the pause in which it was."""
    return replace(state, self_test="skipped") if state.self_test == "running" and in_play(state) else state


def in_play(state: Table) -> bool:
    """Say whether tiles are being played with, and buttons declare."""
    return state.phase in PLAY and not state.paused
