"""The laws of a contact: one press is one report at its first edge, whatever else the contact does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.contact import MS, Limits, Outcome, TooShort
from firmware.presses import Presses
from firmware.reports import Health, Held, Pressed, Released
from tests.firmware.waves import LIMITS, Wave, flat, noises, of, pause, play, pressed, presses, wave

S = 1000 * MS
EAST_STUCK = Health("button-east", "button_stuck", "closed for 30 s")
EAST_WELL = Health("button-east", None)


def east(*edges: tuple[int, bool]) -> list[Outcome]:
    return play({"east": [*edges]})


@given(presses(), st.integers(0, 10**15), st.lists(st.integers(0, 5 * 10**9), max_size=5))
def test_however_a_contact_bounces_one_press_is_one_at_its_first_edge(
    press: list[int], start: int, ticks: list[int]
) -> None:
    bounced = play({"east": wave(start, [(press, S)])}, [start + tick for tick in ticks])
    assert pressed(bounced) == [("east", start)]


@given(noises(), st.integers(0, 10**15))
def test_pulses_that_are_each_shorter_than_a_fingers_are_never_a_press(noise: list[int], start: int) -> None:
    outcomes = play({"east": wave(start, [(noise, S)])})
    assert {type(one) for one in outcomes} == {TooShort}


@given(st.lists(st.tuples(presses(), pause), max_size=4), st.lists(st.integers(0, 20 * S), max_size=8))
def test_what_is_told_does_not_depend_on_how_often_the_time_is_told(
    bursts: list[tuple[list[int], int]], ticks: list[int]
) -> None:
    whole = wave(0, bursts)
    assert play({"east": whole}, ticks) == play({"east": whole})


@given(st.lists(st.tuples(st.one_of(presses(), noises()), pause), max_size=5))
def test_presses_and_releases_of_a_seat_alternate_and_their_times_never_go_back(
    bursts: list[tuple[list[int], int]],
) -> None:
    told = [one for one in play({"east": wave(0, bursts)}) if isinstance(one, Pressed | Released)]
    assert [type(one) for one in told] == [Pressed, Released] * (len(told) // 2)
    assert [one.at for one in told] == sorted(one.at for one in told)


def solid_closings(durations: list[int]) -> int:
    """Count the presses of a waveform in another way: solid closings between which it was open for long enough."""
    count, is_open = 0, True
    for index, lasted in enumerate(durations):
        if index % 2:
            is_open = is_open or lasted >= LIMITS.release_ns
        elif lasted >= LIMITS.finger_ns:
            count, is_open = count + is_open, False
    return count


lasting = st.integers(1, 60 * MS)


@given(st.lists(st.tuples(lasting, lasting), max_size=30), lasting, st.lists(st.integers(0, S), max_size=5))
def test_every_waveform_has_as_many_presses_as_solid_closings(
    pairs: list[tuple[int, int]], last: int, ticks: list[int]
) -> None:
    durations = [*flat(pairs), last]
    outcomes = play({"east": wave(0, [(durations, S)])}, ticks)
    assert len(pressed(outcomes)) == solid_closings(durations)


def test_a_press_is_told_when_it_has_lasted_as_long_as_a_fingers_and_not_before() -> None:
    machine = Presses()
    assert machine.edge("east", closed=True, at=100) == []
    assert machine.due() == 100 + LIMITS.finger_ns
    assert machine.pass_time(99 + LIMITS.finger_ns) == []
    assert machine.pass_time(100 + LIMITS.finger_ns) == [Pressed("east", 100)]


def test_a_bounce_begins_the_wait_anew_and_keeps_the_first_edge() -> None:
    machine = Presses()
    for at, closed in [(0, True), (MS, False), (2 * MS, True)]:
        assert machine.edge("east", closed=closed, at=at) == []
    assert machine.pass_time(5 * MS - 1) == []
    assert machine.pass_time(5 * MS) == [Pressed("east", 0)]


def test_a_pulse_too_short_is_told_with_how_long_it_was() -> None:
    assert east((7 * MS, True), (9 * MS, False)) == [TooShort("east", 7 * MS, 2 * MS)]


def test_of_a_burst_the_longest_pulse_is_told() -> None:
    edges = [(0, True), (1 * MS, False), (2 * MS, True), (4 * MS, False), (5 * MS, True), (6 * MS, False)]
    assert east(*edges) == [TooShort("east", 0, 2 * MS)]


def test_a_spark_well_before_a_press_does_not_lend_it_its_time() -> None:
    spark, press = [(0, True), (MS, False)], [(MS + LIMITS.bounce_ns, True), (S, False)]
    assert pressed(east(*spark, *press)) == [("east", MS + LIMITS.bounce_ns)]


def test_a_contact_that_chatters_for_too_long_begins_anew() -> None:
    chatter = [(at * MS, at % 2 == 0) for at in range(32)]
    edges: Wave = [*chatter, (33 * MS, True), (S, False)]
    assert east(*edges)[:2] == [TooShort("east", 0, MS), Pressed("east", 33 * MS)]


def test_letting_go_is_told_with_the_first_edge_of_the_opening() -> None:
    opening = [(500 * MS, False), (501 * MS, True), (502 * MS, False)]
    assert east((0, True), *opening) == [Pressed("east", 0), Released("east", 500 * MS)]


def test_a_contact_that_opens_for_a_moment_under_a_finger_stays_one_press() -> None:
    slip = [(500 * MS, False), (539 * MS, True)]
    assert east((0, True), *slip, (900 * MS, False)) == [Pressed("east", 0), Released("east", 900 * MS)]


def test_a_contact_that_closes_again_for_as_long_as_under_a_finger_was_not_let_go_before() -> None:
    edges = [(500 * MS, False), (501 * MS, True), (501 * MS + LIMITS.finger_ns, False)]
    assert east((0, True), *edges) == [Pressed("east", 0), Released("east", 501 * MS + LIMITS.finger_ns)]


def test_who_has_let_go_for_long_enough_presses_again() -> None:
    edges = [(0, True), (60 * MS, False), (100 * MS, True), (160 * MS, False)]
    assert east(*edges) == [
        *(Pressed("east", 0), Released("east", 60 * MS)),
        *(Pressed("east", 100 * MS), Released("east", 160 * MS)),
    ]


@pytest.mark.parametrize(("held", "told"), [(2 * S - 1, []), (2 * S, [Held("east", 0)])])
def test_who_holds_for_two_seconds_calls_the_arbiter(held: int, told: list[Outcome]) -> None:
    assert east((0, True), (held, False)) == [Pressed("east", 0), *told, Released("east", held)]


def test_a_long_press_is_told_while_it_lasts_and_once() -> None:
    machine = Presses()
    machine.edge("east", closed=True, at=0)
    machine.pass_time(S)
    assert machine.due() == 2 * S
    assert [machine.pass_time(at) for at in (2 * S - 1, 2 * S, 3 * S)] == [[], [Held("east", 0)], []]


def test_a_button_that_stays_closed_is_stuck_and_well_when_it_opens() -> None:
    assert east((0, True), (31 * S, False)) == [
        *(Pressed("east", 0), Held("east", 0), EAST_STUCK),
        *(Released("east", 31 * S), EAST_WELL),
    ]


def test_a_button_that_is_closed_at_the_start_is_stuck_and_no_press() -> None:
    machine = Presses()
    stuck = Health("button-east", "button_stuck", "it was closed at the start")
    assert machine.begin({"east": True, "south": False}) == [stuck]
    assert (machine.due(), machine.pass_time(100 * S)) == (None, [])
    machine.edge("east", closed=False, at=200 * S)
    assert machine.pass_time(201 * S) == [EAST_WELL]
    machine.edge("east", closed=True, at=202 * S)
    assert machine.pass_time(203 * S) == [Pressed("east", 202 * S)]


def test_an_edge_to_where_the_contact_is_changes_nothing() -> None:
    machine = Presses()
    assert machine.edge("east", closed=False, at=0) == []
    assert machine.due() is None
    machine.edge("east", closed=True, at=0)
    machine.edge("east", closed=True, at=2 * MS)
    assert machine.pass_time(3 * MS) == [Pressed("east", 0)]


def test_a_released_seat_waits_for_nothing() -> None:
    machine = Presses()
    machine.edge("east", closed=True, at=0)
    machine.edge("east", closed=False, at=60 * MS)
    assert machine.due() == 100 * MS
    machine.pass_time(100 * MS)
    assert machine.due() is None


def test_other_limits_are_taken() -> None:
    machine = Presses(Limits(finger_ns=1, held_ns=5))
    machine.edge("east", closed=True, at=0)
    assert machine.pass_time(5) == [Pressed("east", 0), Held("east", 0)]


def test_nothing_of_one_seat_is_told_of_another() -> None:
    outcomes = play({"east": [(0, True), (60 * MS, False)], "west": [(0, True), (3 * S, False)]})
    assert of("east", outcomes) == east((0, True), (60 * MS, False))
