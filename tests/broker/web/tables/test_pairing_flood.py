"""A flood of wrong pairing requests: pages still answer, and a device with the right code is paired."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from broker.protocol.pairing import PATH, PairingKeys
from broker.web.errors import PairingBusy
from broker.web.tables import pairing_codes
from broker.web.tables.pairing_codes import MOST_OF_NETWORK, PairingTurns
from tests import event_loop
from tests.broker.people.conftest import quick_hashes
from tests.broker.web.tables.test_pairing import FREE, SALT, Bench, asking, cheap_keys, code_on, opened
from tests.broker.web.test_auth import logged_in
from tests.patience import PATIENCE_S

NETWORKS, OF_EACH = 21, 10
"""The numbers of an attack that was carried out from one laptop."""

WAIT_S: Final = PATIENCE_S
BUSY: Final = 503


class Work:
    """Key derivation that lasts until the test sets `may_end`."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.at_once, self.most_at_once, self.lock = 0, 0, threading.Lock()

    def keys(self, code: str, seen: str, salt: str) -> PairingKeys:
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        self.may_end.wait(WAIT_S)
        with self.lock:
            self.at_once -= 1
        return cheap_keys(code, seen, salt)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    made = Work()
    monkeypatch.setattr(pairing_codes, "derive_keys", made.keys)
    monkeypatch.setattr(pairing_codes, "LONGEST_WAIT_S", WAIT_S)
    yield made
    made.may_end.set()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    quick_hashes(monkeypatch)
    made = Bench(tmp_path)
    with made.server:
        yield made
    made.auth.close()


class Flood:
    """Wrong proofs from many addresses of this machine at the same time."""

    def __init__(self, bench: Bench) -> None:
        self.answers: list[tuple[int, str]] = []
        self._url = f"{bench.server.url.rstrip('/')}{PATH}"
        self._thread = threading.Thread(target=lambda: asyncio.run(self._all()))
        self._thread.start()

    def join(self) -> Counter[tuple[int, str]]:
        self._thread.join(WAIT_S)
        return Counter(self.answers)

    async def _all(self) -> None:
        await asyncio.gather(*(self._from(f"127.1.0.{at + 1}") for at in range(NETWORKS)))

    async def _from(self, address: str) -> None:
        transport = httpx.AsyncHTTPTransport(local_address=address)
        async with httpx.AsyncClient(transport=transport, timeout=WAIT_S) as client:
            said = {"proof": "f" * 64, "machine": "laptop", "salt": SALT}
            asked = await asyncio.gather(*(client.post(self._url, json=said) for _ in range(OF_EACH)))
        self.answers += [(one.status_code, one.json()["error"]["code"]) for one in asked]


def test_pages_answer_during_a_flood_and_the_right_code_still_pairs(bench: Bench, work: Work) -> None:
    with logged_in(bench.server, "organiser") as organiser:
        code = code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE)
        flood = Flood(bench)
        assert work.begun.wait(WAIT_S)
        while bench.server.connections.open < NETWORKS * OF_EACH:  # keys for the first wrong proof are being derived
            assert organiser.get("/pairing").status_code == 200
        assert organiser.get("/pairing").status_code == 200
        work.may_end.set()
        said = {"proof": asking(code).proof, "machine": "pi", "salt": SALT}
        transport = httpx.HTTPTransport(local_address="127.2.0.1")
        with httpx.Client(transport=transport, timeout=WAIT_S) as device:
            while (answer := device.post(f"{bench.server.url.rstrip('/')}{PATH}", json=said)).status_code == BUSY:
                pass  # devices retry as well
            assert answer.status_code == 200
    answers = flood.join()
    assert answers.total() == NETWORKS * OF_EACH
    assert answers.keys() <= {(404, "pairing_unknown"), (429, "pairing_delayed"), (BUSY, "pairing_busy")}
    assert work.most_at_once == 1


def test_networks_take_turns() -> None:
    async def asks(turns: PairingTurns, address: str) -> None:
        async with turns.turn(address):
            heard.append(address)
            await asyncio.sleep(0)  # lets the others ask while this turn is held

    async def all_of_them() -> None:
        turns = PairingTurns()
        await asyncio.gather(*(asks(turns, one) for one in ["10.0.0.6"] * 5 + ["10.0.0.7", "10.0.0.8"]))

    heard: list[str] = []
    event_loop.run(all_of_them())
    assert heard[:4].count("10.0.0.6") <= 2
    assert Counter(heard) == {"10.0.0.6": 5, "10.0.0.7": 1, "10.0.0.8": 1}


def test_too_long_or_too_many_waits_are_refused_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    async def waits(turns: PairingTurns) -> str:
        try:
            async with turns.turn("10.0.0.6"):
                return "heard"
        except PairingBusy as busy:
            return busy.code

    async def all_of_them() -> tuple[list[str], str]:
        turns = PairingTurns()
        async with turns.turn("10.0.0.6"):
            refused = [await waits(turns)]
            refused += await asyncio.gather(*(waits(turns) for _ in range(MOST_OF_NETWORK)))
        return refused, await waits(turns)

    monkeypatch.setattr(pairing_codes, "LONGEST_WAIT_S", 0.01)
    assert event_loop.run(all_of_them()) == (["pairing_busy"] * (MOST_OF_NETWORK + 1), "heard")
