"""Orders of the arbiter's desk: each is carried out once, in the desk's order."""

from dataclasses import replace

from broker.contract.messages import Fact
from kiosk.table import calls, pause
from kiosk.table.events import CallToggled, Ordered
from kiosk.table.state import Table


def carried_out(state: Table, event: Ordered) -> tuple[Table, tuple[Fact, ...]]:
    """Carry an order out, once: the wire may bring it again, or after a later one."""
    if event.seq <= state.ordered:
        return state, ()
    state = replace(state, ordered=event.seq)
    match event.command:
        case "clear_call":
            return calls.toggled(state, CallToggled(at=event.at, open=False)) if state.play else (state, ())
        case "pause":
            return pause.begun(state, event.at), ()
        case "resume":
            return pause.ended(state, event.at), ()
        case "extra_time":
            return replace(state, extra_min=state.extra_min + event.minutes), ()
