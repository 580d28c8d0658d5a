"""Messages from somebody with a table's password are refused with a code, and change nothing."""

import json
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from broker.event.movement import NumberedPlay
from broker.mqtt.access import Credentials
from broker.mqtt.programs import Kind
from broker.protocol import SEATS, SigningKey, TableState, encode
from broker.protocol.link import end_loop
from broker.protocol.signing import open_key
from broker.sim.demo_audit import facts
from broker.sim.demo_event import NAME
from broker.sim.processes import DemoProcess
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.client import SILENCE_S
from tests.demo_event import MakeEvent
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow

TABLE = 1
LOG = f"hm/{NAME}/table/{TABLE}/log"

HEARD: Final = [(f"hm/{NAME}/alert", 1), (f"hm/{NAME}/receipt/{TABLE}", 1)]

AGAIN_S: Final = 5.0
"""How long to wait for a retained message before requesting it again, in seconds."""


def signed(body: dict[str, Any], key: SigningKey) -> bytes:
    """Return a message signed by a device with this key."""
    payload = json.dumps(body | {"device": key.device}, separators=(",", ":")).encode().removesuffix(b"}")
    return b'%b,"signature":"%b"}' % (payload, key._key.sign(payload).hex().encode())


class Intruder:
    """An intruder with the password of table 1, who also listens with the arbiter's."""

    def __init__(self, port: int, credentials: Credentials) -> None:
        self.alerts: queue.Queue[dict[str, Any]] = queue.Queue()
        self.receipts: queue.Queue[dict[str, Any]] = queue.Queue()
        self.arbiter = self._connect(port, "arbiter", credentials.password("arbiter"))
        self.table = self._connect(port, *credentials.table(TABLE))

    def _connect(self, port: int, user: str, password: str) -> mqtt.Client:
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=f"test-{user}")
        client.username_pw_set(user, password)
        listening: queue.Queue[object] = queue.Queue()
        client.on_subscribe = lambda *_: listening.put("now")
        client.on_message = self._heard
        client.connect("127.0.0.1", port, keepalive=SILENCE_S)
        client.loop_start()
        if user == "arbiter":
            client.subscribe(HEARD)
            listening.get(timeout=PATIENCE_S)
        return client

    def wait_for_first_receipt(self) -> None:
        """Wait for the retained receipt, which a client that subscribes at the same time may miss (docs/brokers.md)."""
        while True:
            try:
                if self.receipts.get(timeout=AGAIN_S)["upto"] == 0:
                    return
            except queue.Empty:
                self.arbiter.subscribe(HEARD)

    def alert(self, code: str) -> None:
        """Wait for an alert. Others may come before it, since brokers may deliver messages twice."""
        while self.alerts.get(timeout=PATIENCE_S)["code"] != code:
            pass

    def receipt(self, upto: int) -> None:
        """Wait for the receipt of all facts up to this one. Earlier retained receipts may come again."""
        while self.receipts.get(timeout=PATIENCE_S)["upto"] != upto:
            pass

    def _heard(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        (self.alerts if message.topic.endswith("alert") else self.receipts).put(json.loads(message.payload))

    def send(self, payload: bytes, topic: str = LOG) -> None:
        self.table.publish(topic, payload, qos=1).wait_for_publish(PATIENCE_S)

    def refusal_of(self, id_: str) -> str:
        """Wait for the receipt that refuses a message."""
        while True:
            for one in self.receipts.get(timeout=PATIENCE_S)["refused"]:
                if one["id"] == id_:
                    return str(one["code"])

    def close(self) -> None:
        for client in (self.arbiter, self.table):
            end_loop(client)
            client.reinitialise()  # closes the two sockets that wake its thread


class Room:
    """A broker and a scorer without kiosks."""

    def __init__(self, folder: Path, kind: Kind, bookings: tuple[NumberedPlay, ...]) -> None:
        self.folder = folder
        self.booking = next(booking for booking in bookings if booking.table == TABLE)
        self.key, self.key_of_table_2 = (open_key(folder / f"table-{table}" / "device.key") for table in (1, 2))
        credentials = Credentials.load(folder / "credentials.json")
        self.broker = make_broker(kind, folder / "broker", NAME, credentials, tables=4)
        self.broker.start()
        where = f"127.0.0.1:{self.broker.port}"
        arguments = ["scorer", str(folder), "--plain", "--broker", where, "--desk-port", "0"]
        self.scorer = DemoProcess("scorer", arguments, lambda _who, _line: None)
        self.scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
        self.intruder = Intruder(self.broker.port, credentials)
        self.intruder.wait_for_first_receipt()

    def journal(self) -> list[dict[str, Any]]:
        return facts(self.folder / "scorer.sqlite")

    def result(self, seq: int = 1, **changes: object) -> dict[str, Any]:
        fact = {
            "type": "result",
            "round": 1,
            "deal": self.booking.deal,
            "profile": "oedmc-2020",
            "players": {seat: f"p{self.booking.players[seat]:02d}" for seat in SEATS},
            "win": "draw",
            "winners": {},
            "discarder": None,
            "points": dict.fromkeys(SEATS, 0),
            "fines": {},
        }
        return {
            "schema": 1,
            "id": f"made-by-hand-{seq}",
            "event": NAME,
            "table": TABLE,
            "seq": seq,
            "at": 0,
            "fact": fact | changes,
        }

    def close(self) -> None:
        self.intruder.close()
        self.scorer.stop()
        self.broker.stop()


@pytest.fixture(scope="module", params=["embedded", "mosquitto"])
def room(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, demo_event: MakeEvent
) -> Iterator[Room]:
    folder = tmp_path_factory.mktemp("room") / "event"
    room = Room(folder, request.param, demo_event(folder, 1))
    yield room
    room.close()


FORGERIES: dict[str, Callable[[Room], dict[str, Any] | bytes]] = {
    "malformed": lambda _: b'{"schema": 1, "id": ',
    "too_large": lambda room: json.dumps(room.result() | {"id": "x" * 24_000}).encode(),
    "wrong_table": lambda room: room.result() | {"table": 2},
    "wrong_event": lambda room: room.result() | {"event": "another"},
    "not_planned": lambda room: room.result(deal=room.booking.deal % 4 + 1),
    "wrong_points": lambda room: room.result(points={"east": 1000, "south": 0, "west": 0, "north": 0}),
    "wrong_players": lambda room: room.result(players=dict.fromkeys(("east", "south", "west", "north"), "p01")),
    "wrong_profile": lambda room: room.result(profile="mcr"),
    "impossible_result": lambda room: room.result(win="discard", winners={"east": 8}, discarder="east"),
    "seq_out_of_range": lambda room: room.result(seq=1_000_000),
}


@pytest.mark.parametrize("code", FORGERIES)
def test_a_forged_message_is_refused_with_its_code_and_changes_nothing(room: Room, code: str) -> None:
    """The intruder also has the device's key, as somebody at the table's machine might."""
    before, forged = room.journal(), FORGERIES[code](room)
    room.intruder.send(forged if isinstance(forged, bytes) else signed(forged, room.key))
    room.intruder.alert(code)
    assert (room.journal(), room.scorer.exit_code) == (before, None)


RULED = {"type": "ruled", "decision": {"kind": "void"}, "author": "Tao", "role": "table_arbiter", "reason": "forged"}

BY_PASSWORD: dict[str, tuple[str, Callable[[Room, str], bytes]]] = {
    "a result without a device": ("unsigned", lambda room, id_: json.dumps(room.result() | {"id": id_}).encode()),
    "a result by the name of the table's device": (
        "unsigned",
        lambda room, id_: json.dumps(room.result() | {"id": id_, "device": room.key.device}).encode(),
    ),
    "an arbiter's ruling": (
        "unsigned",
        lambda room, id_: json.dumps(
            room.result() | {"id": id_, "fact": RULED | {"round": 1, "deal": room.booking.deal}}
        ).encode(),
    ),
    "a result signed with a key of one's own": (
        "unknown_device",
        lambda room, id_: signed(room.result() | {"id": id_}, SigningKey.new()),
    ),
    "a result signed with a key of one's own, by the name of the table's device": (
        "bad_signature",
        lambda room, id_: signed(room.result() | {"id": id_, "note": 1}, SigningKey.new()).replace(
            b'"note":1,"device":"', b'"device":"%b","note":"' % room.key.device.encode()
        ),
    ),
    "another table's fact": (
        "unknown_device",
        lambda room, id_: signed(room.result() | {"id": id_}, room.key_of_table_2),
    ),
    "a genuine fact, its id changed": (
        "bad_signature",
        lambda room, id_: signed(room.result(), room.key).replace(b"made-by-hand-1", id_.encode()),
    ),
    "a genuine fact with something behind it": (
        "bad_signature",
        lambda room, id_: signed(room.result() | {"id": id_}, room.key).removesuffix(b"}") + b',"note":1}',
    ),
}


@pytest.mark.parametrize("name", BY_PASSWORD)
def test_a_stolen_password_is_useless_without_the_devices_key(room: Room, name: str) -> None:
    before, (code, forged), id_ = room.journal(), BY_PASSWORD[name], f"forged-{[*BY_PASSWORD].index(name):04}"
    room.intruder.send(forged(room, id_))
    assert room.intruder.refusal_of(id_) == code
    assert (room.journal(), room.scorer.exit_code) == (before, None)


@pytest.fixture(params=["embedded", "mosquitto"])
def fresh_room(request: pytest.FixtureRequest, tmp_path: Path, demo_event: MakeEvent) -> Iterator[Room]:
    room = Room(tmp_path / "event", request.param, demo_event(tmp_path / "event", 1))
    yield room
    room.close()


def test_a_replayed_message_counts_once_and_a_different_one_is_a_conflict(fresh_room: Room) -> None:
    room = fresh_room
    first = signed(room.result(), room.key)
    other = signed(room.result(fines={"east": {"imp": 8, "reason": "forged"}}) | {"id": "made-by-another"}, room.key)
    for message in (first, first, first):
        room.intruder.send(message)
        room.intruder.receipt(1)
    room.intruder.alert("play_not_restored")  # the result is kept apart
    taken = room.journal()
    room.intruder.send(other)
    room.intruder.alert("conflict")
    assert (len(taken), room.journal()) == (1, taken)


def test_an_unknown_device_does_not_disturb_the_tables_own(fresh_room: Room) -> None:
    """An intruder with only the password announces a device first and publishes a result."""
    room = fresh_room
    state = TableState(
        id="forged-state",
        event=NAME,
        table=TABLE,
        seq=0,
        device="forged-device",
        start=1,
        count=1,
        lifecycle="ready",
        state="waiting",
        round=None,
        deal=None,
        unsent=0,
        calling=False,
        health={},
    )
    room.intruder.send(encode(state), f"hm/{NAME}/table/{TABLE}/state")
    room.intruder.alert("device_waits")
    room.intruder.send(signed(room.result(), room.key))
    room.intruder.receipt(1)
    assert len(room.journal()) == 1
