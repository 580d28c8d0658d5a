"""Since when a table plays and calls, where each play stands, and what was on the wire."""

from msgspec.structs import replace

from broker.contract import topics
from broker.contract.facts import Call, Confirmed
from broker.scorer.room import Room
from broker.scorer.sheets.grid import grid
from broker.scorer.times import Since, TableTimes
from broker.scorer.wirelog import KEPT, LONGEST, WireLog
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.small import event, fact, result, sent, state


def test_a_table_plays_from_when_its_tiles_are_confirmed_until_its_result() -> None:
    times = TableTimes()
    times.hear(fact(1, 1, Confirmed(round=1, deal=1), at=1000))
    assert times.playing == {1: Since(1000, 1)}
    times.hear(fact(1, 2, result(1), at=9000))
    assert times.playing == {}


def test_a_result_that_comes_late_does_not_stop_the_clock_of_the_next_play() -> None:
    times = TableTimes()
    times.hear(fact(1, 5, Confirmed(round=2, deal=2), at=2000))
    times.hear(fact(1, 2, result(1), at=9000))
    assert times.playing == {1: Since(2000, 2)}


def test_a_call_waits_from_when_it_was_first_heard() -> None:
    times = TableTimes()
    for at, open_ in ((1000, True), (2000, True)):
        times.hear(fact(1, at, Call(round=1, deal=1, open=open_), at=at))
    assert times.calling == {1: Since(1000, 1)}
    times.hear(fact(1, 3, Call(round=1, deal=1, open=False), at=3000))
    assert times.calling == {}


def test_the_grid_tells_what_is_in_what_is_on_what_is_missing_and_what_is_to_come(hall: Hall) -> None:
    room = Room(event())
    room.apply(fact(1, 1, result(1, 1)))
    hall.hear(state(1), state(2))
    views = {table.table: table for table in hall.scorer.feed.current.tables}
    away = replace(views[2], lifecycle="lost", unsent=2)
    tables = [replace(views[1], round=3), away, replace(views[3], state="finished")]
    one, two, three = grid(room.moment(), tables).rows
    assert [cell.stage for cell in one.cells] == ["in", "missing", "now", "to_come"]
    assert (one.missing, one.wants, two.offline_unsent, two.wants) == ((2,), True, True, True)
    assert [cell.stage for cell in three.cells] == ["missing"] * 4


def test_the_feed_has_what_came_and_what_was_said_and_not_what_a_table_is_to_restore(hall: Hall) -> None:
    hall.connect(up=True)
    hall.hear(fact(1, 1, result(1)))
    hall.arrive("hm/cup/table/1/log", b"rubbish")
    kinds = {(one.way, one.kind) for one in hall.scorer.wire.newest()}
    assert {("in", "log"), ("out", "receipt"), ("out", "assignment"), ("out", "traveller")} <= kinds
    assert {one.text for one in hall.scorer.wire.newest(kind="assignment")} == {None}
    assert [one.code for one in hall.scorer.wire.newest(text="rubbish")] == ["malformed"]
    assert {one.table for one in hall.scorer.wire.newest(table=1)} == {1}


def test_the_feed_keeps_the_newest_and_of_a_long_one_the_beginning() -> None:
    log = WireLog()
    for at in range(KEPT + 5):
        log.note(at, "in", *sent(fact(1, 1, result(1))))
    log.note(0, "out", topics.STANDINGS.at("cup"), b"x" * 100_000)
    kept = list(log.newest())
    assert (len(kept), kept[0].size, len(kept[0].text or ""), kept[-1].at) == (KEPT, 100_000, LONGEST, 6)
