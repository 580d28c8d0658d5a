"""Tables' clocks may be off by a day, either way: nothing that the room is told by the clock is."""

from functools import partial
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.clock import FAR_MS, off_by
from broker.contract.facts import Call, Confirmed
from broker.contract.messages import LogMessage
from broker.desk.carriers_now import carrying
from broker.scorer.clocks import ClockWatch, FactTimes
from broker.scorer.sheets.grid import grid
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import event, fact, restored, result, state

DAY: Final = 86_400_000
MINUTE: Final = 60_000

Offs = tuple[int, ...]
"""By how much the clock of each table is wrong."""


def day() -> list[LogMessage]:
    """Give what the four tables say in a round and a half, with the true times: two calls, three results."""
    first, second = ({table: event().bookings[table, round_].deal for table in range(1, 5)} for round_ in (1, 2))
    said = [fact(table, 1, restored(table)) for table in range(1, 5)]
    said += [fact(table, 2, Confirmed(round=1, deal=first[table])) for table in range(1, 5)]
    said += [fact(table, 3, result(table)) for table in (2, 1, 4)]
    said += [fact(3, 3, Call(round=1, deal=first[3], open=True)), fact(2, 4, restored(2, 2))]
    said += [fact(2, 5, Confirmed(round=2, deal=second[2])), fact(1, 4, Call(round=1, deal=first[1], open=True))]
    return [replace(message, at=NOW + at * MINUTE) for at, message in enumerate(said)]


def hear(hall: Hall, offs: Offs) -> None:
    """Let the day be told as it goes, by tables whose clocks are off."""
    for message in day():
        hall.scorer._clock = partial(int, message.at)
        hall.hear(replace(message, at=message.at + offs[message.table - 1]))


def told(hall: Hall) -> object:
    """Give all that the room is told by a clock: calls, clocks, plays, grid, and when the round will be over."""
    hall.hear(*(replace(state(table), calling=table in hall.scorer.times.calling) for table in range(1, 5)))
    scorer, view = hall.scorer, hall.scorer.feed.current
    cells = [[cell.stage for cell in row.cells] for row in grid(scorer.moment, view.tables).rows]
    plays = [(play.table, play.round, play.at) for play in view.plays]
    times = scorer.times.queue(), dict(scorer.times.calling), dict(scorer.times.playing)
    return times, plays, cells, carrying(scorer.moment, view.tables, NOW + 20 * MINUTE)


@pytest.mark.parametrize("offs", [(DAY, -DAY, 0, DAY), (-DAY, DAY, -DAY, -DAY), (-DAY, -DAY, -DAY, DAY)])
def test_a_room_whose_clocks_are_a_day_off_is_told_as_one_whose_clocks_are_right(tmp_path: Path, offs: Offs) -> None:
    found = []
    for number, of in enumerate((offs, (0, 0, 0, 0))):
        (folder := tmp_path / str(number)).mkdir()
        with open_journal(folder) as journal:
            hear(hall := make_hall(folder, journal), of)
            found.append(told(hall))
        with open_journal(folder) as journal:
            found.append(told(make_hall(folder, journal)))
    assert found == [found[-1]] * 4


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 10**6), st.integers(0, 10**6))))
def test_a_time_that_is_believed_is_never_later_than_it_was_heard_nor_before_the_fact_before(
    said: list[tuple[int, int, int]],
) -> None:
    clocks, before, now = FactTimes(), dict[int, int](), 0
    for seq, (table, at, later) in enumerate(said, 1):
        now += later
        believed = clocks.believed(fact(table, seq, result(table), at=at), now).at
        assert (believed <= now, believed >= before.get(table, 0)) == (True, True)
        before[table] = believed


def test_what_a_table_tells_late_was_when_its_clock_says() -> None:
    """Offline for an hour: its calls have waited as long as they have."""
    clocks = FactTimes()
    clocks.believed(fact(1, 1, restored(1), at=NOW), NOW)
    late = [fact(1, seq, result(1), at=NOW + seq * MINUTE) for seq in (2, 3, 4)]
    assert [clocks.believed(message, NOW + 60 * MINUTE) for message in late] == late


def clocks_told(hall: Hall) -> list[tuple[str, str]]:
    """Give code and text of what was told of clocks since the last look."""
    alerts = [(one.code, one.text) for one in hall.ear.heard("alert")]  # type: ignore[attr-defined]  # alerts all
    hall.ear.forget()
    return [one for one in alerts if one[0].startswith("clock_")]


def says(hall: Hall, at: int, heard: int | None = None, table: int = 1, count: int = 1) -> None:
    """Let a table say of itself at a time by its clock, having heard a receipt of a time by ours."""
    hall.hear(replace(state(table, count=count), at=at, heard=heard))


def test_a_clock_that_is_ahead_is_told_once_and_once_when_it_is_right_again(hall: Hall) -> None:
    for count, later in enumerate((0, 1, 2)):
        says(hall, NOW + DAY + later, count=count)
    assert clocks_told(hall) == [("clock_ahead", "table 1: its clock is 24 h 00 min ahead of the scorer's")]
    says(hall, NOW, heard=NOW, count=4)
    assert clocks_told(hall) == [("clock_right", "table 1: its clock is right again")]


def test_a_clock_that_is_behind_is_known_by_the_receipt_that_it_has_heard(hall: Hall) -> None:
    says(hall, NOW - DAY)
    assert clocks_told(hall) == []  # it may have waited in the broker for a day
    says(hall, NOW - DAY, heard=NOW, count=2)
    assert clocks_told(hall) == [("clock_behind", "table 1: its clock is 24 h 00 min behind the scorer's")]


@pytest.mark.parametrize("off", [FAR_MS, -FAR_MS, 0])
def test_two_minutes_are_not_far(hall: Hall, off: int) -> None:
    says(hall, NOW + off, heard=NOW)
    assert clocks_told(hall) == []


@given(st.integers(0, DAY), st.integers(0, DAY))
def test_a_state_of_a_right_clock_raises_no_alarm_however_long_it_waited(waited: int, before: int) -> None:
    """The receipt is older than the state, and the state than its being heard."""
    said = replace(state(1), at=NOW - waited, heard=NOW - waited - before)
    assert off_by(said, NOW) == 0


def test_clocks_that_are_off_at_more_tables_than_are_told_at_once_are_all_told() -> None:
    watch = ClockWatch()
    for table in (1, 2, 3):
        watch.hear(replace(state(table), at=NOW + DAY), NOW)
    first, *others = watch.concerns()
    watch.told([first])
    assert watch.concerns() == others


def test_a_receipt_tells_the_time_by_which_a_table_finds_out(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1)))
    assert hall.ear.told("receipt/1")["at"] == NOW
