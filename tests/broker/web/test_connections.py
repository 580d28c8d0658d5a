"""Limits on connections to the desk: how many may be open, and for how long one may be idle."""

import logging
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.scorer import ViewFeed
from broker.web import server
from broker.web.server import ConnectionLimits, Connections, DeskServer, TimedProtocol
from tests.broker.web import sample
from tests.patience import PATIENCE_S

HERE: Final = "127.0.0.1"


@pytest.fixture
def narrow() -> Iterator[DeskServer]:
    """Return a desk that lets each address hold three connections."""
    with DeskServer(ViewFeed(sample.view()), port=0, limits=ConnectionLimits(of_address=3, in_all=5)) as desk:
        yield desk


def port_of(desk: DeskServer) -> int:
    return httpx.URL(desk.url).port or 0


def connected(desk: DeskServer, *, source: str = HERE) -> socket.socket:
    """Open a connection from an address of this machine."""
    return socket.create_connection((HERE, port_of(desk)), PATIENCE_S, (source, 0))


def asks(one: socket.socket) -> bytes:
    """Send a request; return the beginning of the answer, or nothing if the connection was closed."""
    try:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return one.recv(12)
    except (BrokenPipeError, ConnectionResetError):
        return b""


@given(
    st.integers(1, 4),
    st.integers(1, 8),
    st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), max_size=40),
)
def test_the_limits_hold_and_a_closed_connection_makes_room(
    of_address: int, in_all: int, steps: list[tuple[bool, str]]
) -> None:
    counting, held = Connections(ConnectionLimits(of_address, in_all), lambda: 0.0), Counter[str]()
    for begins, address in steps:
        if begins:
            room = held[address] < of_address and held.total() < in_all
            assert counting.begin(address) is room
            held[address] += room
        elif held[address]:
            counting.end(address)
            held[address] -= 1
        assert counting.open == held.total()


def test_an_address_at_its_limit_does_not_keep_others_out(narrow: DeskServer) -> None:
    with ExitStack() as idle:
        for _ in range(10):
            idle.enter_context(connected(narrow))
        with connected(narrow) as turned_away:
            assert asks(turned_away) == b""
        with connected(narrow, source="127.0.0.2") as somebody_else:
            assert asks(somebody_else) == b"HTTP/1.1 200"


def test_many_addresses_together_stay_within_the_total_limit(narrow: DeskServer) -> None:
    with ExitStack() as idle:
        for number in range(2, 12):
            idle.enter_context(connected(narrow, source=f"127.0.0.{number}"))
        with connected(narrow, source="127.0.0.20") as turned_away:
            assert asks(turned_away) == b""
        assert narrow.connections.open <= 5


def test_a_client_that_disconnects_may_connect_again(narrow: DeskServer) -> None:
    for _ in range(12):
        with connected(narrow) as one:
            while not (
                answer := asks(one)
            ):  # the server needs a moment to notice that the previous connection has ended
                pass
            assert answer == b"HTTP/1.1 200"
            while one.recv(4096):
                pass


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /health HTTP/1.1\r\nHost: loc",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nname=",
    ],
    ids=["nothing", "half a header", "half a body"],
)
def test_a_client_that_never_completes_its_request_is_disconnected(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "REQUEST_S", 0.05)
    with DeskServer(ViewFeed(sample.view()), port=0) as desk, connected(desk) as slow:
        slow.sendall(begun)
        answer = b"before"
        while answer:
            try:
                answer = slow.recv(4096)
            except ConnectionResetError:
                answer = b""


def test_a_complete_request_has_no_timeout() -> None:
    with DeskServer(ViewFeed(sample.view()), port=0) as desk, httpx.stream("GET", f"{desk.url}events") as live:
        lines = live.iter_lines()  # a reference, because the client closes the connection when it is collected
        assert next(lines)
        assert desk._server is not None
        (connection,) = desk._server.server_state.connections
        assert isinstance(connection, TimedProtocol)
        assert connection._timer is None


def test_refused_connections_are_logged_at_most_once_per_interval(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    counting = Connections(ConnectionLimits(of_address=1, in_all=9), lambda: now[0])
    with caplog.at_level(logging.WARNING, "homologue.desk"):
        for _ in range(1_000):
            counting.begin(HERE)
        assert len(caplog.messages) == 1
        now[0] = server.LOG_INTERVAL_S
        counting.begin(HERE)
    assert "'turned_away': 999" in caplog.messages[1]
