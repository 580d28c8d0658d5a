"""Presses from edges, changeover contacts, and chatter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.presses import (
    CHANGEOVER_FAULT_NS,
    CHATTER_PULSES,
    CHATTER_QUIET_NS,
    CHATTER_WITHIN_NS,
    MS,
    Changeover,
    Chatter,
    ContactLimits,
    ContactOutcome,
    Presses,
)
from firmware.reports import SEATS, Health, Held, Pressed, Released, Seat, TooShort
from tests.firmware.waves import LIMITS, Wave, flat, noises, of, pause, play, pressed, presses, wave

S = 1000 * MS
EAST_STUCK = Health("button-east", "button_stuck", "closed for 30 s")
EAST_WELL = Health("button-east", None)


def east(*edges: tuple[int, bool]) -> list[ContactOutcome]:
    return play({"east": [*edges]})


@given(presses(), st.integers(0, 10**15), st.lists(st.integers(0, 5 * 10**9), max_size=5))
def test_a_bouncing_press_is_one_press_at_its_first_edge(press: list[int], start: int, ticks: list[int]) -> None:
    bounced = play({"east": wave(start, [(press, S)])}, [start + tick for tick in ticks])
    assert pressed(bounced) == [("east", start)]


@given(noises(), st.integers(0, 10**15))
def test_pulses_shorter_than_a_fingers_are_never_a_press(noise: list[int], start: int) -> None:
    outcomes = play({"east": wave(start, [(noise, S)])})
    assert {type(one) for one in outcomes} == {TooShort}


@given(st.lists(st.tuples(presses(), pause), max_size=4), st.lists(st.integers(0, 20 * S), max_size=8))
def test_outcomes_do_not_depend_on_how_often_time_passes(bursts: list[tuple[list[int], int]], ticks: list[int]) -> None:
    whole = wave(0, bursts)
    assert play({"east": whole}, ticks) == play({"east": whole})


@given(st.lists(st.tuples(st.one_of(presses(), noises()), pause), max_size=5))
def test_presses_and_releases_of_a_seat_alternate_in_order_of_time(bursts: list[tuple[list[int], int]]) -> None:
    told = [one for one in play({"east": wave(0, bursts)}) if isinstance(one, Pressed | Released)]
    assert [type(one) for one in told] == [Pressed, Released] * (len(told) // 2)
    assert [one.at for one in told] == sorted(one.at for one in told)


def solid_closings(durations: list[int]) -> int:
    """Count a waveform's presses independently: solid closings separated by long enough openings."""
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


def test_a_press_is_reported_once_it_has_lasted_long_enough() -> None:
    machine = Presses()
    assert machine.edge("east", closed=True, at=100) == []
    assert machine.due() == 100 + LIMITS.finger_ns
    assert machine.pass_time(99 + LIMITS.finger_ns) == []
    assert machine.pass_time(100 + LIMITS.finger_ns) == [Pressed("east", 100)]


def test_a_bounce_restarts_the_wait_and_keeps_the_first_edge() -> None:
    machine = Presses()
    for at, closed in [(0, True), (MS, False), (2 * MS, True)]:
        assert machine.edge("east", closed=closed, at=at) == []
    assert machine.pass_time(5 * MS - 1) == []
    assert machine.pass_time(5 * MS) == [Pressed("east", 0)]


def test_a_short_pulse_is_reported_with_its_length() -> None:
    assert east((7 * MS, True), (9 * MS, False)) == [TooShort("east", 7 * MS, 2 * MS)]


def test_a_burst_is_reported_with_its_longest_pulse() -> None:
    edges = [(0, True), (1 * MS, False), (2 * MS, True), (4 * MS, False), (5 * MS, True), (6 * MS, False)]
    assert east(*edges) == [TooShort("east", 0, 2 * MS)]


def test_a_spark_before_a_press_does_not_change_its_time() -> None:
    spark, press = [(0, True), (MS, False)], [(MS + LIMITS.bounce_ns, True), (S, False)]
    assert pressed(east(*spark, *press)) == [("east", MS + LIMITS.bounce_ns)]


def test_a_contact_that_chatters_for_too_long_starts_over() -> None:
    chatter = [(at * MS, at % 2 == 0) for at in range(32)]
    edges: Wave = [*chatter, (33 * MS, True), (S, False)]
    assert east(*edges)[:2] == [TooShort("east", 0, MS), Pressed("east", 33 * MS)]


def test_a_release_has_the_time_of_its_first_edge() -> None:
    opening = [(500 * MS, False), (501 * MS, True), (502 * MS, False)]
    assert east((0, True), *opening) == [Pressed("east", 0), Released("east", 500 * MS)]


def test_a_brief_opening_during_a_press_does_not_end_it() -> None:
    slip = [(500 * MS, False), (539 * MS, True)]
    assert east((0, True), *slip, (900 * MS, False)) == [Pressed("east", 0), Released("east", 900 * MS)]


def test_closing_again_for_long_enough_continues_the_press() -> None:
    edges = [(500 * MS, False), (501 * MS, True), (501 * MS + LIMITS.finger_ns, False)]
    assert east((0, True), *edges) == [Pressed("east", 0), Released("east", 501 * MS + LIMITS.finger_ns)]


def test_after_a_long_enough_release_the_next_closing_is_a_new_press() -> None:
    edges = [(0, True), (60 * MS, False), (100 * MS, True), (160 * MS, False)]
    assert east(*edges) == [
        *(Pressed("east", 0), Released("east", 60 * MS)),
        *(Pressed("east", 100 * MS), Released("east", 160 * MS)),
    ]


@pytest.mark.parametrize(("held", "told"), [(2 * S - 1, []), (2 * S, [Held("east", 0)])])
def test_holding_for_two_seconds_calls_the_arbiter(held: int, told: list[ContactOutcome]) -> None:
    assert east((0, True), (held, False)) == [Pressed("east", 0), *told, Released("east", held)]


def test_a_long_press_is_reported_once_while_it_lasts() -> None:
    machine = Presses()
    machine.edge("east", closed=True, at=0)
    machine.pass_time(S)
    assert machine.due() == 2 * S
    assert [machine.pass_time(at) for at in (2 * S - 1, 2 * S, 3 * S)] == [[], [Held("east", 0)], []]


def test_a_button_that_stays_closed_is_stuck_until_it_opens() -> None:
    assert east((0, True), (31 * S, False)) == [
        *(Pressed("east", 0), Held("east", 0), EAST_STUCK),
        *(Released("east", 31 * S), EAST_WELL),
    ]


def test_a_button_closed_at_the_start_is_stuck_but_not_pressed() -> None:
    machine = Presses()
    stuck = Health("button-east", "button_stuck", "it was closed at the start")
    assert machine.begin({"east": True, "south": False}) == [stuck]
    assert (machine.due(), machine.pass_time(100 * S)) == (None, [])
    machine.edge("east", closed=False, at=200 * S)
    assert machine.pass_time(201 * S) == [EAST_WELL]
    machine.edge("east", closed=True, at=202 * S)
    assert machine.pass_time(203 * S) == [Pressed("east", 202 * S)]


def test_an_edge_without_a_change_is_ignored() -> None:
    machine = Presses()
    assert machine.edge("east", closed=False, at=0) == []
    assert machine.due() is None
    machine.edge("east", closed=True, at=0)
    machine.edge("east", closed=True, at=2 * MS)
    assert machine.pass_time(3 * MS) == [Pressed("east", 0)]


def test_nothing_is_due_after_a_release() -> None:
    machine = Presses()
    machine.edge("east", closed=True, at=0)
    machine.edge("east", closed=False, at=60 * MS)
    assert machine.due() == 100 * MS
    machine.pass_time(100 * MS)
    assert machine.due() is None


def test_limits_can_be_configured() -> None:
    machine = Presses(ContactLimits(finger_ns=1, held_ns=5))
    machine.edge("east", closed=True, at=0)
    assert machine.pass_time(5) == [Pressed("east", 0), Held("east", 0)]


def test_seats_do_not_affect_each_other() -> None:
    outcomes = play({"east": [(0, True), (60 * MS, False)], "west": [(0, True), (3 * S, False)]})
    assert of("east", outcomes) == east((0, True), (60 * MS, False))


bursts = st.lists(st.tuples(st.one_of(presses(), noises()), pause), max_size=3)
waves = st.fixed_dictionaries({seat: st.builds(wave, st.integers(0, 100 * MS), bursts) for seat in SEATS})
ticks = st.lists(st.integers(0, 20_000 * MS), max_size=8)


@given(waves, ticks)
def test_presses_are_reported_in_the_order_of_their_first_edges(wired: dict[Seat, Wave], when: list[int]) -> None:
    told = [at for _, at in pressed(play(wired, when))]
    assert told == sorted(told)


@given(waves, ticks)
def test_a_seat_gives_the_same_outcomes_alone_and_together(wired: dict[Seat, Wave], when: list[int]) -> None:
    together = play(wired, when)
    assert {seat: of(seat, together) for seat in SEATS} == {seat: play({seat: wired[seat]}) for seat in SEATS}


@given(st.permutations(SEATS), st.lists(presses(), min_size=4, max_size=4), st.integers(1, 5 * MS))
def test_a_press_earlier_by_a_nanosecond_is_first(order: list[Seat], fingers: list[list[int]], apart: int) -> None:
    wired = {
        seat: wave(rank * apart, [(finger, 5000 * MS)])
        for rank, (seat, finger) in enumerate(zip(order, fingers, strict=True))
    }
    assert pressed(play(wired)) == [(seat, rank * apart) for rank, seat in enumerate(order)]


def test_a_press_waits_for_an_earlier_undecided_edge() -> None:
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


def test_a_press_that_waited_is_reported_once_the_spark_is_recognised() -> None:
    machine = Presses()
    machine.edge("east", closed=True, at=0)
    machine.edge("south", closed=True, at=1)
    machine.edge("east", closed=False, at=2 * MS)
    assert machine.pass_time(11 * MS) == []
    assert machine.pass_time(12 * MS) == [TooShort("east", 0, 2 * MS), Pressed("south", 1)]


def test_no_press_waits_forever_for_a_chattering_contact() -> None:
    """East chatters endlessly, starting shortly before south presses."""
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


def test_edges_of_different_seats_in_the_wrong_order_keep_their_times() -> None:
    machine = Presses()
    machine.edge("south", closed=True, at=1 * MS)
    machine.edge("east", closed=True, at=0)
    assert machine.pass_time(4 * MS) == [Pressed("east", 0), Pressed("south", 1 * MS)]


def test_is_closed_follows_the_edges() -> None:
    machine = Presses()
    seen = [machine.is_closed("east")]
    for at, closed in [(0, True), (1, False), (2, True), (3000 * MS, True), (3001 * MS, False), (3002 * MS, True)]:
        machine.edge("east", closed=closed, at=at)
        seen.append(machine.is_closed("east"))
    assert seen == [False, True, False, True, True, False, True]


OFF = Health("button-east", "button_disconnected", "both contacts are open")
TOUCH = Health("button-east", "button_shorted", "both contacts are closed")
CONTACTS_WELL = Health("button-east", None)


def at_rest() -> Changeover:
    return Changeover("east", closes=False, opens=True, since=0)


def test_nothing_is_due_at_rest_or_while_pressed() -> None:
    button = at_rest()
    assert button.due() is None
    assert button.edge(opens=False, at=5) == []
    assert button.due() == 5 + CHANGEOVER_FAULT_NS
    assert button.edge(closes=True, at=10) == []
    assert button.due() is None


def test_two_open_contacts_are_reported_once_as_an_unplugged_cable() -> None:
    button = at_rest()
    button.edge(opens=False, at=5)
    assert button.pass_time(4 + CHANGEOVER_FAULT_NS) == []
    assert button.pass_time(5 + CHANGEOVER_FAULT_NS) == [OFF]
    assert (button.pass_time(9 * CHANGEOVER_FAULT_NS), button.due()) == ([], None)
    assert button.edge(opens=True, at=10 * CHANGEOVER_FAULT_NS) == [CONTACTS_WELL]


def test_two_closed_contacts_are_reported_as_a_short_circuit() -> None:
    button = at_rest()
    assert [*button.edge(closes=True, at=5), *button.pass_time(5 + CHANGEOVER_FAULT_NS)] == [TOUCH]


def test_a_late_edge_first_reports_what_was_due() -> None:
    button = at_rest()
    button.edge(opens=False, at=0)
    assert button.edge(opens=True, at=2 * CHANGEOVER_FAULT_NS) == [OFF, CONTACTS_WELL]


@given(st.lists(st.tuples(st.integers(1, 3 * CHANGEOVER_FAULT_NS), st.booleans(), st.booleans()), max_size=12))
def test_faults_and_recoveries_of_two_contacts_alternate(steps: list[tuple[int, bool, bool]]) -> None:
    button, told, at = at_rest(), list[Health](), 0
    for after, first, level in steps:
        at += after
        told += button.edge(closes=level, at=at) if first else button.edge(opens=level, at=at)
    told += button.pass_time(at + CHANGEOVER_FAULT_NS)
    assert [one.code is None for one in told] == [index % 2 == 1 for index in range(len(told))]
    assert bool(told and told[-1].code) == (button.closes == button.opens)


ILL = Health("contact-east", "button_chatters", "5 pulses in 10.0 s")
CONTACT_WELL = Health("contact-east", None)

APART = CHATTER_WITHIN_NS // (CHATTER_PULSES - 1)


def test_five_short_pulses_in_ten_seconds_are_chatter() -> None:
    contact = Chatter("east")
    assert [contact.pulse(at * APART) for at in range(CHATTER_PULSES)] == [[], [], [], [], [ILL]]


def test_slower_pulses_are_not_chatter() -> None:
    contact = Chatter("east")
    assert [contact.pulse(at * (APART + 1)) for at in range(50)] == [[]] * 50
    assert contact.due() is None


def test_chatter_is_reported_once_and_clears_after_a_quiet_minute() -> None:
    contact = Chatter("east")
    told = [one for at in range(50) for one in contact.pulse(at * MS)]
    assert told == [Health("contact-east", "button_chatters", "5 pulses in 0.0 s")]
    last = 49 * MS
    assert contact.due() == last + CHATTER_QUIET_NS
    assert contact.pass_time(last + CHATTER_QUIET_NS - 1) == []
    assert (contact.pass_time(last + CHATTER_QUIET_NS), contact.due()) == ([CONTACT_WELL], None)


@given(st.lists(st.tuples(st.integers(1, 2 * CHATTER_QUIET_NS), st.booleans()), max_size=40))
def test_chatter_and_recovery_alternate(steps: list[tuple[int, bool]]) -> None:
    contact, now, told = Chatter("east"), 0, list[Health]()
    for after, pulse in steps:
        now += after
        told += contact.pass_time(now)
        if pulse:
            told += contact.pulse(now)
    assert [one.code is None for one in told] == [index % 2 == 1 for index in range(len(told))]


def test_a_chattering_contact_can_still_press_and_recovers() -> None:
    machine, told = Presses(), []
    for pulse in range(CHATTER_PULSES):
        at = pulse * 100 * MS
        told += machine.edge("east", closed=True, at=at)
        told += machine.edge("east", closed=False, at=at + MS)
    told += machine.pass_time(500 * MS)
    assert told[-1] == Health("contact-east", "button_chatters", "5 pulses in 0.4 s")
    machine.edge("east", closed=True, at=1000 * MS)
    assert machine.pass_time(1003 * MS) == [Pressed("east", 1000 * MS)]
    machine.edge("east", closed=False, at=1100 * MS)
    machine.pass_time(1200 * MS)
    assert machine.due() == 400 * MS + CHATTER_QUIET_NS
    assert machine.pass_time(400 * MS + CHATTER_QUIET_NS) == [Health("contact-east", None)]
