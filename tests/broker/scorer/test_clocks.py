"""Tables' clocks may be off by a day, either way: nothing that the room is told by the clock is."""

from functools import partial
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.facts import Call, Confirmed
from broker.contract.messages import LogMessage
from broker.desk.carriers_now import carrying
from broker.scorer.clocks import FactTimes
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
