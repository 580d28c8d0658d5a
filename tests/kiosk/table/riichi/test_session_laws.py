"""What holds of every riichi session, whatever hands are played in it."""

from hypothesis import given
from hypothesis import strategies as st

from broker.contract.facts import RiichiHand
from broker.contract.words import SEATS, Seat
from broker.rules.riichi.session.apply import apply
from broker.rules.riichi.session.record import begin
from broker.rules.riichi.session.told import event_of
from kiosk.table.machine import handle
from kiosk.table.state import Phase, Table
from tests.examples import COSTLY
from tests.kiosk.riichi_tables import RiichiSitting, fu30

seats = st.sampled_from(SEATS)
hands = st.one_of(
    st.tuples(st.just("ron"), seats, seats, st.integers(1, 13)),
    st.tuples(st.just("tsumo"), seats, seats, st.integers(1, 13)),
    st.tuples(st.just("draw"), seats, seats, st.just(0)),
    st.tuples(st.just("chombo"), seats, seats, st.just(0)),
    st.tuples(st.just("minor_fault"), seats, seats, st.just(0)),
)


def played(table: RiichiSitting, how: str, seat: Seat, other: Seat, han: int) -> None:
    """Play one hand so, and go on."""
    if how == "ron" and seat != other:
        table.ron(seat, other, han)
    elif how == "tsumo":
        table.declare(seat)
        table.tell("tsumo", wins={seat: fu30(han)})
    elif how == "chombo":
        table.tell("chombo", offenders=[seat])
        table.close_window()
    elif how == "minor_fault":
        table.tell("minor_fault", offenders=[seat])
        return
    else:
        table.drawn(*{seat, other})
    table.record()
    if not table.session.state.over:
        table.next_deal()


@COSTLY
@given(st.lists(hands, min_size=1, max_size=4))
def test_what_is_told_is_what_the_rules_reckon_and_replaying_the_events_gives_the_same_table(
    steps: list[tuple[str, Seat, Seat, int]],
) -> None:
    table = RiichiSitting()
    table.begin()
    for step in steps:
        if table.table.phase is Phase.PLAYING:
            played(table, *step)
    state = begin(table.session.profile)
    for fact in table.facts:
        if isinstance(fact, RiichiHand):
            settled = apply(state, event_of(fact.event), table.session.profile)
            assert tuple(fact.deltas.values()) == settled.deltas
            state = settled.state
    assert state == table.session.state
    again = Table()
    for event in table.events:
        again, _ = handle(again, event)
    assert again == table.table
