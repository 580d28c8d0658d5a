"""A running scorer counts hands of sealed deals only for the current play."""

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx
import pytest
from msgspec.structs import replace

from broker.event import DealRecord, ListedDevice, read_deals, save_event, write_devices
from broker.event.deals import sealing
from broker.event.deals.commitment import commit_folder
from broker.mqtt.certificates import Certificates, device_user
from broker.mqtt.programs import Kind
from broker.people import Actor, Authentication
from broker.protocol import (
    Counted,
    CountRequest,
    Fact,
    LogMessage,
    McrValue,
    NotCounted,
    Receipt,
    Restored,
    SigningKey,
    decode_on_topic,
    encode,
    fact_hash,
    topics,
)
from broker.protocol.link import Address, Incoming, Link, LinkChanged, transient_session_id
from broker.protocol.tls import Identity
from broker.rules import Outcome
from broker.scorer.counting import HandCounter
from broker.sim.processes import DemoProcess
from tests.broker.scorer.small import NAME, deals, plan, registry, state, steps
from tests.broker.scorer.test_counting import EVENT, READ, SELF_DRAWN, TABLE
from tests.encryption import trusting
from tests.patience import PATIENCE_S

ROUNDS: Final = (1, 2, 3, 4)
AGAIN_S: Final = 3.0
WON: Final = Outcome("self_drawn", {"east": 23})


class Table:
    """A table's device without players."""

    def __init__(self, folder: Path, port: int, table: int, key: SigningKey) -> None:
        self.table, self._key, self._seq = table, key, 0
        self._before: str | None = None
        certificates = Certificates.of_event(folder)
        identity = Identity(certificates.folder / f"{device_user(table, key.device)}.crt", key)
        address = Address("127.0.0.1", port, "", "", certificates.ca, identity=identity)
        self._heard: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        read = [topic.at(NAME, table=table) for topic in (topics.RECEIPT, topics.COUNTED)]
        self.link = Link(address, transient_session_id("table"), read, self._heard.put, persistent=False)
        self.link.start()
        while not self.link.up:
            self._heard.get(timeout=PATIENCE_S)
        self.link.publish(topics.STATE.at(NAME, table=table), encode(state(table, device=key.device)), retain=True)

    def tell(self, *facts: Fact) -> None:
        """Send facts until the scorer has acknowledged them, resending them like a table."""
        unsafe = list[bytes]()
        for fact in facts:
            self._seq += 1
            said = LogMessage(
                id=f"t{self.table}-{self._seq:08}", event=NAME, table=self.table, seq=self._seq, at=1000, fact=fact
            )
            signed = self._key.sign(replace(said, device=self._key.device, before=self._before))
            self._before = fact_hash(encode(signed))
            unsafe.append(encode(signed))

        def say() -> None:
            for each in unsafe:
                self.link.publish(topics.LOG.at(NAME, table=self.table), each, retain=False)

        while not isinstance(one := self._next(say), Receipt) or one.upto < self._seq:
            assert not isinstance(one, Receipt) or not one.refused, one

    def ask(self, **changes: object) -> object:
        """Ask for the value of East's hand, perhaps as another play or table; return the answer."""
        request: CountRequest = replace(SELF_DRAWN, table=self.table, **changes)

        def say() -> None:
            self.link.publish(topics.COUNT.at(NAME, table=self.table), encode(request), retain=False)

        while not isinstance(one := self._next(say), Counted) or one.asked != request.id:
            pass
        return one.answer

    def _next(self, say: Callable[[], None]) -> object:
        """Return the next message, resending something from time to time until then."""
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            say()
            with suppress(queue.Empty):
                while not isinstance(one := self._heard.get(timeout=AGAIN_S), Incoming):
                    pass
                one.acknowledge()
                return decode_on_topic(one.topic, one.payload)[1]
        raise TimeoutError("the scorer says nothing")


@contextmanager
def running(folder: Path, kind: Kind) -> Iterator[tuple[str, list[Table]]]:
    """Seal an event, run its scorer and connect its tables; yield the desk's address and the tables."""
    crafted = DealRecord(1, 1, "east", "east", dict(EVENT.open_deal(1).faces))
    save_event(folder, plan(), (crafted, *deals()[1:]), registry())
    commit_folder(folder, NAME)
    sealing.seal_folder(folder)
    auth = Authentication(folder)
    auth.accounts.add("anne", "Anne", "head_arbiter", "four winds and a dragon", Actor("test"))
    auth.close()
    keys = {table: SigningKey.new() for table in EVENT.tables}
    write_devices(folder, (ListedDevice(table, key.public) for table, key in keys.items()))
    options = ("--broker", kind, "--mqtt-port", "0", "--desk-port", "0", "--public")
    with ExitStack() as leaving:
        scorer = DemoProcess("scorer", ["scorer", str(folder), *options], lambda *_: None)
        leaving.callback(scorer.stop)
        port = int(scorer.wait_for(r"^Broker: \w+, port (\d+)", PATIENCE_S))
        desk = scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
        tables = [Table(folder, port, table, key) for table, key in keys.items()]
        for table in tables:
            leaving.callback(table.link.stop)
        yield desk, tables


def play(table: int, round_: int, outcome: Outcome) -> list[Fact]:
    """Return a table's facts about a play with this event's walls, read by a camera."""
    said = steps(table, round_, outcome)
    walls = said[0]
    assert isinstance(walls, Restored)
    return [replace(walls, by="camera", form=EVENT.form(walls.deal)), *said[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["embedded", "mosquitto"])
def test_a_sealed_hand_is_counted_only_during_its_play_and_kept_secret_until_the_embargo_ends(
    tmp_path: Path, kind: Kind
) -> None:
    worth = HandCounter(EVENT).answer(SELF_DRAWN, READ)
    assert isinstance(worth, McrValue)
    with running(tmp_path, kind) as (desk, tables), httpx.Client(base_url=desk, verify=trusting(tmp_path)) as public:
        assert all(one.sealed for one in read_deals(tmp_path))
        (table,) = (one for one in tables if one.table == TABLE)
        others = [one for one in tables if one is not table]
        later = EVENT.bookings[TABLE, 2].deal
        *begun, ended = play(TABLE, 1, WON)

        assert table.ask(id="too-early") == NotCounted(code="not_declared")
        table.tell(*begun)
        assert table.ask(id="the-play-that-is-on") == worth
        assert table.ask(id="a-play-to-come", round=2, deal=later) == NotCounted(code="not_declared")
        theirs = next(round_ for round_ in ROUNDS if EVENT.bookings[others[0].table, round_].deal == 1)
        assert others[0].ask(id="the-same-deal-elsewhere", round=theirs) == NotCounted(code="not_declared")
        table.tell(ended)
        assert table.ask(id="afterwards") == NotCounted(code="play_has_result")

        assert told(public) == []
        for one in tables:
            for round_ in ROUNDS:
                if (one.table, round_) != (TABLE, 1):
                    one.tell(*play(one.table, round_, WON))
        ends = time.monotonic() + PATIENCE_S
        while told(public) != sorted(EVENT.tables):  # pages may lag
            assert time.monotonic() < ends


def told(public: httpx.Client) -> list[int]:
    """Return the tables that the public traveller of the first deal shows."""
    traveller = public.get("/deal/1.json")
    groups = traveller.json().get("groups", ()) if traveller.is_success else ()
    return sorted(played["table"] for group in groups for played in group["plays"])
