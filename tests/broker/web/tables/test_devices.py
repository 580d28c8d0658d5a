"""A table is handed over to the device that waits, at the desk: by whom, why, and back again."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from broker.people import Actor, Authentication
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.tables import devices
from broker.web.tables.orders import OrderDesk
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import state
from tests.broker.web import sample
from tests.broker.web.tables.test_orders import Ear
from tests.broker.web.test_auth import logged_in, token_of

FIRST, SECOND = "kiosk-0001", "kiosk-0002"


@dataclass(frozen=True)
class Room:
    """A scorer that runs, a table with two devices, and the desk."""

    hall: Hall
    auth: Authentication
    server: DeskServer

    def serves(self) -> str | None:
        device, _ = self.hall.scorer.ask(lambda: self.hall.scorer.devices.serving.of(1))
        return device


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    folder, stop = tmp_path_factory.mktemp("desk"), threading.Event()
    with pytest.MonkeyPatch.context() as patch, open_journal(folder) as journal:
        quick_hashes(patch)
        auth = Authentication(folder)
        for role in ("table_arbiter", "organiser"):
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        hall = make_hall(folder, journal)
        hall.hear(state(1), state(1, device=SECOND))
        thread = threading.Thread(target=hall.scorer.run, args=(stop,))
        thread.start()
        services = Services(scorer=hall.scorer, orders=OrderDesk("cup", auth, Ear()))
        with DeskServer(sample.feed(), port=0, auth=auth, services=services) as server:
            yield Room(hall, auth, server)
        stop.set()
        thread.join()
        auth.close()


def test_an_arbiter_hands_a_table_over_and_back_with_a_reason_that_is_kept(room: Room) -> None:
    with logged_in(room.server, "table_arbiter") as client:
        token = token_of(client, "/devices")
        for to in (SECOND, FIRST):
            form = {"form": token, "table": "1", "to": to, "reason": "the screen is broken"}
            assert client.post("/devices", data=form).status_code == 200
            assert room.serves() == to
    notes = [(one.who, one.action, one.about, one.detail) for one in room.auth.audit.newest(2)]
    about = ("table_arbiter", "table_handed_over", "1")
    assert notes == [(*about, f"{to[:8]}; the screen is broken") for to in (FIRST, SECOND)]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"to": FIRST}, "no_device_waits"),  # a second click on the same page: it serves by now
        ({"table": "2"}, "no_device_waits"),
        ({"table": "\u0661"}, "no_device_waits"),
        ({"to": "nobody"}, "no_device_waits"),
        ({"reason": " "}, "bad_order"),
    ],
)
def test_what_cannot_be_handed_over_is_refused_and_leaves_no_note(room: Room, said: dict[str, str], code: str) -> None:
    before = len([*room.auth.audit.entries()])
    with logged_in(room.server, "table_arbiter") as client:
        form = {"form": token_of(client, "/devices"), "table": "1", "to": SECOND, "reason": "why", **said}
        page = client.post("/devices", data=form)
    assert code in page.text
    assert room.serves() == FIRST
    notes = [one.action for one in [*room.auth.audit.entries()][before:]]
    assert devices.NOTED not in notes


def test_only_who_may_give_orders_hands_tables_over(room: Room) -> None:
    with logged_in(room.server, "organiser") as client:
        assert client.get("/devices").status_code == 403
