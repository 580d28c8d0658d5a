"""Which device serves a table: one at a time, by the order in which they came, and told to both; the queue of calls."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.facts import Call
from broker.contract.words import Lifecycle
from broker.scorer.errors import NoDeviceWaits
from broker.scorer.serving import Serving
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import event, fact, restored, state

FIRST, SECOND = "kiosk-0001", "kiosk-0002"


@contextmanager
def open_hall(folder: Path) -> Iterator[Hall]:
    """Start a scorer on the store in a folder; at the end it is gone."""
    with open_journal(folder) as journal:
        yield make_hall(folder, journal)


def served(hall: Hall, table: int = 1) -> dict[str, Any]:
    """Give what a table was told last."""
    said = [json.loads(body) for topic, body, _ in hall.ear.said if topic == f"hm/cup/served/{table}"]
    return {name: said[-1][name] for name in ("device", "refused", "calls_before")}


def test_a_second_device_is_refused_with_its_facts_and_both_are_told(hall: Hall) -> None:
    hall.hear(state(1), state(1, device=SECOND))
    assert served(hall) == {"device": FIRST, "refused": SECOND, "calls_before": None}
    hall.hear(replace(fact(1, 1, restored(1)), device=SECOND))
    assert hall.ear.told("receipt/1")["upto"] == 0
    assert [one["code"] for one in hall.ear.told("receipt/1")["refused"]] == ["another_device"]
    assert hall.alerts() == [("two_devices", 1), ("another_device", 1)]
    hall.hear(replace(fact(1, 1, restored(1), id_="of-the-first"), device=FIRST))
    assert hall.ear.told("receipt/1")["upto"] == 1


def test_what_a_refused_device_says_of_itself_shows_nowhere(hall: Hall) -> None:
    hall.hear(state(1), replace(state(1, device=SECOND), state="finished", health={"camera": "camera_failed"}))
    (card,) = [table for table in hall.scorer.feed.current.tables if table.table == 1]
    assert (card.state, card.health) == ("playing", {})


@pytest.mark.parametrize("end", ["lost", "disconnected"])
def test_once_the_first_is_gone_the_second_is_let_in_when_it_asks_and_the_first_refused_when_it_comes_back(
    hall: Hall, end: Lifecycle
) -> None:
    hall.hear(state(1), state(1, device=SECOND), state(1, lifecycle=end))
    assert served(hall)["device"] == FIRST  # nobody has asked
    hall.hear(state(1, device=SECOND, count=2))
    assert served(hall) == {"device": SECOND, "refused": None, "calls_before": None}
    hall.hear(replace(fact(1, 1, restored(1)), device=SECOND))
    assert hall.ear.told("receipt/1")["upto"] == 1
    hall.hear(state(1, start=2))
    assert served(hall) == {"device": SECOND, "refused": FIRST, "calls_before": None}


def test_a_device_that_was_away_is_still_the_one_though_another_waits(hall: Hall) -> None:
    hall.hear(state(1), state(1, device=SECOND), state(1, lifecycle="lost"), state(1, count=2))
    hall.hear(state(1, device=SECOND, count=2))
    assert served(hall) == {"device": FIRST, "refused": SECOND, "calls_before": None}


def test_a_last_will_that_comes_late_lets_nobody_in(hall: Hall) -> None:
    hall.hear(state(1, start=2), state(1, start=1, lifecycle="lost"), state(1, device=SECOND))
    assert served(hall)["device"] == FIRST


def test_a_dead_devices_facts_are_taken_from_the_one_that_has_them_now(hall: Hall) -> None:
    """Who sends is asked, not who found out; and what is stored is the same whoever has sent it."""
    once = fact(1, 1, restored(1))
    hall.hear(state(1), replace(once, device=FIRST), state(1, lifecycle="lost"), state(1, device=SECOND))
    hall.hear(replace(once, device=SECOND))
    assert (hall.ear.told("receipt/1")["upto"], hall.ear.told("receipt/1")["refused"]) == (1, [])
    assert [*hall.journal.messages()] == [once]


def test_what_a_device_was_refused_for_is_told_no_more_once_it_serves_the_table_and_its_number_clashes(
    hall: Hall,
) -> None:
    late = replace(fact(1, 1, restored(1), id_="of-the-second"), device=SECOND)
    hall.hear(state(1), late, replace(fact(1, 1, restored(1), id_="of-the-first"), device=FIRST))
    hall.hear(state(1, lifecycle="lost"), state(1, device=SECOND, count=2))
    hall.hear(late)
    refused = hall.ear.told("receipt/1")["refused"]
    assert [(one["id"], one["code"]) for one in refused] == [("of-the-second", "conflict")]


@given(
    st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), st.sampled_from(["ready", "alert", "lost", "disconnected"])))
)
def test_a_table_passes_from_a_device_to_another_only_once_the_first_is_gone(
    said: list[tuple[str, Lifecycle]],
) -> None:
    serving, gone = Serving(), set[str]()
    for at, (device, lifecycle) in enumerate(said):
        before, _ = serving.of(1)
        serving.hear(state(1, device=device, lifecycle=lifecycle, count=at + 1))
        after, _ = serving.of(1)
        assert after == before or before is None or before in gone
        gone = gone | {device} if lifecycle in ("lost", "disconnected") else gone - {device}
        assert after is None or not serving.refuses(1, after)


def call(table: int, seq: int, *, is_open: bool) -> Any:  # noqa: ANN401 - a message
    return fact(table, seq, Call(round=1, deal=event().bookings[table, 1].deal, open=is_open))


def test_each_calling_table_is_told_its_place_and_told_again_when_it_moves_up(hall: Hall) -> None:
    hall.scorer._clock = iter(range(10_000)).__next__
    for table in (3, 1, 2):
        hall.hear(call(table, 1, is_open=True))
    assert [served(hall, table)["calls_before"] for table in (3, 1, 2)] == [0, 1, 2]
    hall.ear.said.clear()
    hall.hear(call(1, 2, is_open=False))
    told = [topic for topic, _, _ in hall.ear.said if "/served/" in topic]
    assert told == ["hm/cup/served/1", "hm/cup/served/2"]
    assert [served(hall, table)["calls_before"] for table in (1, 2)] == [None, 1]


def test_a_scorer_that_starts_again_tells_the_places_when_the_broker_is_there(hall: Hall) -> None:
    hall.hear(call(2, 1, is_open=True))
    hall.ear.said.clear()
    hall.connect(up=True)
    assert [served(hall, table)["calls_before"] for table in (1, 2)] == [None, 0]


@given(
    st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), st.sampled_from(["ready", "alert", "lost", "disconnected"])))
)
def test_a_scorer_that_starts_again_knows_what_it_knew_of_devices(said: list[tuple[str, Lifecycle]]) -> None:
    serving = Serving()
    for at, (device, lifecycle) in enumerate(said):
        serving.hear(state(1, device=device, lifecycle=lifecycle, count=at + 1))
        again = Serving({"1": serving.written(1), "of no table": "{}", "2": "nonsense"})
        assert (again.written(1), again.written(2)) == (serving.written(1), "null")


def test_an_idle_device_that_speaks_first_after_a_restart_of_the_scorer_is_refused_still(tmp_path: Path) -> None:
    with open_hall(tmp_path) as hall:
        hall.hear(state(1), state(1, device=SECOND))
    with open_hall(tmp_path) as hall:
        hall.hear(state(1, device=SECOND, count=2))
        assert served(hall) == {"device": FIRST, "refused": SECOND, "calls_before": None}
        hall.hear(replace(fact(1, 1, restored(1)), device=SECOND))
        assert hall.ear.told("receipt/1")["upto"] == 0
        hall.hear(replace(fact(1, 1, restored(1), id_="of-the-first"), device=FIRST))
        assert hall.ear.told("receipt/1")["upto"] == 1


def test_a_table_is_handed_over_to_the_device_that_waits_and_back_and_a_restart_knows_it(tmp_path: Path) -> None:
    with open_hall(tmp_path) as hall:
        hall.hear(state(1), state(1, device=SECOND))
        hall.scorer.devices.hand_over(1, SECOND)
        assert served(hall) == {"device": SECOND, "refused": FIRST, "calls_before": None}
    with open_hall(tmp_path) as hall:
        hall.hear(state(1, count=3), state(1, lifecycle="lost"))  # the first asks, and is switched off
        assert served(hall) == {"device": SECOND, "refused": FIRST, "calls_before": None}
        hall.hear(replace(fact(1, 1, restored(1)), device=SECOND))
        assert hall.ear.told("receipt/1")["upto"] == 1
        hall.scorer.devices.hand_over(1, FIRST)
        assert served(hall)["device"] == FIRST


def test_where_no_device_waits_nothing_is_handed_over(hall: Hall) -> None:
    hall.hear(state(1))
    for table, to in ((1, FIRST), (1, SECOND), (2, FIRST)):
        with pytest.raises(NoDeviceWaits):
            hall.scorer.devices.hand_over(table, to)
    assert hall.scorer.devices.serving.of(1) == (FIRST, None)
