"""The self-test: each seat in turn must press its own button in time; anything else causes a remark."""

from hypothesis import given
from hypothesis import strategies as st

from firmware.hardware.self_test import Remark, SelfTest
from firmware.presses import MS
from firmware.reports import SEATS, Health, Held, Pressed, Released, Report, Seat, TooShort

S = 1000 * MS
WAIT = 30 * S


def said(remarks: list[Remark]) -> list[tuple[Seat, str]]:
    return [(remark.seat, remark.said) for remark in remarks]


def begun() -> SelfTest:
    test = SelfTest(WAIT)
    assert said(test.begin(0)) == [("east", "asked")]
    return test


def test_a_seat_passes_when_it_presses_and_the_next_is_asked() -> None:
    test, remarks = begun(), list[Remark]()
    for at, seat in enumerate(SEATS, 1):
        remarks += test.take(Pressed(seat, at * S), at * S)
    assert said(remarks) == [
        *(("east", "right"), ("south", "asked"), ("south", "right"), ("west", "asked")),
        *(("west", "right"), ("north", "asked"), ("north", "right")),
    ]
    assert (test.asked, test.passed_seats, test.passed) == (None, [*SEATS], True)


def test_a_press_at_another_seat_is_reported_and_the_seat_can_still_pass() -> None:
    test = begun()
    (wrong,) = test.take(Pressed("south", S), S)
    text = "east was asked, but south's button was pressed: wrong player, or plugs swapped?"
    assert wrong == Remark("east", "wrong_seat", text, other="south")
    assert said(test.take(Pressed("east", 2 * S), 2 * S))[0] == ("east", "right")


def test_a_short_pulse_is_reported_with_its_length() -> None:
    (short,) = begun().take(TooShort("east", S, 1_234_567), S)
    assert short.text.startswith("east: 1.2 ms is too short for a finger")


def test_remarks_contain_their_values_for_translation() -> None:
    test = begun()
    remarks = [
        *test.take(Pressed("west", S), S),
        *test.take(TooShort("north", S, 1_240_000), S),
        *test.take(Health("contact-south", "button_shorted", "both are closed"), S),
        *test.take(Health("buttons", "device_unplugged", "gone"), S),
        *test.take(Health("buttons", None), S),
    ]
    assert [(one.said, one.other, one.code, one.ms) for one in remarks] == [
        ("wrong_seat", "west", None, None),
        ("too_short", "north", None, 1.2),
        ("ill", "south", "button_shorted", None),
        ("ill", "buttons", "device_unplugged", None),
        ("well", "buttons", None, None),
    ]


def test_a_seat_that_does_not_press_in_time_fails() -> None:
    test = begun()
    assert test.pass_time(WAIT - 1) == []
    assert said(test.pass_time(WAIT)) == [("east", "timed_out"), ("south", "asked")]
    for seat in SEATS[1:]:
        test.take(Pressed(seat, WAIT + S), WAIT + S)
    assert (test.asked, test.passed_seats, test.passed) == (None, [*SEATS[1:]], False)
    assert test.pass_time(100 * WAIT) == []


def test_a_press_before_the_request_does_not_count() -> None:
    test = begun()
    test.take(Pressed("east", 5 * S), 6 * S)
    assert test.take(Pressed("south", 5 * S), 7 * S) == []
    assert test.asked == "south"


def test_a_faulty_button_fails_the_test_unless_the_fault_clears() -> None:
    test = begun()
    (ill,) = test.take(Health("button-west", "button_stuck", "it was closed at the start"), S)
    text = "west: button_stuck: it was closed at the start"
    assert ill == Remark("east", "ill", text, other="west", code="button_stuck")
    for seat in SEATS:
        test.take(Pressed(seat, 2 * S), 2 * S)
    assert (test.passed_seats, test.passed) == ([*SEATS], False)
    test.take(Health("button-west", None), 3 * S)
    assert test.passed


def test_only_a_faulty_part_can_recover() -> None:
    test = begun()
    assert test.take(Health("buttons", None), S) == []
    test.take(Health("buttons", "device_unplugged", "gone"), S)
    assert said(test.take(Health("buttons", None), S)) == [("east", "well")]


reports = st.one_of(
    st.builds(Pressed, st.sampled_from(SEATS), st.integers(0, 200 * S)),
    st.builds(Released, st.sampled_from(SEATS), st.integers(0, 200 * S)),
    st.builds(Held, st.sampled_from(SEATS), st.integers(0, 200 * S)),
    st.builds(Health, st.sampled_from(["button-east", "buttons"]), st.sampled_from([None, "button_stuck"])),
    st.builds(TooShort, st.sampled_from(SEATS), st.integers(0, 200 * S), st.integers(0, 3 * MS)),
)


@given(st.lists(st.tuples(st.integers(0, 20 * S), reports), max_size=30))
def test_the_test_always_ends_in_time(steps: list[tuple[int, Report | TooShort]]) -> None:
    test, now = begun(), 0
    for after, told in steps:
        now += after
        test.pass_time(now)
        test.take(told, now)
    for _ in SEATS:
        now = max(now, test.due or 0)
        test.pass_time(now)
    assert test.asked is None
    assert test.passed_seats == [seat for seat in SEATS if seat in test.passed_seats]
