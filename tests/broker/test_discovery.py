"""Tables find the desk that announces itself; on loopback, by real packets."""

import queue
import socket
from contextlib import closing
from typing import Final

import pytest
from zeroconf import ServiceInfo, Zeroconf
from zeroconf._dns import DNSPointer
from zeroconf._protocol.outgoing import DNSOutgoing

from broker.discovery import SERVICE, Announcement, DeskFinder, FoundDesk
from tests.patience import PATIENCE_S

LOOPBACK: Final = ["127.0.0.1"]
CUP: Final = FoundDesk("cup-2026", "127.0.0.1:8136")
LEAGUE: Final = FoundDesk("league", "127.0.0.1:8137")
ANSWER, PTR, IN = 0x8400, 12, 1
"""Of RFC 1035: flags of an answer, a record's type, and its class."""


@pytest.fixture
def heard() -> "queue.SimpleQueue[tuple[FoundDesk, ...]]":
    return queue.SimpleQueue()


def until(heard: "queue.SimpleQueue[tuple[FoundDesk, ...]]", wanted: tuple[FoundDesk, ...]) -> None:
    """Wait for what is told at last."""
    while heard.get(timeout=PATIENCE_S) != wanted:
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


def test_a_desk_that_is_announced_and_answers_no_question_at_first_is_asked_again(
    heard: "queue.SimpleQueue[tuple[FoundDesk, ...]]",
) -> None:
    name = f"cup-2026.{SERVICE}"
    where = ServiceInfo(
        SERVICE, name, 8136, addresses=[socket.inet_aton("127.0.0.1")], properties={"event": "cup-2026"}, server=name
    )
    with closing(DeskFinder(heard.put, LOOPBACK)), closing(Zeroconf(interfaces=LOOPBACK)) as busy:
        announced = DNSOutgoing(ANSWER)
        announced.add_answer_at_time(DNSPointer(SERVICE, PTR, IN, 4500, name), 0)
        busy.send(announced)
        assert heard.get(timeout=PATIENCE_S) == ()
        busy.registry.async_add(where)  # it answers from now on, and announces nothing more
        until(heard, (CUP,))
