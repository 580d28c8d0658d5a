"""`Link` with real brokers of both kinds."""

import itertools
import os
import queue
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from broker.protocol import TOPICS, Topic, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, LinkRefused, Will
from tests.broker.mqtt.client import Heard
from tests.broker.mqtt.hall import EVENT, Hall, user_of
from tests.e2e.proxy import Proxy
from tests.patience import PATIENCE_S

NO_USE_LATER = [topic for topic in TOPICS if topic.qos == 0]


@contextmanager
def linked(hall: Hall, user: str) -> Iterator[Link]:
    """Yield a connected link, which disconnects at the end."""
    heard: queue.Queue[Incoming | LinkChanged] = queue.Queue()
    with begun(hall, user, hall.broker.port, heard) as link:
        change = heard.get(timeout=PATIENCE_S)
        assert isinstance(change, LinkChanged)
        assert change.up
        yield link


def link_of(hall: Hall, user: str, port: int, heard: queue.Queue[Incoming | LinkChanged]) -> Link:
    """Return a link that is not started."""
    listens = topics.LOG.at(EVENT) if user == "scorer" else topics.RECEIPT.at(EVENT, table=3)
    address = Address(hall.broker.host, port, user, hall.credentials.password(user))
    return Link(address, f"link-{hall.name}-{user}", [listens], heard.put)


@contextmanager
def begun(hall: Hall, user: str, port: int, heard: queue.Queue[Incoming | LinkChanged]) -> Iterator[Link]:
    """Yield a link that has started to connect, which disconnects at the end."""
    link = link_of(hall, user, port, heard)
    link.start()
    try:
        yield link
    finally:
        link.stop()


@pytest.mark.parametrize("topic", NO_USE_LATER, ids=lambda topic: topic.name)
def test_messages_at_qos_0_are_not_stored_for_an_absent_reader(hall: Hall, topic: Topic) -> None:
    place, reader, writer = topic.at(EVENT, table=3), user_of(topic.readers[0], 3), user_of(topic.writer, 3)
    session = hall.client(reader, session="away")
    session.subscribe(place)
    session.close()
    there = hall.listener("arbiter")
    with linked(hall, writer) as link:
        for number in range(50):
            link.publish(place, b"%d" % number, retain=topic.retain)
        there.hear_until(b"49", place)
    hall.await_retained(place, 3, b"49" if topic.retain else None)
    back = hall.client(reader, session="away")
    back.subscribe(place)
    hall.client(writer).say(place, b"end")
    kept = [Heard(place, b"49", retain=True)] if topic.retain else []
    assert back.hear_until(b"end", place) == kept
    hall.client(writer).say(place, b"", retain=True)


def stands_still(pid: int) -> bool:
    """Return whether all threads of a process have stopped."""
    threads = Path(f"/proc/{pid}/task").glob("*/stat")
    return all(one.read_text().rpartition(")")[2].split()[0] == "T" for one in threads)


def test_a_flush_waits_for_acknowledgements_of_earlier_messages(own_hall: Hall) -> None:
    with linked(own_hall, user_of("table", 3)) as link:
        pid = own_hall.broker.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        while not stands_still(pid):
            pass
        try:
            link.publish(topics.LOG.at(EVENT, table=3), b"a fact", retain=False)
            link.publish(topics.BEAT.at(EVENT, table=3), b"there", retain=False)
            assert not link.flush(0.2)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert link.flush(PATIENCE_S)


def test_small_messages_are_sent_without_delay(hall: Hall) -> None:
    """With Nagle's algorithm and delayed acknowledgements, each would wait for up to 40 ms."""
    with linked(hall, user_of("table", 3)) as link:
        connection = link._client.socket()
        assert isinstance(connection, socket.socket)
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_link_whose_subscription_is_refused_tries_again(hall: Hall) -> None:
    heard: queue.Queue[Incoming | LinkChanged] = queue.Queue()
    with closing(Proxy(hall.broker.port, mqtt=True)) as network:
        network.refuse_subscriptions(2)
        with begun(hall, "scorer", network.port, heard) as link:
            changes = [heard.get(timeout=PATIENCE_S) for _ in range(3)]
            assert [isinstance(one, LinkChanged) and (one.up, type(one.why)) for one in changes] == [
                (False, LinkRefused),
                (False, LinkRefused),
                (True, type(None)),
            ]
            assert link.up
            hall.client(user_of("table", 3)).say(topics.LOG.at(EVENT, table=3), b"a fact")
            came = heard.get(timeout=PATIENCE_S)
            assert isinstance(came, Incoming)
            assert came.payload == b"a fact"
            came.acknowledge()


def test_a_link_reports_an_error_on_its_thread_and_reconnects(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.protocol.link.LONGEST_RETRY_S", 0)
    heard: queue.Queue[Incoming | LinkChanged] = queue.Queue()
    fails = iter([True])

    def tell(news: Incoming | LinkChanged) -> None:
        if isinstance(news, Incoming) and next(fails, False):
            raise MemoryError("no room for a message")
        heard.put(news)

    address = Address(hall.broker.host, hall.broker.port, "scorer", hall.credentials.password("scorer"))
    link = Link(address, f"link-{hall.name}", [topics.LOG.at(EVENT)], tell)
    with ExitStack() as leaving:
        leaving.callback(link.stop)
        link.start()
        assert heard.get(timeout=PATIENCE_S) == LinkChanged(up=True)
        hall.client(user_of("table", 3)).say(topics.LOG.at(EVENT, table=3), b"a fact")
        down = heard.get(timeout=PATIENCE_S)
        assert isinstance(down, LinkChanged)
        assert "no room for a message" in str(down.why)
        news = [heard.get(timeout=PATIENCE_S) for _ in range(2)]
        assert LinkChanged(up=True) in news
        assert [one.payload for one in news if isinstance(one, Incoming)] == [b"a fact"]  # before or after reconnecting


def test_retained_messages_are_requested_again(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.protocol.link.RESUBSCRIBE_S", 0.0)
    place, table, heard = topics.RECEIPT.at(EVENT, table=3), user_of("table", 3), queue.Queue[Incoming | LinkChanged]()
    hall.client("scorer").say(place, b"retained", retain=True)
    hall.await_retained(place, 3, b"retained")
    with begun(hall, table, hall.broker.port, heard):
        came = list[bytes]()
        while len(came) < 2:
            if isinstance(news := heard.get(timeout=PATIENCE_S), Incoming):
                came.append(news.payload)
    assert came == [b"retained"] * 2
    hall.client("scorer").say(place, b"", retain=True)


def test_a_link_stopped_while_connecting_sends_disconnect(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    place, user = topics.STATE.at(EVENT, table=3), user_of("table", 3)
    connecting, left = threading.Event(), threading.Event()
    address = Address(hall.broker.host, hall.broker.port, user, hall.credentials.password(user))
    link = Link(address, f"link-{hall.name}", [], lambda _: None, Will(place, b"lost"), persistent=False)
    connect, disconnect = link._client._create_socket_connection, link._client.disconnect

    def connect_late() -> socket.socket:
        connecting.set()
        assert left.wait(PATIENCE_S)
        return connect()

    def disconnect_now() -> None:
        disconnect()
        left.set()

    monkeypatch.setattr(link._client, "_create_socket_connection", connect_late)
    monkeypatch.setattr(link._client, "disconnect", disconnect_now)
    arbiter = hall.listener("arbiter")
    link.start()
    assert connecting.wait(PATIENCE_S)
    link.stop()
    client = hall.client(user)
    client.retained.add(place)
    client.say(place, b"end")
    assert arbiter.hear_until(b"end", place) == []


def test_a_link_stopped_while_subscribing_again_waits_for_it(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.protocol.link.RESUBSCRIBE_S", 0.0)
    again, closed, left = threading.Event(), threading.Event(), threading.Event()
    link = link_of(hall, user_of("table", 3), hall.broker.port, queue.Queue())
    client = link._client
    subscribe, disconnect, close, calls = client.subscribe, client.disconnect, client.reinitialise, itertools.count()

    def subscribing(topics: list[tuple[str, int]]) -> None:
        if next(calls):
            again.set()
            left.wait(PATIENCE_S)
            assert not closed.wait(0.1)
        subscribe(topics)

    def leaving() -> None:
        disconnect()
        left.set()

    def closing_sockets() -> None:
        closed.set()
        close()

    monkeypatch.setattr(client, "subscribe", subscribing)
    monkeypatch.setattr(client, "disconnect", leaving)
    monkeypatch.setattr(client, "reinitialise", closing_sockets)
    link.start()
    try:
        assert again.wait(PATIENCE_S)
    finally:
        link.stop()
    assert closed.is_set()
