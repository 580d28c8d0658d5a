"""Who sits where: each player presses the own button before the first play, and again when others are to sit here.

The plan says who should sit there. Who does is told with every play and never inferred: where two players sit in each
other's seats they change back, or the arbiter lets them stay, and both are in the record.
"""

from dataclasses import replace

from broker.contract.facts import Fact, Seated
from broker.contract.plans import PlannedPlay
from broker.contract.words import SEATS
from kiosk.table.authority import arbiter_of
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, SeatsSwapped
from kiosk.table.state import SETTLE_NS, Phase, Table

Step = tuple[Table, tuple[Fact, ...]]


def pressed(state: Table, event: ButtonPressed) -> Step:
    """Check a player in, while trays are still laid or when they lie. Raises NotNow."""
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")
    if event.seat in state.arrived:
        raise NotNow("press_before_play", f"{event.seat} has checked in")
    return next_step(replace(state, arrived=state.arrived | {event.seat}), event.at)


def next_step(state: Table, at: int) -> Step:
    """Go on where all four trays lie right: to the tiles when everybody is here, else wait for them."""
    play = state.play
    if play is None or state.unlaid:
        return state, ()
    if len(state.arrived) < len(SEATS):
        return (replace(state, phase=Phase.SEATING, since=at) if state.phase is Phase.RESTORING else state), ()
    seated = Seated(
        round=play.round, deal=play.deal, players={seat: player.id for seat, player in state.players.items()}
    )
    return replace(state, phase=Phase.CONFIRMING, since=at, agreed=frozenset()), (seated,)


def swapped(state: Table, event: SeatsSwapped) -> Step:
    """Let two players stay in each other's seats; both check in again, under the names that now stand there."""
    arbiter_of(state)
    if state.play is None or event.one == event.other:
        raise NotNow("not_two_seats", f"{event.one}, {event.other}")
    seating = {**state.players, event.one: state.players[event.other], event.other: state.players[event.one]}
    ordered = {seat: seating[seat] for seat in SEATS}
    as_planned = ordered == dict(state.play.players)
    phase = Phase.SEATING if state.phase is Phase.CONFIRMING else state.phase
    return (
        replace(
            state,
            phase=phase,
            since=event.at,
            seating={} if as_planned else ordered,
            arrived=state.arrived - {event.one, event.other},
            agreed=frozenset(),
        ),
        (),
    )


def still_seated(state: Table, coming: PlannedPlay | None) -> bool:
    """Say whether the next play is for those who have checked in, each where they sit; a substitute has not."""
    if coming is None or len(state.arrived) < len(SEATS):
        return False
    return dict(state.players) == dict(coming.players)
