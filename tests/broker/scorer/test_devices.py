"""Which device serves a table, whose clock is wrong, and the health of devices."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.errors import NoDeviceWaits
from broker.protocol import CLOCK_TOLERANCE_MS, Call, Lifecycle, LogMessage, clock_offset
from broker.scorer.alerts import MOST_AT_ONCE
from broker.scorer.devices import ClockWatch, HealthWatch, Serving
from broker.scorer.grid import grid
from broker.scorer.lease import Lease
from broker.scorer.tables import FactTimes
from broker.version import program_version
from broker.web.tables.carriers import carrying
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import event, fact, restored, result, state, whole_play

FIRST, SECOND = "kiosk-0001", "kiosk-0002"


@contextmanager
def open_hall(folder: Path) -> Iterator[Hall]:
    """Start a scorer on the store in a folder, and stop it afterwards."""
    with open_journal(folder) as journal:
        yield make_hall(folder, journal)


def served(hall: Hall, table: int = 1) -> dict[str, Any]:
    """Return the last message that a table received about which device serves it."""
    said = [json.loads(body) for topic, body, _ in hall.ear.said if topic == f"hm/cup/served/{table}"]
    return {name: said[-1][name] for name in ("device", "refused", "calls_before")}


def test_a_second_device_and_its_facts_are_refused_and_both_devices_notified(hall: Hall) -> None:
    hall.hear(state(1), state(1, device=SECOND))
    assert served(hall) == {"device": FIRST, "refused": SECOND, "calls_before": None}
    hall.hear(replace(fact(1, 1, restored(1)), sender=SECOND))
    assert hall.ear.told("receipt/1")["upto"] == 0
    assert [one["code"] for one in hall.ear.told("receipt/1")["refused"]] == ["another_device"]
    assert hall.alerts() == [("two_devices", 1), ("another_device", 1)]
    hall.hear(replace(fact(1, 1, restored(1), id_="of-the-first"), sender=FIRST))
    assert hall.ear.told("receipt/1")["upto"] == 1


def test_the_state_of_a_refused_device_is_not_shown(hall: Hall) -> None:
    hall.hear(state(1), replace(state(1, device=SECOND), state="finished", health={"camera": "camera_failed"}))
    (card,) = [table for table in hall.scorer.feed.current.tables if table.table == 1]
    assert (card.state, card.health) == ("playing", {})


@pytest.mark.parametrize("end", ["lost", "disconnected"])
def test_once_the_first_device_is_gone_the_second_serves_and_the_first_is_refused(hall: Hall, end: Lifecycle) -> None:
    hall.hear(state(1), state(1, device=SECOND), state(1, lifecycle=end))
    assert served(hall)["device"] == FIRST  # no other device has asked
    hall.hear(state(1, device=SECOND, count=2))
    assert served(hall) == {"device": SECOND, "refused": None, "calls_before": None}
    hall.hear(replace(fact(1, 1, restored(1)), sender=SECOND))
    assert hall.ear.told("receipt/1")["upto"] == 1
    hall.hear(state(1, start=2))
    assert served(hall) == {"device": SECOND, "refused": FIRST, "calls_before": None}


def test_a_device_that_returns_still_serves_although_another_waits(hall: Hall) -> None:
    hall.hear(state(1), state(1, device=SECOND), state(1, lifecycle="lost"), state(1, count=2))
    hall.hear(state(1, device=SECOND, count=2))
    assert served(hall) == {"device": FIRST, "refused": SECOND, "calls_before": None}


def test_a_late_last_will_does_not_let_another_device_in(hall: Hall) -> None:
    hall.hear(state(1, start=2), state(1, start=1, lifecycle="lost"), state(1, device=SECOND))
    assert served(hall)["device"] == FIRST


def test_facts_of_a_dead_device_are_accepted_from_its_successor(hall: Hall) -> None:
    """The sending device decides, not the one that recorded the fact. What is stored does not depend on the sender."""
    once = fact(1, 1, restored(1))
    hall.hear(state(1), replace(once, sender=FIRST), state(1, lifecycle="lost"), state(1, device=SECOND))
    hall.hear(replace(once, sender=SECOND))
    assert (hall.ear.told("receipt/1")["upto"], hall.ear.told("receipt/1")["refused"]) == (1, [])
    assert [*hall.journal.messages()] == [once]


def test_a_refusal_of_another_device_is_replaced_by_the_latest_code_once_it_serves(hall: Hall) -> None:
    late = replace(fact(1, 1, restored(1), id_="of-the-second"), sender=SECOND)
    hall.hear(state(1), late, replace(fact(1, 1, restored(1), id_="of-the-first"), sender=FIRST))
    hall.hear(state(1, lifecycle="lost"), state(1, device=SECOND, count=2))
    hall.hear(late)
    refused = hall.ear.told("receipt/1")["refused"]
    assert [(one["id"], one["code"]) for one in refused] == [("of-the-second", "conflict")]


@given(
    st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), st.sampled_from(["ready", "alert", "lost", "disconnected"])))
)
def test_a_table_passes_to_another_device_only_once_the_first_is_gone(said: list[tuple[str, Lifecycle]]) -> None:
    serving, gone = Serving(), set[str]()
    for at, (device, lifecycle) in enumerate(said):
        before, _ = serving.of(1)
        serving.apply(state(1, device=device, lifecycle=lifecycle, count=at + 1))
        after, _ = serving.of(1)
        assert after == before or before is None or before in gone
        gone = gone | {device} if lifecycle in ("lost", "disconnected") else gone - {device}
        assert after is None or not serving.refuses(1, after)


def call(table: int, seq: int, *, is_open: bool) -> Any:  # noqa: ANN401 - a message
    return fact(table, seq, Call(round=1, deal=event().bookings[table, 1].deal, open=is_open))


def test_each_calling_table_gets_its_place_in_the_queue_and_again_when_it_moves(hall: Hall) -> None:
    hall.clock.read = iter(range(10_000)).__next__
    for table in (3, 1, 2):
        hall.hear(call(table, 1, is_open=True))
    assert [served(hall, table)["calls_before"] for table in (3, 1, 2)] == [0, 1, 2]
    hall.ear.said.clear()
    hall.hear(call(1, 2, is_open=False))
    told = [topic for topic, _, _ in hall.ear.said if "/served/" in topic]
    assert told == ["hm/cup/served/1", "hm/cup/served/2"]
    assert [served(hall, table)["calls_before"] for table in (1, 2)] == [None, 1]


def test_a_restarted_scorer_publishes_the_queue_when_the_broker_is_connected(hall: Hall) -> None:
    hall.hear(call(2, 1, is_open=True))
    hall.ear.said.clear()
    hall.connect(up=True)
    assert [served(hall, table)["calls_before"] for table in (1, 2)] == [None, 0]


@given(
    st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), st.sampled_from(["ready", "alert", "lost", "disconnected"])))
)
def test_a_restarted_scorer_knows_which_devices_serve(said: list[tuple[str, Lifecycle]]) -> None:
    serving = Serving()
    for at, (device, lifecycle) in enumerate(said):
        serving.apply(state(1, device=device, lifecycle=lifecycle, count=at + 1))
        holder = serving.holder(1)
        again = Serving({table: holder for table in ("1", "of no table") if holder})
        assert again.holder(1) == holder


def test_a_refused_device_that_speaks_first_after_a_restart_stays_refused(tmp_path: Path) -> None:
    with open_hall(tmp_path) as hall:
        hall.hear(state(1), state(1, device=SECOND))
    with open_hall(tmp_path) as hall:
        hall.hear(state(1, device=SECOND, count=2))
        assert served(hall) == {"device": FIRST, "refused": SECOND, "calls_before": None}
        hall.hear(replace(fact(1, 1, restored(1)), sender=SECOND))
        assert hall.ear.told("receipt/1")["upto"] == 0
        hall.hear(replace(fact(1, 1, restored(1), id_="of-the-first"), sender=FIRST))
        assert hall.ear.told("receipt/1")["upto"] == 1


def test_a_table_is_handed_over_to_the_waiting_device_and_back_across_restarts(tmp_path: Path) -> None:
    with open_hall(tmp_path) as hall:
        hall.hear(state(1), state(1, device=SECOND))
        hall.scorer.live.devices.hand_over(1, SECOND)
        assert served(hall) == {"device": SECOND, "refused": FIRST, "calls_before": None}
    with open_hall(tmp_path) as hall:
        hall.hear(state(1, count=3), state(1, lifecycle="lost"))  # the first device asks to serve, and is switched off
        assert served(hall) == {"device": SECOND, "refused": FIRST, "calls_before": None}
        hall.hear(replace(fact(1, 1, restored(1)), sender=SECOND))
        assert hall.ear.told("receipt/1")["upto"] == 1
        hall.scorer.live.devices.hand_over(1, FIRST)
        assert served(hall)["device"] == FIRST


def test_term_and_number_order_the_messages_about_who_serves_across_restarts(tmp_path: Path) -> None:
    orders = list[tuple[int, int]]()
    for term in (4, 5):
        with open_hall(tmp_path) as hall:
            hall.scorer.publisher.lease = Lease("run", term)
            hall.hear(state(1), state(1, device=SECOND))
            hall.scorer.live.devices.hand_over(1, hall.scorer.live.devices.serving.of(1)[1] or "")
            told = [json.loads(body) for topic, body, _ in hall.ear.said if topic == "hm/cup/served/1"]
            orders += [(one["term"], one["seq"]) for one in told]
    assert orders == sorted(set(orders))
    assert {term for term, _ in orders} == {4, 5}


def test_a_table_without_a_waiting_device_cannot_be_handed_over(hall: Hall) -> None:
    hall.hear(state(1))
    for table, to in ((1, FIRST), (1, SECOND), (2, FIRST)):
        with pytest.raises(NoDeviceWaits):
            hall.scorer.live.devices.hand_over(table, to)
    assert hall.scorer.live.devices.serving.of(1) == (FIRST, None)


DAY: Final = 86_400_000
MINUTE: Final = 60_000

Offs = tuple[int, ...]
"""By how much the clock of each table is wrong."""


def day() -> list[LogMessage]:
    """Return what the four tables report in a round and a half, with the true times: two calls, three results."""
    plays = {table: whole_play(table) for table in range(1, 5)}
    begun, ended = slice(0, 3), slice(3, None)
    said = [message for table in plays for message in plays[table][begun]]
    said += [message for table in (2, 1, 4) for message in plays[table][ended]]
    said += [fact(3, 4, Call(round=1, deal=plays[3][0].fact.deal, open=True)), *whole_play(2, 2, first=6)[begun]]
    said += [fact(1, 6, Call(round=1, deal=plays[1][0].fact.deal, open=True))]
    return [replace(message, at=NOW + at * MINUTE) for at, message in enumerate(said)]


def hear(hall: Hall, offs: Offs) -> None:
    """Let the messages of the day arrive, from tables whose clocks are wrong."""
    for message in day():
        hall.clock.read = partial(int, message.at)
        hall.hear(replace(message, at=message.at + offs[message.table - 1]))


def seen_by_desk(hall: Hall) -> object:
    """Return what the desk shows by a clock: calls, clocks, plays, grid, and the end of the round."""
    hall.hear(
        *(replace(state(table), calling=table in hall.scorer.state.tables.times.calling) for table in range(1, 5))
    )
    scorer, view = hall.scorer, hall.scorer.feed.current
    cells = [[cell.stage for cell in row.cells] for row in grid(scorer.snapshot, view.tables).rows]
    plays = [(play.table, play.round, play.at) for play in view.plays]
    times = (
        scorer.state.tables.times.queue(),
        dict(scorer.state.tables.times.calling),
        dict(scorer.state.tables.times.playing),
    )
    return times, plays, cells, carrying(scorer.snapshot, view.tables, NOW + 20 * MINUTE)


@pytest.mark.parametrize("offs", [(DAY, -DAY, 0, DAY), (-DAY, DAY, -DAY, -DAY), (-DAY, -DAY, -DAY, DAY)])
def test_tables_with_wrong_clocks_are_shown_like_tables_with_right_ones(tmp_path: Path, offs: Offs) -> None:
    found = []
    for number, of in enumerate((offs, (0, 0, 0, 0))):
        (folder := tmp_path / str(number)).mkdir()
        with open_journal(folder) as journal:
            hear(hall := make_hall(folder, journal), of)
            found.append(seen_by_desk(hall))
        with open_journal(folder) as journal:
            found.append(seen_by_desk(make_hall(folder, journal)))
    assert found == [found[-1]] * 4


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 10**6), st.integers(0, 10**6))))
def test_a_corrected_time_is_between_the_previous_fact_and_the_arrival(said: list[tuple[int, int, int]]) -> None:
    clocks, before, now = FactTimes(), dict[int, int](), 0
    for seq, (table, at, later) in enumerate(said, 1):
        now += later
        believed = clocks.corrected(fact(table, seq, result(table), at=at), now).at
        assert (believed <= now, believed >= before.get(table, 0)) == (True, True)
        before[table] = believed


def test_a_late_fact_keeps_the_time_of_its_tables_clock() -> None:
    """The table was offline for an hour, so its calls have waited for that long."""
    clocks = FactTimes()
    clocks.corrected(fact(1, 1, restored(1), at=NOW), NOW)
    late = [fact(1, seq, result(1), at=NOW + seq * MINUTE) for seq in (2, 3, 4)]
    assert [clocks.corrected(message, NOW + 60 * MINUTE) for message in late] == late


def clocks_told(hall: Hall) -> list[tuple[str, str]]:
    """Return code and text of the alerts about clocks since the last call."""
    alerts = [(one.code, one.text) for one in hall.ear.heard("alert")]  # type: ignore[attr-defined]  # alerts all
    hall.ear.forget()
    return [one for one in alerts if one[0].startswith("clock_")]


def says(hall: Hall, at: int, heard: int | None = None, table: int = 1, count: int = 1) -> None:
    """Let a table send its state at a time by its clock, after a receipt with a time by ours."""
    hall.hear(replace(state(table, count=count), at=at, heard=heard))


def test_a_clock_that_is_ahead_is_reported_once_and_once_when_it_is_right_again(hall: Hall) -> None:
    for count, later in enumerate((0, 1, 2)):
        says(hall, NOW + DAY + later, count=count)
    assert clocks_told(hall) == [("clock_ahead", "Table 1: its clock is 24 h 00 min ahead of this computer’s.")]
    says(hall, NOW, heard=NOW, count=4)
    assert clocks_told(hall) == [("clock_right", "Table 1: its clock is correct again.")]


def test_a_clock_that_is_behind_is_noticed_by_the_receipt_it_has_received(hall: Hall) -> None:
    says(hall, NOW - DAY)
    assert clocks_told(hall) == []  # the state may have waited in the broker for a day
    says(hall, NOW - DAY, heard=NOW, count=2)
    assert clocks_told(hall) == [("clock_behind", "Table 1: its clock is 24 h 00 min behind this computer’s.")]


@pytest.mark.parametrize("off", [CLOCK_TOLERANCE_MS, -CLOCK_TOLERANCE_MS, 0])
def test_a_clock_two_minutes_off_is_not_reported(hall: Hall, off: int) -> None:
    says(hall, NOW + off, heard=NOW)
    assert clocks_told(hall) == []


@given(st.integers(0, DAY), st.integers(0, DAY))
def test_a_delayed_state_with_a_right_clock_raises_no_alert(waited: int, before: int) -> None:
    """The receipt is older than the state, which is older than its arrival."""
    said = replace(state(1), at=NOW - waited, heard=NOW - waited - before)
    assert clock_offset(said, NOW) == 0


def test_wrong_clocks_at_many_tables_are_all_reported() -> None:
    watch = ClockWatch()
    for table in (1, 2, 3):
        watch.apply(replace(state(table), at=NOW + DAY), NOW)
    first, *others = watch.concerns()
    watch.reported([first])
    assert watch.concerns() == others


def test_a_receipt_has_the_time_for_checking_the_tables_clock(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1)))
    assert hall.ear.told("receipt/1")["at"] == NOW


def alerts_sent(hall: Hall) -> list[tuple[str, str]]:
    """Return code and text of the alerts published since the last call."""
    alerts = [(one.code, one.text) for one in hall.ear.heard("alert")]  # type: ignore[attr-defined]  # alerts all
    hall.ear.forget()
    return alerts


def test_a_health_problem_is_reported_once_and_once_when_it_is_over(hall: Hall) -> None:
    ill = replace(state(1, count=1), health={"buttons": "device_unplugged"})
    hall.hear(ill)
    assert alerts_sent(hall) == [("device_unwell", "Table 1: buttons: device_unplugged")]
    hall.hear(replace(ill, count=2, unsent=3))
    assert alerts_sent(hall) == []
    hall.hear(replace(ill, count=3, health={}))
    assert alerts_sent(hall) == [("device_well", "Table 1: fixed: buttons")]


def test_of_several_health_problems_only_new_ones_are_reported(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"camera": "camera_gone", "button-east": "button_stuck"}))
    assert alerts_sent(hall) == [("device_unwell", "Table 1: camera: camera_gone; button-east: button_stuck")]
    hall.hear(replace(state(1, count=2), health={"camera": "camera_gone", "scanner": "device_unplugged"}))
    assert alerts_sent(hall) == [
        ("device_unwell", "Table 1: scanner: device_unplugged"),
        ("device_well", "Table 1: fixed: button-east"),
    ]


def test_a_problem_that_comes_and_goes_is_reported_each_time(hall: Hall) -> None:
    for count in range(4):
        hall.hear(replace(state(1, count=count + 1), health={} if count % 2 else {"buttons": "device_unplugged"}))
    assert [code for code, _ in alerts_sent(hall)] == ["device_unwell", "device_well"] * 2


def test_a_problem_that_comes_and_goes_within_one_batch_is_not_reported(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"buttons": "device_unplugged"}), state(1, count=2))
    assert alerts_sent(hall) == []


def test_a_lost_table_is_not_reported_as_well(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"buttons": "box_silent"}))
    hall.hear(state(1, lifecycle="lost", count=0))
    assert [code for code, _ in alerts_sent(hall)] == ["device_unwell", "table_lost"]


def test_refusals_are_not_reported_as_health_problems(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"refused": "not_planned"}))
    assert alerts_sent(hall) == []


def test_health_problems_beyond_the_limit_are_reported_with_the_next_batch() -> None:
    watch = HealthWatch()
    for table in range(1, MOST_AT_ONCE + 6):
        watch.apply(replace(state(1), table=table, health={"buttons": "box_silent"}))
    first = watch.concerns()[:MOST_AT_ONCE]
    watch.reported(first)
    assert [one.table for one in watch.concerns()] == list(range(MOST_AT_ONCE + 1, MOST_AT_ONCE + 6))


def test_a_long_hostile_text_is_cut_to_the_limit_of_an_alert(hall: Hall) -> None:
    hall.hear(replace(state(1), health={f"part-{number}": "x" * 500 for number in range(16)}))
    ((code, text),) = alerts_sent(hall)
    assert (code, len(text)) == ("device_unwell", 500)


def test_a_card_shows_the_version_of_a_table_if_it_differs(hall: Hall) -> None:
    hall.hear(state(1), replace(state(2), version="0.0.9"), replace(state(3), version=program_version()))
    assert [table.other_version for table in hall.scorer.feed.current.tables[:3]] == [None, "0.0.9", None]
