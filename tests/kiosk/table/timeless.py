"""A table apart from its clock: after a power cut, earlier times are of another clock."""

from dataclasses import replace

from broker.protocol import Seat
from kiosk.table import Table


def without_times(state: Table) -> tuple[Table, list[tuple[Seat, bool]], list[int], bool]:
    """Return a table apart from its clock: who pressed, and the time between presses."""
    contacts = state.window.presses if state.window else ()
    presses = [(one.seat, one.down) for one in contacts]
    distances = [one.at - contacts[0].at for one in contacts]
    asked = tuple(replace(one, at=one.at - state.doubted[0].at) for one in state.doubted)
    timeless = replace(
        state,
        since=0,
        declarations=(),
        doubted=asked,
        window=None,
        closed_at=None,
        pause=None,
        play_clock=None,
        pin_wrong_at=0,
    )
    return timeless, presses, distances, state.paused
