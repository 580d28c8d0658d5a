"""The laws of four contacts together: the order of presses is the order of first edges."""

from hypothesis import given
from hypothesis import strategies as st

from firmware.contact import MS, TooShort
from firmware.presses import Presses
from firmware.reports import SEATS, Pressed, Seat
from tests.firmware.waves import LIMITS, Wave, noises, of, pause, play, pressed, presses, wave

bursts = st.lists(st.tuples(st.one_of(presses(), noises()), pause), max_size=3)
waves = st.fixed_dictionaries({seat: st.builds(wave, st.integers(0, 100 * MS), bursts) for seat in SEATS})
ticks = st.lists(st.integers(0, 20_000 * MS), max_size=8)


@given(waves, ticks)
def test_presses_are_told_in_the_order_of_their_first_edges(wired: dict[Seat, Wave], when: list[int]) -> None:
    told = [at for _, at in pressed(play(wired, when))]
    assert told == sorted(told)


@given(waves, ticks)
def test_a_seat_gives_what_it_would_give_alone(wired: dict[Seat, Wave], when: list[int]) -> None:
    together = play(wired, when)
    assert {seat: of(seat, together) for seat in SEATS} == {seat: play({seat: wired[seat]}) for seat in SEATS}


@given(st.permutations(SEATS), st.lists(presses(), min_size=4, max_size=4), st.integers(1, 5 * MS))
def test_who_was_first_by_a_nanosecond_is_first(order: list[Seat], fingers: list[list[int]], apart: int) -> None:
    wired = {
        seat: wave(rank * apart, [(finger, 5000 * MS)])
        for rank, (seat, finger) in enumerate(zip(order, fingers, strict=True))
    }
    assert pressed(play(wired)) == [(seat, rank * apart) for rank, seat in enumerate(order)]


def test_a_press_waits_for_an_earlier_edge_that_is_undecided() -> None:
    machine = Presses()
    machine.edge("east", closed=True, at=0)
    machine.edge("south", closed=True, at=1 * MS)
    machine.edge("east", closed=False, at=2 * MS)
    machine.edge("east", closed=True, at=3 * MS)
    assert machine.pass_time(5 * MS) == []
    assert machine.pass_time(6 * MS) == [Pressed("east", 0), Pressed("south", 1 * MS)]


def test_a_press_does_not_wait_for_a_later_edge() -> None:
    machine = Presses()
    machine.edge("south", closed=True, at=0)
    machine.edge("east", closed=True, at=1 * MS)
    assert machine.pass_time(3 * MS) == [Pressed("south", 0)]


def test_a_press_does_not_wait_for_an_edge_of_the_same_instant() -> None:
    machine = Presses()
    machine.edge("south", closed=True, at=0)
    machine.edge("east", closed=True, at=0)
    machine.edge("east", closed=False, at=1 * MS)
    assert machine.pass_time(3 * MS) == [Pressed("south", 0)]


def test_a_press_that_waited_for_a_spark_is_told_when_the_spark_is_known_for_one() -> None:
    machine = Presses()
    machine.edge("east", closed=True, at=0)
    machine.edge("south", closed=True, at=1)
    machine.edge("east", closed=False, at=2 * MS)
    assert machine.pass_time(11 * MS) == []
    assert machine.pass_time(12 * MS) == [TooShort("east", 0, 2 * MS), Pressed("south", 1)]


def test_no_press_waits_for_ever_for_a_contact_that_chatters() -> None:
    """East chatters without end; it has begun a moment before south presses."""
    machine, told = Presses(), []
    south = 10 * MS
    for at in range(100):
        told += machine.edge("east", closed=at % 2 == 0, at=at * MS)
        if at * MS == south:
            told += machine.edge("south", closed=True, at=south + 1)
        if pressed(told):
            break
    assert pressed(told) == [("south", south + 1)]
    assert at * MS <= LIMITS.burst_ns + LIMITS.finger_ns + LIMITS.bounce_ns


def test_edges_of_different_seats_that_come_in_the_wrong_order_keep_their_times() -> None:
    machine = Presses()
    machine.edge("south", closed=True, at=1 * MS)
    machine.edge("east", closed=True, at=0)
    assert machine.pass_time(4 * MS) == [Pressed("east", 0), Pressed("south", 1 * MS)]


def test_where_a_contact_is_follows_its_edges() -> None:
    machine = Presses()
    seen = [machine.is_closed("east")]
    for at, closed in [(0, True), (1, False), (2, True), (3000 * MS, True), (3001 * MS, False), (3002 * MS, True)]:
        machine.edge("east", closed=closed, at=at)
        seen.append(machine.is_closed("east"))
    assert seen == [False, True, False, True, True, False, True]
