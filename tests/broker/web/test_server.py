"""The server: where it listens, and that it ends whatever its readers do."""

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
    """Read on to the next event of that name."""
    for line in lines:
        if line == f"event: {name}":
            next(lines)
            return msgspec.json.decode(next(lines).removeprefix("data: "), type=DashboardView)
    raise AssertionError("the stream ended")


def has_ended(desk: DeskServer) -> bool:
    """Stop a server and return whether it ends, however slow the machine is: no reader may keep it."""
    before = {one for one in threading.enumerate() if one.name == "desk"}
    desk.stop()
    for one in before:
        one.join(PATIENCE_S)
    return not any(one.is_alive() for one in before)


def test_a_reader_gets_the_newest_view_at_once_and_the_next_when_it_is_there(desk: DeskServer, feed: ViewFeed) -> None:
    with httpx.stream("GET", f"{desk.url}events", timeout=PATIENCE_S) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        lines = answer.iter_lines()
        first = data_of(lines, "view")
        feed.publish(sample.newer(first, plays_in=9))
        assert (first.version, data_of(lines, "view").plays_in) == (41, 9)


def test_a_reader_that_comes_back_gets_the_newest_view_even_when_it_had_it(desk: DeskServer) -> None:
    with httpx.stream("GET", f"{desk.url}events", timeout=PATIENCE_S, headers={"Last-Event-ID": "41"}) as answer:
        assert data_of(answer.iter_lines(), "view").version == 41


def test_a_page_gets_its_own_part_in_its_own_language(desk: DeskServer) -> None:
    with httpx.stream("GET", f"{desk.url}events?show=page&lang=fr", timeout=PATIENCE_S) as answer:
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == ["event: page", "id: 41"]
        assert any("Pour l’arbitre" in line for line in lines if line)


def test_the_server_ends_while_readers_listen(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=0)
    desk.start()
    with httpx.Client(timeout=PATIENCE_S) as client, client.stream("GET", f"{desk.url}events") as answer:
        lines = answer.iter_lines()
        data_of(lines, "view")
        assert has_ended(desk)
        assert [line for line in lines if line] == []


def test_the_server_ends_while_a_reader_takes_nothing(feed: ViewFeed) -> None:
    feed.publish(sample.newer(feed.current, title="x" * 10_000_000))  # more than fits on the way
    desk = DeskServer(feed, port=0)
    desk.start()
    port = int(desk.url.rstrip("/").rpartition(":")[2])
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", port))
        reader.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reader.recv(1)
        assert has_ended(desk)


def test_a_taken_port_is_said_by_its_code(desk: DeskServer, feed: ViewFeed) -> None:
    port = int(desk.url.rstrip("/").rpartition(":")[2])
    with pytest.raises(DeskPortTaken, match=f"port {port}") as refusal:
        DeskServer(feed, port=port).start()
    assert (refusal.value.code, isinstance(refusal.value, DeskError)) == ("desk_port_taken", True)


def test_an_address_of_another_machine_is_refused(feed: ViewFeed) -> None:
    with pytest.raises(AddressRefused):
        DeskServer(feed, host="192.0.2.1", port=0).start()


def test_starting_and_stopping_twice_is_the_same_as_once(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=reserve_port())
    desk.start()
    url = desk.url
    desk.start()
    assert (desk.url, httpx.get(f"{url}health").status_code) == (url, 200)
    assert has_ended(desk)
    desk.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}health")


def test_a_busy_machine_may_take_its_time_to_start_it(feed: ViewFeed, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_one_that_ends_while_it_is_started_is_said_by_its_code_and_its_port_is_free(
    feed: ViewFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise MemoryError

    desk = DeskServer(feed, port=reserve_port())
    with monkeypatch.context() as without:
        without.setattr(server, "compile_pages", fail)
        with pytest.raises(DeskStartFailed):
            desk.start()
    with desk:
        assert httpx.get(f"{desk.url}health").status_code == 200


def test_a_server_that_has_not_been_started_can_be_stopped(feed: ViewFeed) -> None:
    DeskServer(feed).stop()


def test_a_stopped_server_starts_again_on_its_port(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=reserve_port())
    desk.start()
    assert has_ended(desk)
    with desk:
        assert httpx.get(f"{desk.url}health").status_code == 200


def test_a_port_that_was_found_is_known_while_the_server_is_stopped(feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=0)
    with desk:
        found = desk.port
    assert (desk.port, found > 0) == (found, True)


def test_it_can_be_awaited_instead(feed: ViewFeed) -> None:
    async def steps() -> None:
        desk = DeskServer(feed, port=0)
        serving = asyncio.create_task(desk.serve())
        await asyncio.sleep(0)  # its first step: from here on it listens
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            assert (await client.get(f"{desk.url}health")).status_code == 200
        desk.stop()
        await asyncio.wait_for(serving, PATIENCE_S)

    event_loop.run(steps())


def test_its_url_is_one_that_a_browser_can_open(feed: ViewFeed) -> None:
    hosts = ("127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - only named, nothing listens
    assert [DeskServer(feed, host=host).url for host in hosts] == [
        "http://127.0.0.1:8136/",
        "http://[::1]:8136/",
        "http://localhost:8136/",
    ]
