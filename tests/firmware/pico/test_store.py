"""Edges on the box: none is lost silently, from the interrupt's ring to the store."""

from hypothesis import given
from hypothesis import strategies as st

from firmware.box.codec import LOST, FrameSplitter
from firmware.pico import edges
from firmware.pico.edges import Store
from firmware.sim.pico import SimulatedPico

EAST, WEST = 0, 2


@given(st.lists(st.one_of(st.tuples(st.integers(0, 3), st.integers(0, 1)), st.integers(0, 400)), max_size=60))
def test_what_is_kept_are_the_oldest_edges_in_their_order(steps: list[tuple[int, int] | int]) -> None:
    """An edge is added, or the table has everything before a number."""
    kept, first, box = list[tuple[int, int, int]](), 0, Store(0)
    for us, step in enumerate(steps):
        if isinstance(step, tuple):
            box.add(*step, us)
            kept.append((*step, us))
        elif first < step <= first + len(kept):
            box.forget(step)
            kept, first = kept[step - first :], step
        else:
            box.forget(step)
        assert (box.first, box.next) == (first, first + len(kept))
        assert [box.get(number) for number in range(box.first, box.next)] == kept


def test_where_there_is_no_more_room_the_last_edge_says_that_others_were_lost() -> None:
    box = Store(0)
    for us in range(edges.STORE_SIZE + 50):
        box.add(EAST, us % 2, us)
    assert box.next == edges.STORE_SIZE
    assert box.get(edges.STORE_SIZE - 2) == (EAST, 0, edges.STORE_SIZE - 2)
    assert box.get(edges.STORE_SIZE - 1) == (LOST, 0, edges.STORE_SIZE - 1)


def test_edges_go_on_after_the_lost_ones_when_there_is_room_again() -> None:
    box = Store(0)
    for us in range(edges.STORE_SIZE + 50):
        box.add(EAST, us % 2, us)
    box.forget(edges.STORE_SIZE)
    box.add(WEST, 1, 1000)
    assert box.get(edges.STORE_SIZE) == (WEST, 1, 1000)


def test_contacts_that_were_closed_are_known_when_their_edges_are_gone() -> None:
    box = Store(0b0001)
    for seat, closed in ((EAST, 0), (WEST, 1), (EAST, 1)):
        box.add(seat, closed, 0)
    known = [box.closed]
    for number in (1, 2, 3):
        box.forget(number)
        known.append(box.closed)
    assert known == [0b0001, 0b0000, 0b0100, 0b0101]


def test_after_lost_edges_no_contact_is_taken_to_be_closed() -> None:
    box = Store(0b1111)
    box.add(LOST, 0, 0)
    box.forget(1)
    assert box.closed == 0


def test_more_edges_in_one_turn_than_the_ring_has_room_for_are_told_to_be_lost() -> None:
    box = SimulatedPico(lambda: 0, 1)
    for at in range(edges.RING_SIZE + 10):
        box.touch(EAST, 1 - at % 2)
    said = b"".join(box.turn() for _ in range(40))
    seats = [numbers[2] for kind, numbers in FrameSplitter().feed(said) if kind == "E"]
    assert seats == [EAST] * (edges.RING_SIZE - 1) + [LOST]


def test_edges_for_which_the_cable_has_no_room_are_said_when_it_has() -> None:
    box = SimulatedPico(lambda: 0, 1)
    box.full = True
    box.touch(EAST, 1)
    assert box.turn() == b""
    box.full = False
    assert [kind for kind, _ in FrameSplitter().feed(box.turn())] == ["E", "B", "H"]
