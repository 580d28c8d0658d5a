"""The page of devices: handing a table over, accepting and revoking devices, and the state of machines."""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from broker.i18n import N_
from broker.people import Actor, Authentication
from broker.people.accounts import DEVICE_REVOKED
from broker.protocol import SigningKey
from broker.scorer import service
from broker.scorer.devices import Reading
from broker.version import program_version
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.tables import devices
from broker.web.tables.devices import Machine, _machine
from broker.web.tables.orders import OrderDesk
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import beat, state
from tests.broker.web import sample
from tests.broker.web.tables.test_orders import Ear
from tests.broker.web.test_auth import logged_in, token_of

FIRST, SECOND = "kiosk-0001", "kiosk-0002"
NEW = SigningKey.from_bytes(b"3" * 32)
"""The key of a device that was never paired."""

BROKER = N_(
    "Tables are connected through {program}: {why}.", program="mosquitto 2.0.11", why=N_("asked for with --broker")
)


@dataclass(frozen=True)
class Room:
    """A running scorer, a table with two devices, and the desk."""

    hall: Hall
    auth: Authentication
    server: DeskServer

    def serves(self) -> str | None:
        device, _ = self.hall.scorer.ask(lambda: self.hall.scorer.live.devices.serving.of(1))
        return device


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    folder, stop = tmp_path_factory.mktemp("desk"), threading.Event()
    with pytest.MonkeyPatch.context() as patch, open_journal(folder) as journal:
        quick_hashes(patch)
        auth = Authentication(folder)
        for role in ("head_arbiter", "table_arbiter", "organiser"):
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        hall = make_hall(folder, journal)
        hall.hear(state(1), state(1, device=SECOND))
        hall.hear(replace(state(2, device=NEW.device), key=NEW.public), state(3, device="old-device-1"))
        told = {"at": NOW - 90_000, "disk_mib": 640, "celsius": 61}
        hall.hear(
            replace(state(4), version=program_version()), replace(beat(4), at=NOW + 1500, disk_mib=2048, celsius=48)
        )
        hall.hear(replace(state(1, count=2), version="0.0.9"), replace(beat(1), **told))
        thread = threading.Thread(target=hall.scorer.run, args=(stop,))
        thread.start()
        services = Services(scorer=hall.scorer, orders=OrderDesk("cup", auth, Ear()), broker=BROKER)
        with DeskServer(sample.feed(), port=0, auth=auth, services=services) as server:
            yield Room(hall, auth, server)
        stop.set()
        thread.join()
        auth.close()


def test_an_arbiter_can_hand_a_table_over_and_back_with_a_reason(room: Room) -> None:
    with logged_in(room.server, "table_arbiter") as client:
        token = token_of(client, "/devices")
        for to in (SECOND, FIRST):
            form = {"form": token, "table": "1", "to": to, "reason": "the screen is broken"}
            assert client.post("/devices", data=form).status_code == 303
            assert room.serves() == to
    notes = [(one.who, one.action, one.about, one.detail) for one in room.auth.audit.newest(2)]
    about = ("table_arbiter", "table_handed_over", "1")
    assert notes == [(*about, f"{to[:8]}; the screen is broken") for to in (FIRST, SECOND)]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"to": FIRST}, "no_device_waits"),  # a second click on the same page: it already serves
        ({"table": "2"}, "no_device_waits"),
        ({"table": "\u0661"}, "no_device_waits"),
        ({"to": "nobody"}, "no_device_waits"),
        ({"reason": " "}, "bad_order"),
    ],
)
def test_an_impossible_handover_is_refused_and_not_noted(room: Room, said: dict[str, str], code: str) -> None:
    before = len([*room.auth.audit.entries()])
    with logged_in(room.server, "table_arbiter") as client:
        form = {"form": token_of(client, "/devices"), "table": "1", "to": SECOND, "reason": "why", **said}
        page = client.post("/devices", data=form, follow_redirects=True)
    assert code in page.text
    assert room.serves() == FIRST
    notes = [one.action for one in [*room.auth.audit.entries()][before:]]
    assert devices.TABLE_HANDED_OVER not in notes


def test_only_those_who_may_give_orders_see_the_page(room: Room) -> None:
    with logged_in(room.server, "organiser") as client:
        assert client.get("/devices").status_code == 403


def known(room: Room, table: int) -> set[str]:
    devices = room.hall.scorer.live.devices
    return room.hall.scorer.ask(lambda: {one.device for one in devices.admissions.all() if one.table == table})


def test_the_head_arbiter_can_accept_and_revoke_a_device(room: Room) -> None:
    with logged_in(room.server, "head_arbiter") as client:
        page = client.get("/devices").text
        assert " ".join(NEW.device[at : at + 4] for at in range(0, 32, 4)) in page
        form = {"form": token_of(client, "/devices")}
        assert client.post("/devices/accept", data={**form, "device-2": NEW.device}).status_code == 303
        assert NEW.device in known(room, 2)
        gone = {**form, "table": "2", "device": NEW.device, "reason": "it was left on a train"}
        assert client.post("/devices/revoke", data=gone).status_code == 303
        assert NEW.device not in known(room, 2)
    notes = [(one.who, one.action, one.about, one.detail) for one in room.auth.audit.newest(2)]
    assert notes == [
        ("head_arbiter", "device_revoked", "2", f"{NEW.device}; it was left on a train"),
        ("head_arbiter", "device_accepted", "2", NEW.device),
    ]


def test_a_device_that_cannot_sign_needs_confirmation(room: Room) -> None:
    with logged_in(room.server, "head_arbiter") as client:
        form = {"form": token_of(client, "/devices"), "device-3": "old-device-1"}
        assert "unsigned_device" in client.post("/devices/accept", data=form).text
        assert "old-device-1" not in known(room, 3)
        assert client.post("/devices/accept", data={**form, "unsigned": "on"}).status_code == 303
        assert "old-device-1" in known(room, 3)


@pytest.mark.parametrize(
    ("where", "said", "code"),
    [
        ("accept", {"device-1": NEW.device}, "no_device_waits"),  # another device has come since the page was shown
        ("accept", {"device-x": NEW.device}, "no_device_waits"),
        ("revoke", {"table": "1", "device": NEW.device, "reason": "why"}, "no_device_waits"),
        ("revoke", {"table": "1", "device": FIRST, "reason": " "}, "bad_order"),
    ],
)
def test_an_outdated_form_is_refused_and_not_noted(room: Room, where: str, said: dict[str, str], code: str) -> None:
    before = len([*room.auth.audit.entries()])
    with logged_in(room.server, "head_arbiter") as client:
        page = client.post(f"/devices/{where}", data={"form": token_of(client, "/devices"), **said})
    assert code in page.text
    notes = [one.action for one in [*room.auth.audit.entries()][before:]]
    assert {devices.ACCEPTED, DEVICE_REVOKED}.isdisjoint(notes)


@pytest.mark.parametrize("where", ["accept", "revoke"])
def test_only_the_head_arbiter_decides_which_devices_are_trusted(room: Room, where: str) -> None:
    with logged_in(room.server, "table_arbiter") as client:
        form = {"form": token_of(client, "/devices"), "device-2": NEW.device, "table": "1", "device": FIRST}
        page = client.post(f"/devices/{where}", data={**form, "reason": "why"})
    assert "head_arbiter_only" in page.text
    assert FIRST in known(room, 1)


def test_the_page_shows_each_machines_state_and_marks_problems(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "SILENT_S", 3600)  # earlier tests may have taken half a minute
    with logged_in(room.server, "table_arbiter") as client:
        page = client.get("/devices").text
    rows = {
        table: re.sub(r"<[^>]*>", " ", page.partition(f'id="machine-{table}"')[2].partition("</tr>")[0]).split()
        for table in (1, 4)
    }
    odd = {table: "<svg" in page.partition(f'id="machine-{table}"')[2].partition("</td>")[0] for table in rows}
    assert odd == {1: True, 4: False}
    assert [word for word in ("0.0.9", "-90.0", "640", "61") if word not in rows[1]] == []
    assert [word for word in (program_version(), "+1.5", "2048", "48") if word not in rows[4]] == []


def test_a_long_silence_is_shown_in_hours_and_minutes(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = Machine(1, None, 3 * 3600 + 60, None, None, None, needs_attention=True)
    monkeypatch.setattr(devices, "_machine", lambda *_: silent)
    with logged_in(room.server, "table_arbiter") as client:
        assert "3 h 01 min ago" in client.get("/devices").text


def test_a_table_without_readings_is_listed(room: Room) -> None:
    made = _machine(9, "0.1.0", None, 5.0)
    assert (made.table, made.silent_s, made.disk_mib) == (9, None, None)
    reading = Reading(1.0, 61_000, 600, 40)
    assert (_machine(9, program_version(), reading, 2.0).needs_attention, room.serves()) == (True, FIRST)


@pytest.mark.parametrize("path", ["/devices", "/rulings"])
def test_a_page_reports_a_busy_scorer(room: Room, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "PATIENCE_S", 0.05)
    blocked, answer = threading.Event(), threading.Event()

    def work() -> None:
        blocked.set()
        answer.wait()

    with logged_in(room.server, "table_arbiter") as client:
        assert client.get(path).status_code == 200
        room.hall.scorer._inbox.put(service.PendingCall(work))
        blocked.wait()
        try:
            busy = client.get(path, headers={"accept": "text/html"})
            told = client.get(path, headers={"accept": "application/json"})
        finally:
            answer.set()
    assert (busy.status_code, "scorer_busy" in busy.text) == (503, True)
    assert (told.status_code, told.json()["error"]["code"]) == (503, "scorer_busy")


def test_the_page_names_the_broker_and_why_it_was_chosen(room: Room) -> None:
    with logged_in(room.server, "table_arbiter") as client:
        assert BROKER in client.get("/devices").text
        assert "Les tables sont reliées par mosquitto 2.0.11" in client.get("/devices?lang=fr").text
