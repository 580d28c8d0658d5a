"""What a standby is served at the desk, who is, and what arbiters see of it and do with it."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from broker.cli.standby import FollowLine, StandbyPlace, was_replaced
from broker.errors import StandbyRefused
from broker.event import save_event
from broker.people import Actor, Authentication
from broker.protocol.link import Address
from broker.scorer.lease import TAKEOVER, Lease, keep_lease
from broker.scorer.standby import FollowAnswer, FollowRequest, Peer, read_peer, secret_of
from broker.store import STORE, SqliteJournal
from broker.store.following import EventCopy, Have
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.tables.orders import OrderDesk
from broker.web.tables.standby import FOLLOW_PATH, LARGEST, StandbyService
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.hall import Hall, make_hall
from tests.broker.scorer.small import NAME, deals, plan, registry, whole_log
from tests.broker.web import sample
from tests.broker.web.tables.test_orders import Ear
from tests.broker.web.test_auth import browser, logged_in, token_of
from tests.patience import PATIENCE_S


@dataclass
class Room:
    """A scorer that runs, its desk, and the folder of a standby."""

    hall: Hall
    auth: Authentication
    server: DeskServer
    copy: EventCopy

    def ask(self, *, secret: str | None = None, body: bytes | None = None, host: str = "standby") -> tuple[int, bytes]:
        asked = FollowRequest(self.copy.have, "", host, 1884, 8137, "first")
        known = secret_of(self.hall.scorer.publisher.key) if secret is None else secret
        headers = {"Authorization": f"Bearer {known}", "Accept": "application/json"}
        content = msgspec.msgpack.encode(asked) if body is None else body
        with browser(self.server) as client:
            answer = client.post(FOLLOW_PATH, content=content, headers=headers)
        return answer.status_code, answer.content

    def follow(self) -> FollowAnswer:
        while True:
            told = msgspec.msgpack.decode(self.ask()[1], type=FollowAnswer)
            if self.copy.take(told.part):
                self.ask()
                return told


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    stop, folder = threading.Event(), tmp_path / "first"
    folder.mkdir()
    (tmp_path / "second").mkdir()
    quick_hashes(monkeypatch)
    with closing(SqliteJournal(folder / STORE, NAME)) as journal, closing(EventCopy(tmp_path / "second", NAME)) as copy:
        auth = Authentication(folder)
        for role in ("head_arbiter", "table_arbiter"):
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        hall = make_hall(folder, journal)
        # Its clock stands still: on a busy machine the seconds that a test takes are no silence of the standby.
        monkeypatch.setattr(hall.scorer.standby, "_seconds", lambda: 100.0)
        hall.hear(*whole_log(1))
        thread = threading.Thread(target=hall.scorer.run, args=(stop,))
        thread.start()
        standby = StandbyService(hall.scorer, folder, 1883, "https")
        orders = OrderDesk("cup", auth, Ear())
        services = Services(scorer=hall.scorer, orders=orders, standby=standby)
        with DeskServer(sample.feed(), port=0, auth=auth, services=services) as server:
            yield Room(hall, auth, server, copy)
        stop.set()
        thread.join()
        auth.close()


def page(room: Room, role: str = "head_arbiter") -> str:
    with logged_in(room.server, role) as client:
        return str(client.get("/devices?lang=en").text)


def test_who_has_the_events_key_gets_all_of_it_and_is_remembered(room: Room, tmp_path: Path) -> None:
    told = room.follow()
    assert told.part.height == room.copy.journal.height == room.hall.journal.height
    assert (tmp_path / "second" / "event.key").read_bytes() == (tmp_path / "first" / "event.key").read_bytes()
    peer = read_peer(tmp_path / "first")
    assert peer is not None
    assert (peer.desk, peer.broker, peer.here) == ("https://standby:8137", "standby:1884", "first:1883")


def test_what_a_store_that_is_no_copy_has_counts_as_nothing(room: Room) -> None:
    """A machine that comes back asks before it puts aside what its store has more than the one that took over."""
    have = Have(room.hall.journal.height, b"x" * 32, 0, b"", b"")
    asked = FollowRequest(have, "", "standby", 1884, 8137, "first")
    for _ in range(2):
        assert room.ask(body=msgspec.msgpack.encode(asked))[0] == 200
        state = room.hall.scorer.standby.state
        assert state is not None
        assert state.behind == room.hall.journal.height
    room.follow()
    state = room.hall.scorer.standby.state
    assert state is not None
    assert state.behind == 0


def test_a_folder_of_another_event_with_the_same_key_is_not_overwritten(room: Room, tmp_path: Path) -> None:
    second = tmp_path / "second"
    shutil.copy(tmp_path / "first" / "event.key", second)
    asked = FollowRequest(room.copy.have, "", "standby", 1884, 8137, "first")
    for name, refused in ((NAME, False), ("cup-2025", True)):
        (second / "event.toml").write_text(f'name = "{name}"\n', encoding="utf-8")
        with closing(FollowLine(second, room.server.url)) as line, ExitStack() as expected:
            if refused:
                expected.enter_context(pytest.raises(StandbyRefused, match=f"this is the desk of {NAME}"))
            assert line.ask(asked, PATIENCE_S)


@pytest.mark.parametrize("secret", ["none", "0" * 64])
def test_nobody_else_gets_anything(room: Room, secret: str) -> None:
    status, body = room.ask(secret=secret)
    assert status == 403
    assert b"not_allowed" in body


@pytest.mark.parametrize(("body", "status"), [(b"", 400), (b"\xc1", 400), (bytes(LARGEST + 1), 413)])
def test_what_no_standby_asks_is_refused(room: Room, body: bytes, status: int) -> None:
    assert room.ask(body=body)[0] == status
    assert room.hall.scorer.standby.state is None


@pytest.mark.parametrize(("term", "replaced"), [(7, True), (2 * TAKEOVER, False)])
def test_a_machine_that_comes_back_learns_at_the_desk_whether_the_other_has_taken_over(
    room: Room, tmp_path: Path, *, term: int, replaced: bool
) -> None:
    room.follow()
    room.copy.close()
    save_event(tmp_path / "second", plan(), deals(), registry())
    with closing(SqliteJournal(tmp_path / "second" / STORE, NAME)) as journal:
        keep_lease(journal, Lease("run-before", term))
    room.hall.scorer.publisher.lease = Lease("run-of-the-standby", 7 + TAKEOVER)
    peer, nowhere = Peer("active", room.server.url, "127.0.0.1:1", ""), Address("127.0.0.1", 1, "scorer", "-")
    place = StandbyPlace("", 1883, 8136)
    assert was_replaced(tmp_path / "second", peer, place, nowhere, shared=False) is replaced


def test_a_standby_without_a_name_is_where_it_asks_from(room: Room, tmp_path: Path) -> None:
    room.ask(host="")
    peer = read_peer(tmp_path / "first")
    assert peer is not None
    assert peer.broker == "127.0.0.1:1884"


def test_arbiters_see_how_the_standby_is(room: Room) -> None:
    assert "Standby" not in page(room)
    room.ask()
    height = room.hall.journal.height
    assert f"Messages that it does not have yet: {height}." in page(room)
    room.follow()
    assert "It is up to date." in page(room)
    assert 'href="https://standby:8137/"' in page(room)


def test_where_the_standby_is_not_heard_of_arbiters_read_what_to_do_and_can_hand_nothing_over(room: Room) -> None:
    room.follow()
    assert "Hand over to the standby" in page(room)
    for heard_at, since in ((40.0, "60 s"), (-20.0, "2 min")):
        room.hall.scorer.standby._heard_at = heard_at
        shown = page(room)
        assert f"Offline for {since}." in shown
        assert "Check the other one" in shown
        assert "Hand over to the standby" not in shown


def test_a_machine_that_has_taken_over_says_how_long_it_has_waited_for_the_other(room: Room) -> None:
    room.hall.scorer.standby.peer = Peer("active", "https://first:8136", "first:1883", "second:1883")
    room.hall.scorer.standby._began = 58.0
    assert "Offline for 42 s." in page(room)


def test_the_head_arbiter_alone_hands_the_event_over_and_that_is_kept(room: Room) -> None:
    room.follow()
    assert "Hand over to the standby" not in page(room, "table_arbiter")
    with logged_in(room.server, "table_arbiter") as client:
        form = {"form": token_of(client, "/devices"), "sure": "on"}
        assert "head_arbiter_only" in client.post("/devices/standby", data=form).text
    with logged_in(room.server, "head_arbiter") as client:
        form = {"form": token_of(client, "/devices")}
        assert client.post("/devices/standby", data=form).status_code != 303
        before = room.hall.scorer.standby.leaving
        assert client.post("/devices/standby", data={**form, "sure": "on"}).status_code == 303
    assert (before, room.hall.scorer.standby.leaving) == (False, True)
    assert [one.action for one in room.auth.audit.newest(1)] == ["scorer_handed_over"]


def test_to_a_standby_that_is_not_there_nothing_is_handed_over_and_nothing_is_noted(room: Room) -> None:
    room.ask()
    room.hall.scorer.standby._heard_at = 40.0
    with logged_in(room.server, "head_arbiter") as client:
        form = {"form": token_of(client, "/devices"), "sure": "on"}
        assert "standby_behind" in client.post("/devices/standby", data=form).text
    assert [one.action for one in room.auth.audit.newest(1)] != ["scorer_handed_over"]
