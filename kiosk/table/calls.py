"""Calls for the arbiter: by key, so that the table sees it, or by a long press, of which the table sees nothing."""

from dataclasses import replace

from broker.contract.facts import Call, Fact
from broker.contract.plans import PlannedPlay
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonHeld, CallToggled
from kiosk.table.state import Table


def play_of(state: Table) -> PlannedPlay:
    """Give the present play. Raises NotNow `no_play`."""
    if state.play is None:
        raise NotNow("no_play", "nothing is being played here")
    return state.play


def toggled(state: Table, event: CallToggled) -> tuple[Table, tuple[Fact, ...]]:
    """Call, or take a call back. A call that was made discreetly and is made again openly is the same call."""
    play = play_of(state)
    after = replace(state, calling=event.open, discreet=False)
    if state.calling == event.open:
        return after, ()
    return after, (Call(round=play.round, deal=play.deal, open=event.open),)


def held(state: Table, _: ButtonHeld) -> tuple[Table, tuple[Fact, ...]]:
    """Take a long press in where no claim can be open."""
    return discreet(state)


def discreet(state: Table) -> tuple[Table, tuple[Fact, ...]]:
    """Call so that the arbiter learns of it and the table does not; where there is a call already it stays as it is."""
    play = play_of(state)
    if state.calling:
        return state, ()
    return replace(state, calling=True, discreet=True), (Call(round=play.round, deal=play.deal, open=True),)
