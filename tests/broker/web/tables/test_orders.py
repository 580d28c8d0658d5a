"""Orders from the desk: who may give them, what is stored, and what a table receives over a real broker."""

import queue
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.people import Account, Actor, Authentication
from broker.people.errors import OrderUnsent
from broker.protocol import Message, Order, SigningKey, decode_on_topic, topics
from broker.protocol.arbiter_session import SessionKey, scope_of
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.scorer import ViewFeed
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.tables.orders import RESEND_MS, DeskLink, KeptOrder, OrderDesk, OrderGiven
from tests.broker.mqtt.brokers import make_broker
from tests.broker.people.conftest import NOON, PASSWORD, Hand, quick_hashes
from tests.broker.web import sample
from tests.broker.web.test_auth import HOSTILE, logged_in, token_of
from tests.examples import COSTLY
from tests.patience import PATIENCE_S

EVENT: Final = "cup"
ID: Final = re.compile(r'name="id" value="([0-9a-f]{32})"')
Heard = queue.Queue[Incoming | LinkChanged]
PAUSE: Final = OrderGiven((1, 3), "pause", 0, "fire alarm", "A head_arbiter")


class Ear:
    """Stands in for the connection to the broker and records what is sent."""

    def __init__(self) -> None:
        self.up = True
        self.sent: list[Order] = []

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Record a message, which must be a valid order and not retained."""
        _, message = decode_on_topic(topic, payload)
        assert isinstance(message, Order)
        assert not retain
        self.sent.append(message)


class Bench:
    """A desk with accounts, a feed, and recorded orders."""

    def __init__(self, folder: Path) -> None:
        self.clock = Hand()
        self.auth, self.ear, self.feed = Authentication(folder, self.clock), Ear(), sample.feed()
        for role in ("head_arbiter", "table_arbiter", "organiser", "display"):
            self.auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        self.orders = OrderDesk(EVENT, self.auth, self.ear)
        self.server = DeskServer(self.feed, port=0, auth=self.auth, services=Services(orders=self.orders))

    def account(self) -> Account:
        """Return the account that gives orders."""
        return self.auth.accounts.get("head_arbiter")

    def give(self, given: OrderGiven) -> KeptOrder:
        """Send an order to the room in its last known state."""
        return self.orders.give(given, self.account(), "", self.feed.current.tables)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    quick_hashes(monkeypatch)
    made = Bench(tmp_path)
    with made.server:
        yield made
    made.auth.close()


def filled(client: httpx.Client, **fields: str) -> dict[str, str]:
    """Open the form and return it filled in."""
    page = client.get("/orders").text
    form = {
        "form": token_of(client, "/orders"),
        "id": ID.findall(page)[0] if ID.search(page) else "0" * 32,
        "command": "pause",
        "reason": "fire alarm",
        "table-3": "on",
        "minutes": "",
    }
    return form | fields


def give(client: httpx.Client, **fields: str) -> httpx.Response:
    return client.post("/orders", data=filled(client, **fields))


def test_an_order_is_sent_to_each_table_and_stored(bench: Bench) -> None:
    with logged_in(bench.server, "table_arbiter") as client:
        answer = give(client, **{"table-1": "on"})
    assert answer.status_code == 303
    assert [(o.table, o.command, o.author, o.seq) for o in bench.ear.sent] == [
        (1, "pause", "A table_arbiter", NOON // 1000),
        (3, "pause", "A table_arbiter", NOON // 1000),
    ]
    (kept,) = bench.orders.book.newest(5)
    assert (kept.who, kept.at, kept.given.reason) == ("table_arbiter", NOON, "fire alarm")
    entry = bench.auth.audit.newest(1)[0]
    assert (entry.who, entry.action, entry.about, entry.detail) == (
        "table_arbiter",
        "order_given",
        "pause 1,3",
        "fire alarm",
    )


def test_a_form_sent_twice_gives_one_order(bench: Bench) -> None:
    with logged_in(bench.server, "head_arbiter") as client:
        form = filled(client, command="extra_time", minutes="5")
        first, second = (client.post("/orders", data=form) for _ in range(2))
        said = [client.get(answer.headers["location"]).text for answer in (first, second)]
    assert [answer.status_code for answer in (first, second)] == [303, 303]
    assert ["It is marked as done" in said[0], "not sent again" in said[1]] == [True, True]
    assert ([order.minutes for order in bench.ear.sent], len(bench.orders.book.newest(5))) == ([5], 1)
    assert [one.action for one in bench.auth.audit.newest(3)].count("order_given") == 1


@pytest.mark.parametrize("gone", ["broker", "tables"])
def test_a_repeated_form_is_confirmed_even_without_a_connection(bench: Bench, gone: str) -> None:
    with logged_in(bench.server, "head_arbiter") as client:
        form = filled(client, command="extra_time", minutes="5")
        client.post("/orders", data=form)
        bench.ear.up = gone != "broker"
        tables = tuple(replace(one, lifecycle=None) for one in bench.feed.current.tables) if gone == "tables" else ()
        bench.feed.publish(sample.newer(bench.feed.current, tables=tables or bench.feed.current.tables))
        again = client.post("/orders", data=form)
    assert (again.status_code, "done=again" in again.headers.get("location", "")) == (303, True)
    assert len(bench.orders.book.newest(5)) == 1


def test_a_form_sent_again_with_another_order_is_refused_and_shown(bench: Bench) -> None:
    with logged_in(bench.server, "head_arbiter") as client:
        form = filled(client)
        client.post("/orders", data=form)
        changed = client.post("/orders", data=form | {"reason": "the alarm again"})
        fresh = ID.findall(changed.text)
    assert (changed.status_code, "order_given_before" in changed.text) == (409, True)
    assert "the alarm again" in changed.text
    assert fresh != [form["id"]]
    assert len(bench.ear.sent) == 1


def test_in_a_large_hall_tables_are_typed_as_ranges(bench: Bench) -> None:
    one = bench.feed.current.tables[0]
    hall = tuple(replace(one, table=table, paused=table > 990) for table in range(1, 1001))
    bench.feed.publish(sample.newer(bench.feed.current, tables=hall))
    with logged_in(bench.server, "head_arbiter") as client:
        form = filled(client, tables="1 2, 5-72、1000")
        del form["table-3"]
        wrong = [client.post("/orders", data=form | {"tables": text}) for text in ("1 2 5-70 x", "5-2", "7 1001")]
        given = client.post("/orders", data=form)
        page = client.get(given.headers["location"]).text
    assert [(answer.status_code, "tables_unreadable" in answer.text) for answer in wrong] == [(400, True)] * 3
    assert ['value="1 2 5-70 x"' in wrong[0].text, "fire alarm" in wrong[0].text] == [True, True]
    assert [order.table for order in bench.ear.sent] == [1, 2, *range(5, 73), 1000]
    assert ("Tables 1, 2, 5-72, 1000" in page, "991-1000</a>" in page) == (True, True)
    assert page.count('"checkbox"') == 1


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [("more", "x" * 20_000, "form_too_large"), ("form", "é", "form_foreign"), ("id", "none", "form_malformed")],
)
def test_a_form_refused_as_a_whole_keeps_what_was_typed(bench: Bench, field: str, value: str, code: str) -> None:
    with logged_in(bench.server, "head_arbiter") as client:
        answer = client.post("/orders", data=filled(client, reason="tables 1 to 3 stand") | {field: value})
    assert (answer.status_code >= 400, code in answer.text, bench.ear.sent) == (True, True, [])
    assert ("tables 1 to 3 stand" in answer.text, re.search(r'name="table-3" checked', answer.text) is not None) == (
        True,
        True,
    )


def test_the_reason_is_not_sent_to_tables(bench: Bench) -> None:
    bench.give(PAUSE)
    assert not hasattr(bench.ear.sent[0], "reason")


def test_an_order_can_be_sent_to_all_tables(bench: Bench) -> None:
    with logged_in(bench.server, "head_arbiter") as client:
        give(client, all="on")
    assert [order.table for order in bench.ear.sent] == [1, 2, 3, 4]


def test_quiet_light_can_be_ordered_for_all_tables_and_ended_for_one(bench: Bench) -> None:
    with logged_in(bench.server, "table_arbiter") as client:
        assert give(client, command="quiet_light", all="on").status_code == 303
        assert give(client, command="normal_light").status_code == 303
        assert "Dark hall: quiet light" in client.get("/orders").text
    said = [(order.table, order.command) for order in bench.ear.sent]
    assert said == [*((table, "quiet_light") for table in (1, 2, 3, 4)), (3, "normal_light")]


@pytest.mark.parametrize("role", ["organiser", "display"])
def test_roles_without_the_right_cannot_give_orders(bench: Bench, role: str) -> None:
    with logged_in(bench.server, role) as client:
        answers = [client.get("/orders"), give(client)]
        assert "/orders" not in client.get("/").text
    assert [answer.status_code for answer in answers] == [403, 403]
    assert (bench.ear.sent, bench.orders.book.newest(5)) == ([], [])


@pytest.mark.parametrize(
    "wrong", [{"reason": ""}, {"command": "shout"}, {"table-3": "on", "table-9": "on"}, {"command": "extra_time"}]
)
def test_an_invalid_order_is_refused_and_keeps_what_was_typed(bench: Bench, wrong: dict[str, str]) -> None:
    with logged_in(bench.server, "head_arbiter") as client:
        answer = give(client, **({"reason": "five more minutes"} | wrong))
    assert (answer.status_code, "bad_order" in answer.text) == (400, True)
    assert wrong.get("reason", "five more minutes") in answer.text
    assert bench.ear.sent == []


def test_an_order_without_a_connection_is_refused_and_not_stored(bench: Bench) -> None:
    bench.ear.up = False
    with logged_in(bench.server, "head_arbiter") as client:
        answer = give(client)
    assert (answer.status_code, "order_unsent" in answer.text) == (503, True)
    assert bench.orders.book.newest(5) == []
    with pytest.raises(OrderUnsent):
        bench.give(PAUSE)


def test_only_recent_orders_are_sent_again_on_a_new_connection(bench: Bench) -> None:
    bench.give(PAUSE)
    bench.clock.now += RESEND_MS
    bench.give(OrderGiven((1,), "resume", 0, "over", "A"))
    before = list(bench.ear.sent)
    bench.orders.connected()
    assert bench.ear.sent[len(before) :] == before
    bench.clock.now += 1
    bench.orders.connected()
    assert [order.command for order in bench.ear.sent[2 * len(before) :]] == ["resume"]


def test_an_order_is_done_once_the_table_confirms_it(bench: Bench) -> None:
    kept = bench.give(OrderGiven((1,), "pause", 0, "fire alarm", "A"))
    with logged_in(bench.server, "head_arbiter") as client:
        assert "Tables that have not received it yet: 1" in client.get("/orders").text
        said = {"ordered": kept.seq, "obeyed": {kept.seq: kept.id_at(1)}, "paused": True}
        tables = (replace(bench.feed.current.tables[0], **said),)
        bench.feed.publish(sample.newer(bench.feed.current, tables=tables))
        assert "not received it yet" not in client.get("/orders").text
        assert "Paused" in client.get("/").text


REFUSED: Final = {
    "en": "Tables that had already gone on to the next deal: 1. Nothing was changed there. Correct the earlier result",
    "fr": "Tables déjà passées à la donne suivante",
    "zh": "已进入下一副牌的牌桌",
}


@pytest.mark.parametrize("language", REFUSED)
def test_a_refused_order_is_shown_with_advice(bench: Bench, language: str) -> None:
    kept = bench.give(OrderGiven((1,), "reopen", 0, "upside down", "A"))
    said = {"ordered": kept.seq, "obeyed": {kept.seq: kept.id_at(1)}, "refused": {kept.seq: "next_deal_begun"}}
    bench.feed.publish(sample.newer(bench.feed.current, tables=(replace(bench.feed.current.tables[0], **said),)))
    with logged_in(bench.server, "head_arbiter") as client:
        text = client.get("/orders", params={"lang": language}).text
        done = client.get("/orders").text.count("· done")
    assert (REFUSED[language] in text, "<code>next_deal_begun</code>" in text, done) == (True, True, 0)


def test_an_order_refused_for_an_unknown_reason_is_not_shown_as_done(bench: Bench) -> None:
    kept = bench.give(OrderGiven((1,), "pause", 0, "fire alarm", "A"))
    said = {"ordered": kept.seq, "obeyed": {kept.seq: kept.id_at(1)}, "refused": {kept.seq: "moon_in_the_way"}}
    bench.feed.publish(sample.newer(bench.feed.current, tables=(replace(bench.feed.current.tables[0], **said),)))
    with logged_in(bench.server, "head_arbiter") as client:
        text = client.get("/orders").text
    assert ("Tables that did not carry this out: 1 <code>moon_in_the_way</code>" in text, "· done" in text) == (
        True,
        False,
    )


def test_an_order_that_was_passed_over_is_not_shown_as_done(bench: Bench) -> None:
    kept = bench.give(OrderGiven((1,), "pause", 0, "fire alarm", "A"))
    said = {"ordered": kept.seq, "obeyed": {kept.seq: f"{'a' * 32}-1"}}
    bench.feed.publish(sample.newer(bench.feed.current, tables=(replace(bench.feed.current.tables[0], **said),)))
    with logged_in(bench.server, "head_arbiter") as client:
        text = client.get("/orders").text
    assert ("Give this one again if you still need it" in text, "· done" in text) == (True, False)


def test_an_order_to_tables_that_never_connected_is_refused(bench: Bench) -> None:
    unheard = tuple(replace(table, lifecycle=None) for table in bench.feed.current.tables)
    bench.feed.publish(sample.newer(bench.feed.current, tables=unheard))
    with logged_in(bench.server, "head_arbiter") as client:
        answer = give(client)
    assert (answer.status_code, "tables_unheard" in answer.text) == (503, True)
    assert (bench.ear.sent, bench.orders.book.newest(5)) == ([], [])


def test_a_desk_without_a_broker_offers_no_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick_hashes(monkeypatch)
    auth = Authentication(tmp_path)
    auth.accounts.add("head_arbiter", "A", "head_arbiter", PASSWORD, Actor("test"))
    with DeskServer(ViewFeed(sample.view()), port=0, auth=auth) as desk, logged_in(desk, "head_arbiter") as client:
        assert (client.get("/orders").status_code, "/orders" in client.get("/").text) == (404, False)
    auth.close()


@settings(COSTLY, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(["command", "minutes", "reason", "all", "table-1", "table-x", "table-0"]), HOSTILE)
)
def test_any_input_is_an_order_or_is_refused(bench: Bench, fields: dict[str, str]) -> None:
    with logged_in(bench.server, "head_arbiter") as client:
        safe = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
        answer = give(client, **safe)
    assert answer.status_code in {303, 400}
    assert "<script>alert" not in answer.text


def test_over_a_real_broker_a_table_receives_only_its_own_orders(
    tmp_path: Path,
) -> None:
    known, auth = Credentials.create(2), Authentication(tmp_path)
    sessions = SessionKey.of_event(EVENT, SigningKey.from_bytes(b"9" * 32))
    account = Account("anne", "Anne", "head_arbiter", disabled=False)
    with ExitStack() as room:
        broker = room.enter_context(make_broker("embedded", tmp_path / "broker", EVENT, known, tables=2))
        heard = room.enter_context(table_of(broker, known, 1))
        line = DeskLink(EVENT, auth, Address(broker.host, broker.port, "desk", known.password("desk")), sessions)
        line.start()
        assert line.wait(PATIENCE_S)
        line.orders.give(OrderGiven((2,), "pause", 0, "why", "Anne"), account, "", sample.tables())
        line.orders.give(OrderGiven((1,), "extra_time", 5, "why", "Anne"), account, "", sample.tables())
        order = message_of(heard)
        line.stop()
    auth.close()
    assert isinstance(order, Order)
    assert (order.table, order.command, order.minutes, order.author) == (1, "extra_time", 5, "Anne")
    known_at = [
        sessions.verifies(order.session or "", table, who) for table, who in ((1, "Anne"), (2, "Anne"), (1, "Bo"))
    ]
    assert (known_at, scope_of(order.session or "")) == ([True, False, False], "extra_time")


@contextmanager
def table_of(broker: Broker, known: Credentials, table: int) -> Iterator[Heard]:
    """Connect as a table; return the queue of what it receives."""
    heard: Heard = queue.Queue()
    own = [topic.at(EVENT, table=table) for topic in (topics.ORDER,)]
    link = Link(Address(broker.host, broker.port, *known.table(table)), f"homologue-cup-table-{table}", own, heard.put)
    link.start()
    try:
        assert heard.get(timeout=PATIENCE_S) == LinkChanged(up=True)
        yield heard
    finally:
        link.stop()


def message_of(heard: Heard) -> Message:
    """Return the next message that was received."""
    came = heard.get(timeout=PATIENCE_S)
    assert isinstance(came, Incoming)
    came.acknowledge()
    return decode_on_topic(came.topic, came.payload)[1]
