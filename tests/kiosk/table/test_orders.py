"""Orders of the arbiter's desk: each is carried out once, in the desk's order, and says so."""

import pytest

from broker.contract.facts import Call
from broker.contract.messages import MOST_OBEYED, Command, Order
from kiosk.table.events import CallToggled, Ordered
from kiosk.table.orders import given
from kiosk.table.state import Phase, Table
from tests.kiosk.tables import EVENT, TABLE, Sitting, sitting_in


def ordered(sitting: Sitting, seq: int, command: Command, minutes: int = 0) -> tuple[object, ...]:
    return tuple(sitting.take(Ordered(at=sitting.wait(), seq=seq, command=command, minutes=minutes)))


@pytest.mark.parametrize("phase", Phase)
def test_a_table_is_paused_and_resumed_in_every_phase_which_it_keeps(phase: Phase) -> None:
    sitting = sitting_in(phase)
    before = sitting.table
    ordered(sitting, 7, "pause")
    assert (sitting.table.phase, sitting.table.paused, sitting.table.ordered) == (phase, True, 7)
    ordered(sitting, 8, "resume")
    assert (sitting.table.phase, sitting.table.paused, sitting.table.play) == (phase, False, before.play)


def test_a_cleared_call_is_told_as_a_fact() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(CallToggled(at=sitting.wait(), open=True))
    assert ordered(sitting, 1, "clear_call") == (Call(round=1, deal=1, open=False),)
    assert sitting.table.calling is False


def test_an_order_that_comes_twice_or_after_a_later_one_is_not_obeyed() -> None:
    sitting = sitting_in(Phase.PLAYING)
    ordered(sitting, 5, "clear_call")
    sitting.take(CallToggled(at=sitting.wait(), open=True))
    ordered(sitting, 5, "clear_call")
    ordered(sitting, 4, "pause")
    assert (sitting.table.calling, sitting.table.paused) == (True, False)


def test_a_table_remembers_the_last_orders_by_number_and_id_also_in_the_next_play() -> None:
    sitting = sitting_in(Phase.RECORDED)
    for seq in range(1, MOST_OBEYED + 3):
        order = Order(
            id=f"order-{seq:04}", event=EVENT, table=TABLE, seq=seq, command="extra_time", minutes=1, author="Anne"
        )
        sitting.take(given(order, sitting.wait()))
    last = tuple((seq, f"order-{seq:04}") for seq in range(3, MOST_OBEYED + 3))
    sitting.next_deal()
    assert sitting.table.obeyed == last


def test_an_order_of_an_older_journal_is_known_by_its_number_alone() -> None:
    sitting = sitting_in(Phase.PLAYING)
    ordered(sitting, 5, "pause")
    assert (sitting.table.ordered, sitting.table.obeyed) == (5, ())


def test_without_a_play_there_is_no_call_to_clear() -> None:
    sitting = sitting_in(Phase.FINISHED)
    assert ordered(sitting, 1, "clear_call") == ()
    assert sitting.table.ordered == 1


def test_extra_time_adds_up_and_is_of_one_play() -> None:
    sitting = sitting_in(Phase.RECORDED)
    ordered(sitting, 1, "extra_time", 5)
    ordered(sitting, 2, "extra_time", 3)
    assert sitting.table.extra_min == 8
    ordered(sitting, 3, "pause")
    sitting.next_deal()
    assert (sitting.table.extra_min, sitting.table.paused, sitting.table.ordered) == (0, True, 3)


def test_a_table_begins_without_any_order() -> None:
    assert (Table().paused, Table().extra_min, Table().ordered) == (False, 0, 0)
