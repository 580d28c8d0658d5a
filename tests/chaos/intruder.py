"""An attacker with one table's password: rubbish on every topic, forged facts, endless calls, others' client ids."""

import contextlib
import queue
import random
import ssl
import threading
import time
from collections.abc import Iterator
from typing import Final

import paho.mqtt.client as mqtt
from msgspec.structs import replace
from paho.mqtt.enums import CallbackAPIVersion

from broker.mqtt.access import Credentials
from broker.protocol import (
    TOPICS,
    Assignment,
    Call,
    Fact,
    LogMessage,
    Message,
    Receipt,
    Result,
    Ruled,
    Seat,
    Served,
    SigningKey,
    Void,
    decode_on_topic,
    encode,
    topics,
)
from broker.protocol.link import end_loop
from broker.sim.demo_event import NAME

PATIENCE_S: Final = 5.0
MESSAGES: Final = 60
LARGEST: Final = 40_000
TAKEN: Final = 5
"""How often another client's id is claimed."""

FORGED: Final = 4
"""Number of plays in forged results."""

TOGGLES: Final = 5_100
FACTS_AHEAD: Final = 400

READ: Final = (topics.RECEIPT, topics.ASSIGNMENT, topics.SERVED)


class Intruder:
    """An attacker who has one table's password, and has read what its device may read."""

    def __init__(
        self, port: int, known: Credentials, table: int, chance: random.Random, tls: ssl.SSLContext | None = None
    ) -> None:
        """`tls`: identifies the table by its certificate; None: by its password."""
        self._tls = tls
        self._port, self._known, self._table, self._chance = port, known, table, chance

    def rubbish(self) -> None:
        """Publish invalid messages on topics of all kinds, its own and others'."""
        with self._connected() as client:
            for _ in range(MESSAGES):
                table = self._chance.choice((self._table, self._table % 9 + 1))
                topic = self._chance.choice(TOPICS).at(NAME, table=table, deal=1, hall="paris")
                client.publish(topic, _payload(self._chance), qos=1)

    def take_client_ids(self) -> None:
        """Connect with the scorer's client id, again and again."""
        for _ in range(TAKEN):
            with self._connected(f"homologue-{NAME}-scorer"):
                pass

    def forge(self) -> None:
        """Send forged results and rulings: without a signature, or signed with another key."""
        with self._connected() as client:
            receipt, plan, device = self._read(client)
            forger, seq, before = SigningKey.new(), receipt.upto + 1, receipt.head
            for fact in self._facts(plan):
                plain = LogMessage(
                    id=f"forged-{self._random_id()}", event=NAME, table=self._table, seq=seq, at=0, fact=fact
                )
                own = replace(plain, device=forger.device, before=before)
                for message in (
                    plain,
                    replace(plain, sender=device),
                    replace(plain, device=device, before=before, sender=device),
                    forger.sign(own),
                    replace(forger.sign(own), sender=device),
                    forger.sign(replace(own, device=device)),
                ):
                    self._publish(client, replace(message, id=f"forged-{self._random_id()}"))
                    self._publish(client, message)

    def toggle_calls(self) -> None:
        """Call the arbiter and cancel the call, as fast as the broker accepts it."""
        with self._connected() as client:
            receipt, plan, device = self._read(client)
            play = plan.plays[0]
            for at in range(TOGGLES):
                call = Call(round=play.round, deal=play.deal, open=at % 2 == 0)
                message = LogMessage(
                    id=f"call-{self._random_id()}",
                    event=NAME,
                    table=self._table,
                    seq=receipt.upto + 1 + at % FACTS_AHEAD,
                    at=0,
                    fact=call,
                    sender=device,
                )
                client.publish(topics.LOG.at(NAME, table=self._table), encode(message), qos=1)
                while client._out_packet and at % FACTS_AHEAD == 0 and client.is_connected():
                    time.sleep(0.01)

    def _facts(self, plan: Assignment) -> Iterator[Fact]:
        """Return results of future plays, the last first, and rulings that void recorded plays."""
        for play in plan.plays[::-1][:FORGED]:
            players = {seat: player.id for seat, player in play.players.items()}
            points: dict[Seat, int] = {"east": 42, "south": -8, "west": -8, "north": -26}
            yield Result(
                round=play.round,
                deal=play.deal,
                profile=plan.profile,
                players=players,
                win="discard",
                winners={"east": 18},
                discarder="north",
                points=points,
                fines={},
            )
        for play in plan.plays[:FORGED]:
            decision, reason = Void(), "forged"
            yield Ruled(
                round=play.round,
                deal=play.deal,
                decision=decision,
                author="Anne Arbiter",
                role="table_arbiter",
                reason=reason,
            )

    def _random_id(self) -> str:
        return f"{self._chance.getrandbits(64):016x}"

    def _publish(self, client: mqtt.Client, message: LogMessage) -> None:
        client.publish(topics.LOG.at(NAME, table=self._table), encode(message), qos=1)

    def _read(self, client: mqtt.Client) -> tuple[Receipt, Assignment, str | None]:
        """Return the retained plan of the table. Raises TimeoutError if the broker sends none."""
        found: dict[str, Message] = {}
        there = threading.Condition()

        def hear(_client: mqtt.Client, _data: object, heard: mqtt.MQTTMessage) -> None:
            place, message = decode_on_topic(heard.topic, bytes(heard.payload))
            with there:
                found[place.topic.name] = message
                there.notify_all()

        client.on_message = hear
        client.subscribe([(one.at(NAME, table=self._table), 1) for one in READ])
        with there:
            if not there.wait_for(lambda: len(found) == len(READ), PATIENCE_S):
                raise TimeoutError("nothing is retained")
            receipt, plan, served = (found[one.name] for one in READ)
        assert isinstance(receipt, Receipt)
        assert isinstance(plan, Assignment)
        assert isinstance(served, Served)
        return receipt, plan, served.device

    @contextlib.contextmanager
    def _connected(self, client_id: str = "") -> Iterator[mqtt.Client]:
        client_id = client_id or f"intruder-{self._random_id()}"
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=client_id, reconnect_on_failure=False)
        if self._tls:
            client.tls_set_context(self._tls)
        else:
            client.username_pw_set(*self._known.table(self._table))
        answered: queue.SimpleQueue[object] = queue.SimpleQueue()
        client.on_connect = lambda *_: answered.put("now")
        client.on_connect_fail = lambda *_: answered.put("never")
        with contextlib.suppress(OSError, queue.Empty):
            client.connect("127.0.0.1", self._port, keepalive=5)
            client.loop_start()
            answered.get(timeout=PATIENCE_S)
        try:
            with contextlib.suppress(TimeoutError):
                yield client
        finally:
            end_loop(client)
            client.reinitialise()  # closes the two sockets that wake its thread


def _payload(chance: random.Random) -> bytes:
    log = topics.LOG.at(NAME, table=1)
    match chance.randrange(5):
        case 0:
            return chance.randbytes(chance.randrange(200))
        case 1:
            return b'{"schema": 1, "id": "' + bytes(chance.choices(b'abc\\"{}', k=chance.randrange(60)))
        case 2:
            return b"[" * chance.randrange(LARGEST)
        case 3:
            return f'{{"schema":1,"id":"rubbish-1","event":"{NAME}","table":{chance.randrange(99)},"seq":-1}}'.encode()
    return log.encode() + b"\0" * chance.randrange(50)
