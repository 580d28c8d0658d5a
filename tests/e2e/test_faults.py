"""Whatever is killed or cut, every result is stored exactly once, and the standings are correct."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.mqtt.programs import Kind
from tests.demo_event import MakeEvent
from tests.e2e.hall import TABLES, Hall

pytestmark = pytest.mark.slow

ROUNDS = 2


@pytest.fixture(params=["embedded", "mosquitto"])
def hall(request: pytest.FixtureRequest, tmp_path: Path, demo_event: MakeEvent) -> Iterator[Hall]:
    kind: Kind = request.param
    hall = Hall(tmp_path / "event", kind, demo_event(tmp_path / "event", ROUNDS))
    try:
        hall.start()
        yield hall
    finally:
        hall.stop()


def test_kills_at_random_times_neither_lose_nor_duplicate_results(hall: Hall) -> None:
    chance = random.Random(20)
    killed = []
    for _ in range(8):
        hall.wait_for_news(chance.randint(1, 4))
        threading.Event().wait(chance.random())  # at a random time, in the middle of an action
        killed.append(hall.kill_one(chance))
    view = hall.play_to_the_end()
    assert (hall.problems(view), hall.played()) == ([], hall.scripted()), killed


def test_network_failures_neither_lose_nor_duplicate_results(hall: Hall) -> None:
    hall.wait_for_plans()
    for table in TABLES[:2]:
        hall.proxies[table].swallow()
    for table in TABLES[2:]:
        hall.proxies[table].cut()
    hall.wait_for_news(10)  # the tables continue meanwhile
    for proxy in hall.proxies.values():
        proxy.heal()
    view = hall.play_to_the_end()
    assert (hall.problems(view), hall.played()) == ([], hall.scripted())


def test_a_table_with_a_new_card_continues_where_it_was(hall: Hall) -> None:
    hall.wait_for("table 2", "recorded")
    hall.wait_until_safe(2)
    hall.lose_journal("table 2")
    view = hall.play_to_the_end()
    assert (hall.problems(view), hall.played()) == ([], hall.scripted())


def test_a_scorer_that_lost_its_store_recovers_everything(hall: Hall) -> None:
    hall.wait_for("table 1", "recorded")
    hall.wait_until_safe(1)
    hall.lose_journal("scorer")
    view = hall.play_to_the_end()
    assert (hall.problems(view), hall.played()) == ([], hall.scripted())
