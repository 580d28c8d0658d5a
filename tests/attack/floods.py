"""Floods of connections, requests, wrong passwords and false devices, while scoring must go on."""

import fcntl
import os
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Final

import httpx
import pytest

from broker.protocol import SigningKey, topics
from broker.protocol.pairing import PATH, PairingOffer, new_salt
from broker.sim.demo_event import NAME
from kiosk.errors import KioskError
from kiosk.pairing import exchange
from kiosk.pairing.exchange import request_pairing
from tests.attack.ledger import Ledger
from tests.attack.routes import code_of
from tests.attack.target import PASSWORD, STOLEN, Target
from tests.broker.web.tables.test_pairing import code_on, opened
from tests.patience import PATIENCE_S

# A device gives up after ten seconds, which may be too short with thirty busy processes on the machine.
pytest.MonkeyPatch().setattr(exchange, "TIMEOUT_S", PATIENCE_S)

FLOODS: Final = "floods and slow clients"

IDLE: Final = 1_000
ALONE: Final = 1_400
"""More connections than the desk holds of all addresses together."""

SLOW: Final = 100
READERS: Final = 60
ASKING: Final = 40
LAPTOPS: Final = 13
WRONG: Final = 65
FALSE_DEVICES: Final = 210
OF_EACH: Final = 10
"""Pairing requests of one address that the desk answers. It slows down after two hundred from all addresses."""

UNPAIRED: Final = 3
"""The number of a table without a device."""

STREAK: Final = 3_000
"""Messages that one table sends without a pause."""

ABOVE_SELECT: Final = 1_024
LOG_LINES: Final = 200
"""Most log lines of scorer and desk during all floods."""


@contextmanager
def many_files() -> Iterator[None]:
    """Raise this process's limit of open files to the maximum."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def hold(target: Target, ledger: Ledger) -> None:
    """Hold connections whose clients send nothing, send slowly, or do not read."""
    with many_files():
        _during(
            target,
            ledger,
            {
                f"{IDLE} idle connections with the broker": partial(_idle, at="broker", count=IDLE, addresses=LAPTOPS),
                f"{ALONE} idle connections of one address with the desk": partial(
                    _idle, at="desk", count=ALONE, addresses=1
                ),
                f"{IDLE} idle connections of {LAPTOPS} addresses with the desk": partial(
                    _idle, at="desk", count=IDLE, addresses=LAPTOPS
                ),
                f"{SLOW} clients that send a request byte by byte": _slow,
                f"{READERS} live pages that nobody reads": _unread,
            },
        )


def ask(target: Target, ledger: Ledger) -> None:
    """Send requests and messages without a pause, and guess codes and passwords."""
    _during(
        target,
        ledger,
        {
            f"{ASKING} clients that ask without end": _asking,
            f"{STREAK} messages of one table in a row": _streak,
        },
    )
    wrong = _false_devices(target)
    ledger.tried(FLOODS, f"{FALSE_DEVICES} devices without the code", held=not wrong, why=wrong)
    wrong = _wrong_passwords(target)
    ledger.tried(FLOODS, f"{WRONG} wrong passwords from {LAPTOPS} addresses", held=not wrong, why=wrong)


def _during(target: Target, ledger: Ledger, kinds: dict[str, Callable[[Target, ExitStack], None]]) -> None:
    """Run the floods in turn; during each, a table's facts must be receipted and another visitor answered."""
    said = len(target.log)
    for name, begin in kinds.items():
        with ExitStack() as leaving:
            begin(target, leaving)
            wrong = target.unwell()
        ledger.tried(FLOODS, name, held=not wrong, why=wrong)
    lines = len(target.log) - said
    ledger.tried(FLOODS, "the log stays short", held=lines < LOG_LINES, why=f"{lines} lines")


def _idle(target: Target, leaving: ExitStack, *, at: str, count: int, addresses: int) -> None:
    """Hold idle connections."""
    for number in range(count):
        with suppress(OSError), target.link(at, laptop(number % addresses)) as one:
            leaving.callback(os.close, _high(one))


def _high(one: socket.socket) -> int:
    """Duplicate a socket to a high file number, because paho uses select(), which fails from 1,024."""
    return fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, ABOVE_SELECT)


def laptop(number: int) -> str:
    """Return one of the attackers' addresses on this machine."""
    return f"127.6.0.{number + 1}"


@contextmanager
def _each(count: int, work: Callable[[int, threading.Event], None]) -> Iterator[None]:
    """Run `work` in `count` threads until the block ends."""
    stop = threading.Event()
    with ThreadPoolExecutor(count) as threads:
        for number in range(count):
            threads.submit(work, number, stop)
        try:
            yield
        finally:
            stop.set()


def _slow(target: Target, leaving: ExitStack) -> None:
    """Send requests byte by byte that never end."""

    def drip(number: int, stop: threading.Event) -> None:
        while not stop.is_set():
            with suppress(OSError), target.opened("desk", laptop(number % LAPTOPS)) as one:
                one.sendall(b"GET /login HTTP/1.1\r\nHost: localhost\r\nX: ")
                while not stop.wait(0.2):
                    one.sendall(b"a")

    leaving.enter_context(_each(SLOW, drip))


def _unread(target: Target, leaving: ExitStack) -> None:
    """Open event streams of a logged-in user, and read nothing from them."""
    with target.logged_in("display") as browser:
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    asked = f"GET /events HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Firefox\r\nCookie: {cookie}\r\n\r\n"
    for number in range(READERS):
        one = leaving.enter_context(target.opened("desk", laptop(number % LAPTOPS)))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        one.sendall(asked.encode())


def _asking(target: Target, leaving: ExitStack) -> None:
    """Request public and protected pages without a pause."""

    def asks(number: int, stop: threading.Event) -> None:
        with target.browser(address=laptop(number % LAPTOPS)) as visitor:
            while not stop.is_set():
                with suppress(httpx.HTTPError):
                    visitor.get(("/login", "/receipt/ABCDEFG", "/view.json", "/static/desk.js")[number % 4])

    leaving.enter_context(_each(ASKING, asks))


def _streak(target: Target, leaving: ExitStack) -> None:
    """Send meaningless messages without a pause."""
    intruder = leaving.enter_context(target.client(f"table-{STOLEN}"))
    intruder.connect()
    topic = topics.LOG.at(NAME, table=STOLEN)
    for number in range(STREAK):
        intruder.throw(topic, b'{"schema":1,"id":"streak-%d"}' % number)


def _false_devices(target: Target) -> str:
    """Request pairing with wrong proofs from many addresses; return why the right device is then refused, if so."""

    def guesses(number: int) -> set[str]:
        with target.browser(address=laptop(number)) as device:
            said = ({"proof": "f" * 64, "machine": "laptop", "salt": new_salt()} for _ in range(OF_EACH))
            return {code_of(device.post(PATH, json=one)) for one in said}

    with target.logged_in("head_arbiter") as browser:
        code = code_on(opened(browser, tables=str(UNPAIRED)), UNPAIRED)
    laptops = FALSE_DEVICES // OF_EACH
    with ThreadPoolExecutor(laptops) as threads:
        answers = set().union(*threads.map(guesses, range(laptops)))
    if "pairing_unknown" not in answers or answers - {"pairing_unknown", "pairing_delayed", "pairing_busy"}:
        return f"a wrong proof is answered {sorted(answers)}"
    try:
        paired = request_pairing(PairingOffer(target.desk.host, target.desk.port, code), SigningKey.new())
    except KioskError as refused:
        return f"the right device is refused: {refused}"
    return target.unwell() if paired.table == UNPAIRED else f"it is paired with table {paired.table}"


def _wrong_passwords(target: Target) -> str:
    """Guess the head arbiter's password from many addresses; return why the head arbiter is then refused, if so."""

    def guess(number: int) -> None:
        for tries in range(WRONG // LAPTOPS):
            form = {"name": "head_arbiter", "password": f"{PASSWORD} {tries}"}
            with target.browser(address=laptop(number), agent=f"laptop {number}") as browser:
                answer = browser.post("/login", data=form)
                if answer.status_code == httpx.codes.SEE_OTHER:
                    raise RuntimeError("a wrong password lets in")

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(guess, range(LAPTOPS)))
    try:
        with target.logged_in("head_arbiter"):
            return target.unwell()
    except RuntimeError as why:
        return str(why)
