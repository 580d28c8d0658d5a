"""Whatever comes over the wire, from whoever has got a table's password: refused with a code, and nothing changes."""

import json
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from broker.event.movement import NumberedPlay
from broker.mqtt.access import Credentials
from broker.mqtt.brokers import Kind, make_broker
from broker.protocol import SEATS
from broker.sim.demo_audit import facts
from broker.sim.demo_event import NAME
from broker.sim.processes import DemoProcess
from tests.demo_event import MakeEvent

pytestmark = pytest.mark.slow

TABLE = 1
LOG = f"hm/{NAME}/table/{TABLE}/log"
DEADLINE_S = 120


class Intruder:
    """Somebody with the password of table 1, and an ear with the arbiter's."""

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
        client.connect("127.0.0.1", port)
        client.loop_start()
        if user == "arbiter":
            client.subscribe([(f"hm/{NAME}/alert", 1), (f"hm/{NAME}/receipt/{TABLE}", 1)])
            listening.get(timeout=DEADLINE_S)
        return client

    def _heard(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        (self.alerts if message.topic.endswith("alert") else self.receipts).put(json.loads(message.payload))

    def send(self, body: dict[str, Any] | bytes) -> None:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.table.publish(LOG, payload, qos=1).wait_for_publish(DEADLINE_S)

    def close(self) -> None:
        for client in (self.arbiter, self.table):
            client.disconnect()
            client.loop_stop()
            client.reinitialise()  # it lets go of the two sockets by which its thread was woken


class Room:
    """A broker and a scorer of their own, without kiosks."""

    def __init__(self, folder: Path, kind: Kind, bookings: tuple[NumberedPlay, ...]) -> None:
        self.folder = folder
        self.booking = next(booking for booking in bookings if booking.table == TABLE)
        credentials = Credentials.load(folder / "credentials.json")
        self.broker = make_broker(kind, folder / "broker", NAME, credentials, tables=4)
        self.broker.start()
        where = f"127.0.0.1:{self.broker.port}"
        arguments = ["scorer", str(folder), "--broker", where, "--desk-port", "0"]
        self.scorer = DemoProcess("scorer", arguments, lambda _who, _line: None)
        self.scorer.wait_for(r"^Desk: (\S+)", DEADLINE_S)
        self.intruder = Intruder(self.broker.port, credentials)
        while self.intruder.receipts.get(timeout=DEADLINE_S)["upto"] != 0:
            pass

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
    "too_large": lambda room: json.dumps(room.result() | {"id": "x" * 20_000}).encode(),
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
    before = room.journal()
    room.intruder.send(FORGERIES[code](room))
    alert = room.intruder.alerts.get(timeout=DEADLINE_S)
    assert (alert["code"], room.journal(), room.scorer.exit_code) == (code, before, None)


@pytest.fixture(params=["embedded", "mosquitto"])
def fresh_room(request: pytest.FixtureRequest, tmp_path: Path, demo_event: MakeEvent) -> Iterator[Room]:
    room = Room(tmp_path / "event", request.param, demo_event(tmp_path / "event", 1))
    yield room
    room.close()


def test_a_replayed_message_is_taken_once_and_one_that_says_otherwise_is_a_conflict(fresh_room: Room) -> None:
    room = fresh_room
    first = room.result()
    other = room.result(fines={"east": {"imp": 8, "reason": "forged"}}) | {"id": "made-by-another"}
    for message in (first, first, first):
        room.intruder.send(message)
        assert room.intruder.receipts.get(timeout=DEADLINE_S)["upto"] == 1
    assert room.intruder.alerts.get(timeout=DEADLINE_S)["code"] == "play_not_restored"  # it is kept apart
    taken = room.journal()
    room.intruder.send(other)
    alert = room.intruder.alerts.get(timeout=DEADLINE_S)
    assert (alert["code"], len(taken), room.journal()) == ("conflict", 1, taken)
