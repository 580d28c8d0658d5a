"""A table finds the event's broker on the scorer's machine, or on its standby's."""

from pathlib import Path
from typing import Any

import pytest

from broker.protocol import ScorerState
from broker.protocol.link import Address, Link, Place
from kiosk.uplink import GONE_NS, Brokers

FIRST, SECOND = ("10.0.0.5", 1883), ("10.0.0.6", 1884)


class Roaming(Link):
    """A link that connects nowhere, and records where it was sent."""

    def __init__(self) -> None:
        super().__init__(Address(*FIRST, "table-1", "secret"), "table-1", [], lambda _: None)
        self.moves: list[Place] = []

    def move(self, place: Place) -> None:
        self.moves.append(place)
        self._broker = place


def state(**more: Any) -> ScorerState:  # noqa: ANN401 - any of its fields
    said: dict[str, Any] = {
        "lifecycle": "active",
        "run": "run-0001",
        "term": 1,
        "store": "store-0001",
        "version": "",
    } | more
    return ScorerState(id="state-0001", event="cup", seq=1, **said)


@pytest.fixture
def link() -> Roaming:
    return Roaming()


def test_an_announced_standby_is_known_at_a_start_without_the_scorer(link: Roaming, tmp_path: Path) -> None:
    brokers = Brokers(link, tmp_path)
    brokers.connected()
    brokers.take(state(standby="10.0.0.6:1884"), 0)
    again = Roaming()
    Brokers(again, tmp_path)
    assert (again.place, again._other_brokers) == (FIRST, [SECOND])


def test_a_table_follows_a_moved_scorer_and_starts_there_next_time(link: Roaming, tmp_path: Path) -> None:
    Brokers(link, tmp_path).take(state(moved="10.0.0.6:1884"), 0)
    assert link.moves == [SECOND]
    again = Roaming()
    Brokers(again, tmp_path)
    assert (again.place, again._other_brokers) == (SECOND, [FIRST])


@pytest.mark.parametrize(("after", "moves"), [(GONE_NS - 1, []), (GONE_NS, [SECOND])])
def test_another_address_is_tried_once_the_scorer_has_been_gone_for_a_while(
    link: Roaming, tmp_path: Path, after: int, moves: list[Place]
) -> None:
    brokers = Brokers(link, tmp_path)
    brokers.take(state(standby="10.0.0.6:1884"), 0)
    brokers.take(state(lifecycle="gone"), 0)
    brokers.due(after, silent=False)
    assert link.moves == moves


def test_an_outdated_message_that_a_scorer_is_gone_moves_no_table(link: Roaming, tmp_path: Path) -> None:
    brokers = Brokers(link, tmp_path)
    brokers.take(state(standby="10.0.0.6:1884", term=2), 0)
    brokers.take(state(lifecycle="gone", term=1), 0)
    brokers.due(GONE_NS, silent=False)
    assert link.moves == []
    brokers.connected()  # with another broker, whose scorer had started from an older copy
    brokers.take(state(lifecycle="gone", term=1), 0)
    brokers.due(GONE_NS, silent=False)
    assert link.moves == [SECOND]


def test_a_standby_without_a_term_sends_tables_back_to_the_other_address(link: Roaming, tmp_path: Path) -> None:
    brokers = Brokers(link, tmp_path)
    brokers.take(state(standby="10.0.0.6:1884", term=2), 0)
    brokers.take(state(lifecycle="gone", term=0), 0)
    brokers.due(GONE_NS, silent=False)
    assert link.moves == [SECOND]


def test_another_address_is_tried_if_the_scorer_is_silent(link: Roaming, tmp_path: Path) -> None:
    brokers = Brokers(link, tmp_path)
    brokers.due(0, silent=True)
    assert link.moves == []
    brokers.take(state(standby="10.0.0.6:1884"), 0)
    brokers.due(0, silent=True)
    assert link.moves == [SECOND]


def test_a_reconfigured_device_starts_at_the_new_address(link: Roaming, tmp_path: Path) -> None:
    (tmp_path / "brokers.json").write_text('[["10.0.0.9", 1883]]')
    Brokers(link, tmp_path)
    assert link.place == FIRST


@pytest.mark.parametrize("content", [b"", b"{}", b'[["host", "port"]]', b"\xff"])
def test_a_damaged_file_is_ignored(link: Roaming, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "brokers.json").write_bytes(content)
    Brokers(link, tmp_path)
    assert link.place == FIRST
