"""Tables find the desk that announces itself; on loopback, by real packets."""

import queue
from typing import Final

import pytest

from broker.discovery import Announcement, DeskFinder, FoundDesk

LOOPBACK: Final = ["127.0.0.1"]
CUP: Final = FoundDesk("cup-2026", "127.0.0.1:8136")
LEAGUE: Final = FoundDesk("league", "127.0.0.1:8137")


@pytest.fixture
def heard() -> "queue.SimpleQueue[tuple[FoundDesk, ...]]":
    return queue.SimpleQueue()


def until(heard: "queue.SimpleQueue[tuple[FoundDesk, ...]]", wanted: tuple[FoundDesk, ...]) -> None:
    """Wait for what is told at last."""
    while heard.get(timeout=60) != wanted:
        pass


def test_desks_are_found_and_missed(heard: "queue.SimpleQueue[tuple[FoundDesk, ...]]") -> None:
    with Announcement("cup-2026", 8136, LOOPBACK):
        finder = DeskFinder(heard.put, LOOPBACK)
        until(heard, (CUP,))
        with Announcement("league", 8137, LOOPBACK):
            until(heard, (CUP, LEAGUE))
        until(heard, (CUP,))
    until(heard, ())
    finder.close()
    finder.close()
