"""The proxy does to messages only what a real network may do."""

import random
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.proxy import AGAIN, Proxy, split_packets
from tests.patience import PATIENCE_S


def publish(number: int) -> bytes:
    """Return a PUBLISH at QoS 1 on topic `t`, with a number as id and a long payload."""
    body = b"\x00\x01t" + number.to_bytes(2, "big") + b"x" * (number % 300)
    length = bytes([len(body)]) if len(body) < 128 else bytes([0x80 | len(body) % 128, len(body) // 128])
    return b"\x32" + length + body


PING = b"\xc0\x00"
SENT = [PING if number % 5 == 0 else publish(number) for number in range(1, 400)]


class Ends:
    """A client and a server with a proxy between them."""

    def __init__(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.proxy = Proxy(listener.getsockname()[1], mqtt=True)
        self.client = socket.create_connection(("127.0.0.1", self.proxy.port), timeout=PATIENCE_S)
        self.server, _ = listener.accept()
        self.server.settimeout(PATIENCE_S)
        listener.close()

    def received(self, least: int) -> list[bytes]:
        """Return what the server receives: at least so many different packets, until no data is in transit."""
        stream = b""
        while len({bytes([one[0] & ~AGAIN]) + one[1:] for one in split_packets(stream)[0]}) < least:
            stream += self.server.recv(65_536)
        packets, rest = split_packets(stream)
        assert rest == b""
        return packets

    def close(self) -> None:
        for one in (self.client, self.server):
            one.close()
        self.proxy.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.close()


def test_messages_arrive_at_least_once_some_twice_and_some_out_of_order(ends: Ends) -> None:
    ends.proxy.repeat_and_reorder(random.Random(1), 0.3)
    threading.Thread(target=ends.client.sendall, args=(b"".join(SENT),)).start()
    packets = ends.received(len(set(SENT)))
    first = [one for one in packets if not one[0] & AGAIN or one == PING]
    again = [bytes([one[0] & ~AGAIN]) + one[1:] for one in packets if one[0] & AGAIN and one != PING]
    assert sorted(first) == sorted(SENT)
    assert first != SENT
    assert 50 < len(again) == len(set(again))


def test_packets_are_separated_however_their_bytes_arrive() -> None:
    stream, found, rest = b"".join(SENT), list[bytes](), b""
    for at in range(0, len(stream), 7):
        packets, rest = split_packets(rest + stream[at : at + 7])
        found += packets
    assert (found, rest) == (SENT, b"")


def test_a_half_open_connection_loses_only_one_direction(ends: Ends) -> None:
    ends.proxy.swallow("up")
    ends.client.sendall(PING)
    ends.server.sendall(PING)
    assert ends.client.recv(10) == PING
    ends.server.settimeout(0.2)
    with pytest.raises(TimeoutError):
        ends.server.recv(10)
