"""Edges on the box: from the interrupts' ring to the store none is lost silently."""

from hypothesis import given
from hypothesis import strategies as st

from firmware.box.codec import LOST, FrameSplitter
from firmware.pico import edges
from firmware.pico.edges import Store
from firmware.sim.pico import SimulatedPico

EAST, WEST = 0, 2


@given(st.lists(st.one_of(st.tuples(st.integers(0, 3), st.integers(0, 1)), st.integers(0, 400)), max_size=60))
def test_the_oldest_edges_are_stored_in_order(steps: list[tuple[int, int] | int]) -> None:
    """A step adds an edge, or acknowledges all before a number."""
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


def test_a_full_store_ends_with_a_lost_entry() -> None:
    box = Store(0)
    for us in range(edges.STORE_SIZE + 50):
        box.add(EAST, us % 2, us)
    assert box.next == edges.STORE_SIZE
    assert box.get(edges.STORE_SIZE - 2) == (EAST, 0, edges.STORE_SIZE - 2)
    assert box.get(edges.STORE_SIZE - 1) == (LOST, 0, edges.STORE_SIZE - 1)


def test_edges_are_stored_again_after_lost_ones_were_acknowledged() -> None:
    box = Store(0)
    for us in range(edges.STORE_SIZE + 50):
        box.add(EAST, us % 2, us)
    box.forget(edges.STORE_SIZE)
    box.add(WEST, 1, 1000)
    assert box.get(edges.STORE_SIZE) == (WEST, 1, 1000)


def test_closed_contacts_are_known_after_their_edges_were_dropped() -> None:
    box = Store(0b0001)
    for seat, closed in ((EAST, 0), (WEST, 1), (EAST, 1)):
        box.add(seat, closed, 0)
    known = [box.closed]
    for number in (1, 2, 3):
        box.forget(number)
        known.append(box.closed)
    assert known == [0b0001, 0b0000, 0b0100, 0b0101]


def test_after_lost_edges_no_contact_counts_as_closed() -> None:
    box = Store(0b1111)
    box.add(LOST, 0, 0)
    box.forget(1)
    assert box.closed == 0


def test_an_overflow_of_the_ring_is_reported_as_lost_edges() -> None:
    box = SimulatedPico(lambda: 0, 1)
    for at in range(edges.RING_SIZE + 10):
        box.touch(EAST, 1 - at % 2)
    said = b"".join(box.turn() for _ in range(40))
    seats = [numbers[2] for kind, numbers in FrameSplitter().feed(said) if kind == "E"]
    assert seats == [EAST] * (edges.RING_SIZE - 1) + [LOST]


def test_edges_wait_until_the_cable_has_room() -> None:
    box = SimulatedPico(lambda: 0, 1)
    box.full = True
    box.touch(EAST, 1)
    assert box.turn() == b""
    box.full = False
    assert [kind for kind, _ in FrameSplitter().feed(box.turn())] == ["E", "B", "H"]
