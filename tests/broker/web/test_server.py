"""The server: where it listens, and that it stops whatever its readers do."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import httpx
import msgspec
import pytest

from broker.cli.standby import reserve_port
from broker.scorer import DashboardView, ViewFeed
from broker.web import server
from broker.web.errors import AddressRefused, DeskError, DeskPortTaken, DeskStartFailed
from broker.web.server import DeskServer
from tests import event_loop
from tests.broker.web import sample
from tests.patience import PATIENCE_S


def data_of(lines: Iterator[str], name: str) -> DashboardView:
    """Read up to the next event of that name and return its data."""
    for line in lines:
        if line == f"event: {name}":
            next(lines)
            return msgspec.json.decode(next(lines).removeprefix("data: "), type=DashboardView)
    raise AssertionError("the stream ended")


def has_ended(desk: DeskServer) -> bool:
    """Stop a server and return whether its threads end. Readers must not prevent that; slow machines get time."""
    before = {one for one in threading.enumerate() if one.name == "desk"}
    desk.stop()
    for one in before:
        one.join(PATIENCE_S)
    return not any(one.is_alive() for one in before)


def test_a_reader_gets_the_newest_view_and_then_each_new_one(desk: DeskServer, feed: ViewFeed) -> None:
    with httpx.stream("GET", f"{desk.url}events", timeout=PATIENCE_S) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        lines = answer.iter_lines()
        first = data_of(lines, "view")
        feed.publish(sample.newer(first, plays_in=9))
        assert (first.version, data_of(lines, "view").plays_in) == (41, 9)


def test_a_reconnecting_reader_gets_the_newest_view_again(desk: DeskServer) -> None:
    with httpx.stream("GET", f"{desk.url}events", timeout=PATIENCE_S, headers={"Last-Event-ID": "41"}) as answer:
        assert data_of(answer.iter_lines(), "view").version == 41


def test_a_page_stream_is_in_the_requested_language(desk: DeskServer) -> None:
    with httpx.stream("GET", f"{desk.url}events?show=page&lang=fr", timeout=PATIENCE_S) as answer:
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == ["event: page", "id: 41"]
        assert any("Pour l’arbitre" in line for line in lines if line)


def test_the_server_stops_while_streams_are_open(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=0)
    desk.start()
    with httpx.Client(timeout=PATIENCE_S) as client, client.stream("GET", f"{desk.url}events") as answer:
        lines = answer.iter_lines()
        data_of(lines, "view")
        assert has_ended(desk)
        assert [line for line in lines if line] == []


def test_the_server_stops_although_a_reader_does_not_read(feed: ViewFeed) -> None:
    feed.publish(sample.newer(feed.current, title="x" * 10_000_000))  # more than the socket buffers hold
    desk = DeskServer(feed, port=0)
    desk.start()
    port = int(desk.url.rstrip("/").rpartition(":")[2])
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", port))
        reader.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reader.recv(1)
        assert has_ended(desk)


def test_a_taken_port_raises_its_error(desk: DeskServer, feed: ViewFeed) -> None:
    port = int(desk.url.rstrip("/").rpartition(":")[2])
    with pytest.raises(DeskPortTaken, match=f"port {port}") as refusal:
        DeskServer(feed, port=port).start()
    assert (refusal.value.code, isinstance(refusal.value, DeskError)) == ("desk_port_taken", True)


def test_an_address_of_another_machine_cannot_be_listened_on(feed: ViewFeed) -> None:
    with pytest.raises(AddressRefused):
        DeskServer(feed, host="192.0.2.1", port=0).start()


def test_starting_or_stopping_twice_has_no_further_effect(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=reserve_port())
    desk.start()
    url = desk.url
    desk.start()
    assert (desk.url, httpx.get(f"{url}health").status_code) == (url, 200)
    assert has_ended(desk)
    desk.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}health")


def test_a_slow_start_is_waited_for(feed: ViewFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    looked, is_alive = threading.Event(), threading.Thread.is_alive

    def look(thread: threading.Thread) -> bool:
        looked.set()
        return is_alive(thread)

    monkeypatch.setattr(threading.Thread, "is_alive", look)
    monkeypatch.setattr(server, "compile_pages", lambda: looked.wait(PATIENCE_S))
    with DeskServer(feed, port=0) as desk:
        assert looked.is_set()
        assert httpx.get(f"{desk.url}health").status_code == 200


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_failed_start_raises_its_error_and_frees_the_port(feed: ViewFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise MemoryError

    desk = DeskServer(feed, port=reserve_port())
    with monkeypatch.context() as without:
        without.setattr(server, "compile_pages", fail)
        with pytest.raises(DeskStartFailed):
            desk.start()
    with desk:
        assert httpx.get(f"{desk.url}health").status_code == 200


def test_a_server_that_was_never_started_can_be_stopped(feed: ViewFeed) -> None:
    DeskServer(feed).stop()


def test_a_stopped_server_can_start_again_on_its_port(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=reserve_port())
    desk.start()
    assert has_ended(desk)
    with desk:
        assert httpx.get(f"{desk.url}health").status_code == 200


def test_an_assigned_port_is_remembered_after_stopping(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=0)
    with desk:
        found = desk.port
    assert (desk.port, found > 0) == (found, True)


def test_the_server_can_be_awaited_in_a_running_loop(feed: ViewFeed) -> None:
    async def steps() -> None:
        desk = DeskServer(feed, port=0)
        serving = asyncio.create_task(desk.serve())
        await asyncio.sleep(0)  # after its first step it listens
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            assert (await client.get(f"{desk.url}health")).status_code == 200
        desk.stop()
        await asyncio.wait_for(serving, PATIENCE_S)

    event_loop.run(steps())


def test_the_url_can_be_opened_in_a_browser(feed: ViewFeed) -> None:
    hosts = ("127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - only a name, nothing listens
    assert [DeskServer(feed, host=host).url for host in hosts] == [
        "http://127.0.0.1:8136/",
        "http://[::1]:8136/",
        "http://localhost:8136/",
    ]
