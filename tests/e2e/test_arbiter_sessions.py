"""Arbiter sessions over real brokers: only the scorer checks PINs, and rulings require a session at their table."""

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.mqtt.programs import Kind
from broker.protocol import (
    AT_THE_TABLE,
    ArbiterPin,
    Confirmed,
    Fact,
    LetIn,
    LogMessage,
    Message,
    PinAnswer,
    PinGiven,
    Receipt,
    Refused,
    Ruled,
    SigningKey,
    Void,
    decode_on_topic,
    encode,
    topics,
)
from broker.protocol.arbiter_session import PinPlace, seal_pin
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.scorer.service import Scorer
from tests.broker.mqtt.brokers import make_broker
from tests.broker.scorer.hall import NOW, open_journal
from tests.broker.scorer.small import NAME, event, fact
from tests.patience import PATIENCE_S
from tests.pins import HASHED, PIN

DEVICE: Final = SigningKey.from_bytes(b"1" * 32)
OLD: Final = f'{{"schema":1,"id":"pin-00000001","event":"{NAME}","table":1,"set_at":1,"hash":"{HASHED}"}}'.encode()
"""A retained message from an older desk."""


class Wire:
    """A user's connection."""

    def __init__(self, broker: Broker, user: str, password: str, *listens: str) -> None:
        self._heard: queue.Queue[Incoming | LinkChanged] = queue.Queue()
        self.link = Link(Address(broker.host, broker.port, user, password), f"test-{user}", listens, self._heard.put)
        self.link.start()
        while not isinstance(item := self._heard.get(timeout=PATIENCE_S), LinkChanged) or not item.up:
            pass

    def say(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish a message."""
        self.link.publish(topic, payload, retain=retain)
        self.link.flush(PATIENCE_S)

    def payload(self) -> bytes:
        """Wait for the next message of any kind."""
        while not isinstance(item := self._heard.get(timeout=PATIENCE_S), Incoming):
            pass
        return item.payload

    def wait(self, wanted: Callable[[Message], bool]) -> Message:
        """Wait for a valid message."""
        while True:
            item = self._heard.get(timeout=PATIENCE_S)
            if not isinstance(item, Incoming):
                continue
            item.acknowledge()
            try:
                message = decode_on_topic(item.topic, item.payload)[1]
            except Refused:
                continue
            if wanted(message):
                return message

    def give(self, pin: ArbiterPin, digits: str, nonce: str) -> PinAnswer | None:
        """Enter a PIN at the table, and wait for the scorer's verdict."""
        sealed = seal_pin(pin.key, digits, PinPlace(NAME, 1, DEVICE.device, nonce))
        given = PinGiven(id=f"given-{nonce}", event=NAME, table=1, device=DEVICE.device, session=nonce, sealed=sealed)
        self.say(topics.PIN_GIVEN.at(NAME, table=1), encode(DEVICE.sign(given)))
        found = self.wait(
            lambda one: isinstance(one, ArbiterPin) and one.answer is not None and one.answer.asked == nonce
        )
        assert isinstance(found, ArbiterPin)
        return found.answer


@contextmanager
def serving(folder: Path, broker: Broker, password: str) -> Iterator[Scorer]:
    """Run a scorer with a broker."""
    stop = threading.Event()
    with open_journal(folder) as journal:
        scorer = Scorer(event(), journal, folder, lambda: NOW)
        scorer.live.access.hashed = lambda: HASHED
        for table in event().tables:
            scorer.live.devices.admit(table, DEVICE.public, "kiosk")
        scorer.connect(Address(broker.host, broker.port, "scorer", password))
        thread = threading.Thread(target=scorer.run, args=(stop,))
        thread.start()
        try:
            yield scorer
        finally:
            stop.set()
            thread.join()


def said(seq: int, message: LogMessage) -> bytes:
    return encode(DEVICE.sign(replace(message, seq=seq, device=DEVICE.device)))


@pytest.mark.parametrize("kind", ["embedded", "mosquitto"])
def test_a_pin_opens_a_session_and_no_message_or_broker_contains_its_hash(kind: Kind, tmp_path: Path) -> None:
    known = Credentials.create(4)
    with ExitStack() as room:
        broker = room.enter_context(make_broker(kind, tmp_path / "broker", NAME, known, tables=4))
        before = Wire(broker, "scorer", known.password("scorer"), topics.SCORER.at(NAME))
        before.say(topics.PIN.at(NAME, table=1), OLD, retain=True)
        before.link.stop()
        room.enter_context(serving(tmp_path, broker, known.password("scorer")))
        own = [topic.at(NAME, table=1) for topic in (topics.PIN, topics.RECEIPT)]
        table = Wire(broker, *known.table(1), *own)
        room.callback(table.link.stop)
        pin = table.wait(lambda one: isinstance(one, ArbiterPin))
        assert isinstance(pin, ArbiterPin)

        wrong, right = table.give(pin, "4712", "1" * 32), table.give(pin, PIN, "2" * 32)
        assert (wrong and wrong.code, right and right.code) == ("pin_wrong", None)
        session = right.session if right else None
        at: dict[str, Any] = {"round": 1, "deal": event().bookings[1, 1].deal}
        let_in = LetIn(author=AT_THE_TABLE, by="pin", session=session, **at)
        ruled = Ruled(decision=Void(), author=AT_THE_TABLE, role="table_arbiter", reason="why", session=session, **at)
        log = topics.LOG.at(NAME, table=1)
        forged = replace(ruled, session=None)
        facts: tuple[Fact, ...] = Confirmed(**at), forged, let_in, ruled
        for seq, one in enumerate(facts, 1):
            table.say(log, said(seq, fact(1, seq, one)))
        unsigned = fact(1, 5, ruled)
        table.say(log, encode(replace(unsigned, signature=None, device=DEVICE.device)))
        receipt = table.wait(lambda one: isinstance(one, Receipt) and len(one.refused) > 1)
        assert isinstance(receipt, Receipt)
        assert ({one.code for one in receipt.refused}, receipt.upto) == ({"session_missing", "unsigned"}, 4)
        later = Wire(broker, *known.table(1), topics.PIN.at(NAME, table=1))
        room.callback(later.link.stop)
        assert later.payload().find(b"argon2") == -1
