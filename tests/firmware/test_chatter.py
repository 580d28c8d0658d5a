"""A contact that chatters is said to; one spark, or one now and then, is nothing."""

from hypothesis import given
from hypothesis import strategies as st

from firmware.chatter import MANY, QUIET_NS, WITHIN_NS, Chatter
from firmware.contact import MS
from firmware.presses import Presses
from firmware.reports import Health, Pressed

ILL = Health("contact-east", "button_chatters", "5 pulses in 10.0 s")
WELL = Health("contact-east", None)

APART = WITHIN_NS // (MANY - 1)


def test_five_short_pulses_in_ten_seconds_are_a_contact_that_chatters() -> None:
    contact = Chatter("east")
    assert [contact.pulse(at * APART) for at in range(MANY)] == [[], [], [], [], [ILL]]


def test_pulses_that_come_more_slowly_are_nothing() -> None:
    contact = Chatter("east")
    assert [contact.pulse(at * (APART + 1)) for at in range(50)] == [[]] * 50
    assert contact.due() is None


def test_it_is_told_once_and_well_again_a_minute_after_the_last_pulse() -> None:
    contact = Chatter("east")
    told = [one for at in range(50) for one in contact.pulse(at * MS)]
    assert told == [Health("contact-east", "button_chatters", "5 pulses in 0.0 s")]
    last = 49 * MS
    assert contact.due() == last + QUIET_NS
    assert contact.pass_time(last + QUIET_NS - 1) == []
    assert (contact.pass_time(last + QUIET_NS), contact.due()) == ([WELL], None)


@given(st.lists(st.tuples(st.integers(1, 2 * QUIET_NS), st.booleans()), max_size=40))
def test_ill_and_well_are_told_by_turns(steps: list[tuple[int, bool]]) -> None:
    contact, now, told = Chatter("east"), 0, list[Health]()
    for after, pulse in steps:
        now += after
        told += contact.pass_time(now)
        if pulse:
            told += contact.pulse(now)
    assert [one.code is None for one in told] == [index % 2 == 1 for index in range(len(told))]


def test_a_contact_that_chatters_can_still_press_and_is_well_when_it_has_been_quiet() -> None:
    machine, told = Presses(), []
    for pulse in range(MANY):
        at = pulse * 100 * MS
        told += machine.edge("east", closed=True, at=at)
        told += machine.edge("east", closed=False, at=at + MS)
    told += machine.pass_time(500 * MS)
    assert told[-1] == Health("contact-east", "button_chatters", "5 pulses in 0.4 s")
    machine.edge("east", closed=True, at=1000 * MS)
    assert machine.pass_time(1003 * MS) == [Pressed("east", 1000 * MS)]
    machine.edge("east", closed=False, at=1100 * MS)
    machine.pass_time(1200 * MS)
    assert machine.due() == 400 * MS + QUIET_NS
    assert machine.pass_time(400 * MS + QUIET_NS) == [Health("contact-east", None)]
