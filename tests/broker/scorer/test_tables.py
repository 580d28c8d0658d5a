"""Since when a table plays and calls, the stage of each play, and the log of messages."""

from msgspec.structs import replace

from broker.protocol import Call, Confirmed, topics
from broker.scorer import EventState
from broker.scorer.grid import grid, urgent
from broker.scorer.live_event import LONGEST_TEXT, MOST_MESSAGES, WireLog
from broker.scorer.tables import Since, TableTimes
from broker.scorer.view import Attending
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.small import event, fact, log, restored, result, sent, state, steps, whole_play


def test_a_table_plays_from_the_confirmation_of_its_tiles_to_its_result() -> None:
    times = TableTimes()
    times.apply(fact(1, 1, Confirmed(round=1, deal=1), at=1000))
    assert times.playing == {1: Since(1000, 1)}
    times.apply(fact(1, 2, result(1), at=9000))
    assert times.playing == {}


def test_a_late_result_does_not_stop_the_clock_of_the_next_play() -> None:
    times = TableTimes()
    times.apply(fact(1, 5, Confirmed(round=2, deal=2), at=2000))
    times.apply(fact(1, 2, result(1), at=9000))
    assert times.playing == {1: Since(2000, 2)}


def test_a_call_waits_from_its_first_message() -> None:
    times = TableTimes()
    for at, open_ in ((1000, True), (2000, True)):
        times.apply(fact(1, at, Call(round=1, deal=1, open=open_), at=at))
    assert times.calling == {1: Since(1000, 1)}
    times.apply(fact(1, 3, Call(round=1, deal=1, open=False), at=3000))
    assert times.calling == {}


def test_the_grid_shows_results_current_missing_and_future_plays(hall: Hall) -> None:
    room = EventState(event())
    for message in whole_play(1):
        room.apply(message)
    hall.hear(state(1), state(2))
    views = {table.table: table for table in hall.scorer.feed.current.tables}
    away = replace(views[2], lifecycle="lost", unsent=2)
    tables = [replace(views[1], round=3), away, replace(views[3], state="finished")]
    one, two, three = grid(room.snapshot(), tables).rows
    assert [cell.stage for cell in one.cells] == ["in", "missing", "now", "to_come"]
    assert (one.missing, one.needs(0), two.needs(0)) == ((2,), ("missing",), ("offline_unsent",))
    assert [cell.stage for cell in three.cells] == ["missing"] * 4


def test_the_most_urgent_tables_come_first_and_equal_ones_keep_their_order(hall: Hall) -> None:
    hall.hear(*(state(table) for table in event().tables))
    one, two, three, four = hall.scorer.feed.current.tables
    limited = {"minutes": 1, "playing_since": 0, "stood_ms": 0}
    tables = [
        replace(one, **limited),
        replace(two, calling=True, calling_since=5, attended=Attending("anne", "Anne", 6)),
        replace(three, calling=True, calling_since=7, walls="fouled"),
        replace(four, **limited),
    ]
    rows = grid(EventState(event()).snapshot(), tables).rows
    late = [(row.view.table, wants) for row, wants in urgent(rows, 60_000)]
    assert late == [(3, ("calling", "walls")), (2, ("calling",)), (1, ("over",)), (4, ("over",))]
    assert [row.view.table for row, _ in urgent(rows, 59_999)] == [3, 2]


def test_walls_not_as_dealt_or_not_verified_are_shown_for_the_current_play(hall: Hall) -> None:
    told = (restored(1), restored(2, verified=False), restored(3, form="0" * 64))
    hall.hear(*(state(table) for table in event().tables))
    hall.hear(*(fact(table, 1, one) for table, one in enumerate(told, 1)))
    hall.hear(*log(4, *steps(4), restored(4, 2, verified=False)))
    assert [table.walls for table in hall.scorer.feed.current.tables] == [None, "unverified", "fouled", None]


def test_the_message_log_has_both_directions_but_not_what_a_table_has_to_restore(hall: Hall) -> None:
    hall.connect(up=True)
    hall.hear(*whole_play(1))
    hall.arrive("hm/cup/table/1/log", b"rubbish")
    kinds = {(one.way, one.kind) for one in hall.scorer.wire.newest()}
    assert {("in", "log"), ("out", "receipt"), ("out", "assignment"), ("out", "traveller")} <= kinds
    assert {one.text for one in hall.scorer.wire.newest(kind="assignment")} == {None}
    assert [one.code for one in hall.scorer.wire.newest(text="rubbish")] == ["malformed"]
    assert {one.table for one in hall.scorer.wire.newest(table=1)} == {1}


def test_the_message_log_keeps_the_newest_messages_and_the_beginning_of_long_ones() -> None:
    log = WireLog()
    for at in range(MOST_MESSAGES + 5):
        log.note(at, "in", *sent(fact(1, 1, result(1))))
    log.note(0, "out", topics.STANDINGS.at("cup"), b"x" * 100_000)
    kept = list(log.newest())
    assert (len(kept), kept[0].size, len(kept[0].text or ""), kept[-1].at) == (MOST_MESSAGES, 100_000, LONGEST_TEXT, 6)
