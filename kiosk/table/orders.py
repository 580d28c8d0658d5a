"""Orders of the arbiter's desk: each is carried out once, in the desk's order."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from broker.contract.facts import Fact
from broker.contract.messages import MOST_OBEYED, Command, Order
from kiosk.table import arbiter, calls
from kiosk.table.events import ArbiterAdmitted, CallToggled, Ordered, Reopened
from kiosk.table.state import Phase, Table

Step = tuple[Table, tuple[Fact, ...]]

ORDERED: Final = "ordered by the desk"
"""Why a result was taken back, in the record: no ruling is without a reason, and the desk keeps its own."""

UNSAID: Final = ""
"""Of pauses and time the desk says that it ordered them, in its reader's language."""


def given(order: Order, at: int) -> Ordered:
    """Give what an order is to the table. `at` in ns."""
    return Ordered(at=at, seq=order.seq, id=order.id, command=order.command, minutes=order.minutes, author=order.author)


def carried_out(state: Table, event: Ordered) -> Step:
    """Carry an order out, once: the wire may bring it again, or after a later one."""
    if event.seq <= state.ordered:
        return state, ()
    known = (*state.obeyed, (event.seq, event.id))[-MOST_OBEYED:] if event.id else state.obeyed
    return _CARRIED_OUT[event.command](replace(state, ordered=event.seq, obeyed=known), event)


def _call_cleared(state: Table, event: Ordered) -> Step:
    return calls.toggled(state, CallToggled(at=event.at, open=False)) if state.play else (state, ())


def _reopened(state: Table, event: Ordered) -> Step:
    """Take the present result back in the desk's name; where there is none by now, nothing is left to be done."""
    if state.phase is not Phase.RECORDED or state.outcome is None:
        return state, ()
    there = replace(state, arbiter=event.author)
    after, facts = arbiter.reopened(there, Reopened(at=event.at, reason=ORDERED))
    return replace(after, arbiter=state.arbiter), facts


def _time_added(state: Table, event: Ordered) -> Step:
    if not event.minutes:  # an order that gives none says nothing
        return state, ()
    return arbiter.given_by(event.author, UNSAID, state, event.minutes)


_CARRIED_OUT: Final[dict[Command, Callable[[Table, Ordered], Step]]] = {
    "clear_call": _call_cleared,
    "pause": lambda state, event: arbiter.paused_by(event.author, UNSAID, state, event.at, begin=True),
    "resume": lambda state, event: arbiter.paused_by(event.author, UNSAID, state, event.at, begin=False),
    "extra_time": _time_added,
    "reopen": _reopened,
    "admit": lambda state, event: arbiter.admitted(state, ArbiterAdmitted(at=event.at, by=event.author)),
}
