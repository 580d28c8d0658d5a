"""Malformed packets, requests and messages, which broker, desk and scorer must refuse without failing."""

import random
import socket
from contextlib import suppress
from typing import Final

from broker.mqtt.process import PAYLOAD_LIMIT
from broker.sim.demo_event import NAME
from tests.attack.ledger import Ledger
from tests.attack.target import HONEST, STOLEN, Target
from tests.attack.topics import Ears, end
from tests.broker.mqtt.client import Client

AT_BROKER: Final = "broker: malformed packets"
AT_DESK: Final = "desk: malformed requests"

READ_S: Final = 2.0
"""Seconds to wait for an answer. A request that never ends may also get none."""

MARK: Final = b"said in a packet that is none"
RANDOM: Final = 40


def text(words: bytes | str) -> bytes:
    """Return an MQTT string."""
    raw = words.encode() if isinstance(words, str) else words
    return len(raw).to_bytes(2, "big") + raw


def packet(kind: int, body: bytes) -> bytes:
    """Return a packet with its length."""
    length, rest = bytearray(), len(body)
    while True:
        length.append(rest % 128 | (0x80 if rest > 127 else 0))
        rest //= 128
        if not rest:
            return bytes([kind]) + bytes(length) + body


def connect(
    login: tuple[str, str] | None,
    *,
    name: str = "MQTT",
    level: int = 4,
    flags: int = 0b0000_0010,
    session: str = "attacker",
    will: bytes = b"",
) -> bytes:
    """Return a CONNECT packet."""
    head = text(name) + bytes([level, flags | (0b1100_0000 if login else 0)]) + (10).to_bytes(2, "big") + text(session)
    return packet(0x10, head + will + b"".join(text(word) for word in login or ()))


def unknown_packets(login: tuple[str, str] | None) -> dict[str, bytes]:
    """Return packets of a client that has not authenticated."""
    others = f"hm/{NAME}/receipt/{HONEST}"
    hello = connect(login)
    return {
        "zeros": b"\0" * 1000,
        "HTTP": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
        "publish before CONNECT": packet(0x30, text(others) + MARK),
        "subscribe before CONNECT": packet(0x82, b"\0\1" + text("#") + b"\1"),
        "an unknown protocol": connect(login, name="MQXX"),
        "an unknown version": connect(login, level=99),
        "a reserved flag": connect(login, flags=0b0000_0011),
        "a user that is not there": packet(0x10, text("MQTT") + b"\x04\xc2\0\x0a" + text("x")),
        "a length without end": b"\x10" + b"\xff" * 8,
        "a length of 256 MB": b"\x10\xff\xff\xff\x7f" + b"x" * 1000,
        "half a CONNECT": hello[: len(hello) // 2],
        "a name that is no UTF-8": packet(
            0x10, text("MQTT") + b"\x04\xc2\0\x0a" + text(b"\xff\xfe") + text(b"\xc0\x80") * 2
        ),
        "version 5 with properties that are none": packet(
            0x10, text("MQTT") + b"\x05\xc2\0\x0a\xff\xff\xff\x7f" + text("x")
        ),
    } | {
        f"a will for {place}": connect(
            login,
            flags=0b0010_1110 if retain else 0b0000_1110,
            session=f"will-{number}",
            will=text(place) + text(MARK),
        )
        for number, (place, retain) in enumerate(
            [(others, False), (f"hm/{NAME}/order/{HONEST}", True), (f"hm/{NAME}/alert", True)]
        )
    }


def known_packets() -> dict[str, bytes]:
    """Return packets of a client that has the password of a table."""
    log, others = f"hm/{NAME}/table/{STOLEN}/log", f"hm/{NAME}/receipt/{HONEST}"
    return {
        "publish to a wildcard": packet(0x30, text("hm/#") + MARK),
        "publish to one level of all": packet(0x30, text(f"hm/{NAME}/receipt/+") + MARK),
        "publish to nothing": packet(0x30, text("") + MARK),
        "publish to NUL": packet(0x30, text(f"{others}\0") + MARK),
        "publish to what is no UTF-8": packet(0x30, text(b"hm/\xff\xfe") + MARK),
        "publish with QoS 3": packet(0x36, text(log) + b"\0\1" + MARK),
        "publish with number 0": packet(0x32, text(others) + b"\0\0" + MARK),
        "publish with QoS 2 to others": packet(0x34, text(others) + b"\0\7" + MARK) + packet(0x62, b"\0\7"),
        "publish a topic longer than the packet": packet(0x30, b"\xff\xff" + b"x"),
        "publish more than anybody takes": packet(0x32, text(log) + b"\0\1" + b"x" * (PAYLOAD_LIMIT + 1)),
        "publish what never comes": b"\x32\xff\xff\x7f" + text(log) + b"\0\1",
        "subscribe to nothing": packet(0x82, b"\0\1"),
        "subscribe with `#` in the middle": packet(0x82, b"\0\1" + text("hm/#/x") + b"\1"),
        "subscribe with QoS 3": packet(0x82, b"\0\1" + text(others) + b"\3"),
        "subscribe with wrong flags": packet(0x80, b"\0\1" + text(others) + b"\1"),
        "subscribe to a thousand levels": packet(0x82, b"\0\1" + text("/".join("+" * 1000)) + b"\1"),
        "acknowledge what was never sent": packet(0x40, b"\x30\x39") + packet(0x62, b"\x30\x39"),
        "CONNECT again": connect(("table-1", "x"), session="again"),
        "a ping with a body": packet(0xC0, b"body"),
        "packet 0": packet(0x00, b""),
        "packet 15": packet(0xF0, b"\0\0"),
        "an acknowledgement of a connection": packet(0x20, b"\0\0"),
    }


def at_broker(target: Target, ledger: Ledger, chance: random.Random) -> None:
    """Send each on its own connection: nobody may receive anything from it, and a table's facts must be receipted."""
    user = f"table-{STOLEN}"
    login = target.login(user)
    hello = connect(login)
    cases = unknown_packets(login)
    cases |= {f"{name}, after CONNECT": hello + raw for name, raw in known_packets().items()}
    for number in range(RANDOM):
        base = bytearray(chance.choice([*cases.values()])[:400])
        for _ in range(chance.randrange(1, 6)):
            base[chance.randrange(len(base))] = chance.randrange(256)
        cases[f"random changes {number}"] = bytes(base)
    fell: dict[str, str] = {}
    with Ears(target) as ears:
        for name, raw in cases.items():
            exchange(target.opened("broker", user=user), raw, wait_s=0.05)
            if wrong := target.pulse():
                fell[name] = wrong
        writers: dict[str, Client] = {}
        end(target, writers)
        if any(MARK in payload for payload in ears.until_end()):
            fell["what was said in all of them"] = "somebody heard it"
        for client in writers.values():
            client.close()
    ledger.tried_all(AT_BROKER, [*cases, "what was said in all of them"], fell)


def exchange(link: socket.socket, raw: bytes, *, wait_s: float = READ_S) -> bytes:
    """Send bytes; return the answer until the other side closes the connection or falls silent."""
    answer = b""
    with link, suppress(OSError):
        link.settimeout(wait_s)
        link.sendall(raw)
        while more := link.recv(65_536):
            answer += more
    return answer


HOST: Final = b"Host: localhost\r\n"
GET: Final = b"GET /login HTTP/1.1\r\n" + HOST

SECRETS: Final = ("root:", "-----BEGIN", "SQLite format", '"users"')
"""Contents of private files."""

TRAVERSALS: Final = (
    "/static/../../../../../../etc/passwd",
    "/static/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/static//etc/passwd",
    "/static/%00/etc/passwd",
    "/static/....//....//etc/passwd",
    "/static/..%5c..%5cetc%5cpasswd",
    "/exports/..%2fcredentials.json",
    "/exports/../credentials.json",
    "/exports/%2e%2e%2fdeals.json",
    "/exports/scorer.sqlite",
    "/exports/deals.json",
    "//etc/passwd",
    "/login/../setup/../../deals.json",
)


def desk_requests(cookie: bytes) -> dict[str, bytes]:
    """Return malformed requests, and requests for private files, sent by a head arbiter."""
    return {
        "zeros": b"\0" * 1000,
        "a method alone": b"GET\r\n\r\n",
        "another protocol": b"GET /login HTTP/9.9\r\n" + HOST + b"\r\n",
        "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
        "an address of 100,000 letters": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        "a header of 200,000 letters": GET + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
        "20,000 headers": GET + b"X: y\r\n" * 20_000 + b"\r\n",
        "a blank in a header's name": GET + b"X y: z\r\n\r\n",
        "a folded header": GET + b"X: a\r\n b\r\n\r\n",
        "a length below nothing": b"POST /login HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n",
        "a length that is none": b"POST /login HTTP/1.1\r\n" + HOST + b"Content-Length: many\r\n\r\n",
        "two lengths": b"POST /login HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        "a length and chunks": b"POST /login HTTP/1.1\r\n"
        + HOST
        + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /people HTTP/1.1\r\n\r\n",
        "chunks that are none": b"POST /login HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
        "a chunk without end": b"POST /login HTTP/1.1\r\n"
        + HOST
        + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nx",
        "an encoding that nobody knows": b"POST /login HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, x\r\n\r\n",
        "no host": b"GET /login HTTP/1.1\r\n\r\n",
        "two hosts": b"GET /login HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "another host": b"GET /login HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "a proxy's request": b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "a tunnel": b"CONNECT evil.example:25 HTTP/1.1\r\nHost: evil.example:25\r\n\r\n",
        "a web socket": GET.replace(b"/login", b"/view.json")
        + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n",
        "a header in the address": b"GET /login?lang=%0d%0aSet-Cookie:%20mallory=1 HTTP/1.1\r\n" + HOST + b"\r\n",
    } | {
        f"GET {path}": b"GET %b HTTP/1.1\r\n%bCookie: %b\r\nUser-Agent: Firefox\r\nConnection: close\r\n\r\n"
        % (path.encode(), HOST, cookie)
        for path in TRAVERSALS
    }


NOT_OURS: Final = ("no host", "two hosts", "another host", "a proxy's request", "a tunnel")
"""Requests that must not be answered as ours; otherwise a foreign page could read our answers."""


def at_desk(target: Target, ledger: Ledger, chance: random.Random) -> None:
    """Send each request: none may return a private file, fail in the desk or be answered twice; the desk goes on."""
    with target.logged_in("head_arbiter") as browser:
        cookie = f"{target.cookie}={browser.cookies[target.cookie]}".encode()
        cases = desk_requests(cookie)
        for number in range(RANDOM):
            base = bytearray(chance.choice([*cases.values()])[:600])
            for _ in range(chance.randrange(1, 9)):
                base[chance.randrange(len(base))] = chance.randrange(256)
            cases[f"random changes {number}"] = bytes(base)
        for name, raw in cases.items():
            answer = exchange(target.opened("desk"), raw, wait_s=0.3).decode("latin-1")
            ledger.tried(AT_DESK, name, held=not (why := _wrong(name, answer)), why=why)
        ledger.tried(AT_DESK, "the desk goes on", held=not (why := target.unwell()), why=why)


def _wrong(name: str, answer: str) -> str:
    heads = [line for line in answer.split("\r\n") if line.startswith("HTTP/1.1 ")]
    if any(line.startswith("HTTP/1.1 5") for line in heads):
        return f"answered {heads[0]}"
    if any(secret in answer for secret in SECRETS):
        return "something of a file came back"
    if "mallory=1" in answer.partition("\r\n\r\n")[0]:
        return "its header came back"
    if name == "a length and chunks" and len(heads) > 1:
        return "answered twice"
    if name in NOT_OURS and any(line.startswith("HTTP/1.1 2") for line in heads):
        return f"answered {heads[0]}"
    return ""
