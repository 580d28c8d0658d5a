"""Tables find a desk that announces itself, by real packets on the loopback interface."""

import asyncio
import os
import queue
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest
from ifaddr import IP, Adapter
from zeroconf import ServiceInfo, Zeroconf
from zeroconf._dns import DNSPointer
from zeroconf._protocol.outgoing import DNSOutgoing

from broker.discovery import SERVICE, DeskAnnouncement, DeskFinder, FoundDesk, own_addresses
from tests.patience import PATIENCE_S

LOOPBACK: Final = ["127.0.0.1"]
CUP: Final = FoundDesk(f"cup-{os.getpid()}", "127.0.0.1:8136")
LEAGUE: Final = FoundDesk(f"league-{os.getpid()}", "127.0.0.1:8137")
"""The process id is in the names because other processes may run this test at the same time."""

ANSWER, PTR, IN = 0x8400, 12, 1
"""From RFC 1035: the flags of an answer, a record type and its class."""


@pytest.fixture(autouse=True)
def _own_loop() -> Iterator[None]:
    """Hide the event loop of a browser's driver (tests/event_loop.py): mDNS would wait for it, but it does not run."""
    of_a_browser = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(of_a_browser)


class Heard:
    """The desks of this process, as reported to a table."""

    def __init__(self) -> None:
        self._told = queue.SimpleQueue[set[FoundDesk]]()

    def tell(self, desks: tuple[FoundDesk, ...]) -> None:
        self._told.put({*desks} & {CUP, LEAGUE})

    def next(self) -> set[FoundDesk]:
        return self._told.get(timeout=PATIENCE_S)

    def until(self, *wanted: FoundDesk) -> None:
        """Wait until exactly these desks are reported."""
        while self.next() != {*wanted}:
            pass


def test_no_loopback_address_is_announced_as_this_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ips = [IP(ip, 24, "lo") for ip in ("127.0.0.1", "127.0.1.1", "192.0.2.7", ("::1", 0, 0))]
    monkeypatch.setattr("ifaddr.get_adapters", lambda: [Adapter("lo", "lo", ips)])
    assert own_addresses() == ["192.0.2.7"]


def test_desks_that_appear_and_disappear_are_reported() -> None:
    heard = Heard()
    with DeskAnnouncement(CUP.event, 8136, LOOPBACK):
        finder = DeskFinder(heard.tell, LOOPBACK)
        heard.until(CUP)
        with DeskAnnouncement(LEAGUE.event, 8137, LOOPBACK):
            heard.until(CUP, LEAGUE)
        heard.until(CUP)
    heard.until()
    finder.close()
    finder.close()


def test_an_announced_desk_that_does_not_answer_at_first_is_queried_again() -> None:
    heard, name = Heard(), f"{CUP.event}.{SERVICE}"
    where = ServiceInfo(
        SERVICE, name, 8136, addresses=[socket.inet_aton("127.0.0.1")], properties={"event": CUP.event}, server=name
    )
    with closing(DeskFinder(heard.tell, LOOPBACK)), closing(Zeroconf(interfaces=LOOPBACK)) as busy:
        announced = DNSOutgoing(ANSWER)
        announced.add_answer_at_time(DNSPointer(SERVICE, PTR, IN, 4500, name), 0)
        busy.send(announced)
        assert heard.next() == set()
        busy.registry.async_add(where)  # from now on it answers queries, without another announcement
        heard.until(CUP)
