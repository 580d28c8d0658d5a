"""Wills, sessions and retained messages, and which of them survive a restart of the broker."""

import pytest

from broker.mqtt.process import PAYLOAD_LIMIT
from broker.mqtt.programs import Kind
from broker.protocol import LOG
from broker.protocol.topics import ASSIGNMENT, ORDER, STATE
from tests.broker.mqtt.client import Heard
from tests.broker.mqtt.hall import EVENT, Hall, places, user_of

STATE_3 = STATE.at(EVENT, table=3)
LOG_3 = LOG.at(EVENT, table=3)
ORDER_3 = ORDER.at(EVENT, table=3)
ASSIGNMENT_3 = ASSIGNMENT.at(EVENT, table=3)


def test_the_will_of_a_table_is_delivered_and_retained(hall: Hall) -> None:
    arbiter = hall.listener("arbiter")
    table = hall.client("table-3", will=STATE_3)
    table.say(STATE_3, b"ready", retain=True)
    table.vanish()
    assert [arbiter.hear(), arbiter.hear()] == [Heard(STATE_3, b"ready"), Heard(STATE_3, b"lost")]
    hall.await_retained(STATE_3, 3, b"lost")
    assert hall.listener("arbiter").hear() == Heard(STATE_3, b"lost", retain=True)


def test_the_will_of_a_table_that_disconnects_is_not_sent(hall: Hall) -> None:
    arbiter = hall.listener("arbiter")
    hall.client("table-3", will=STATE_3).close()
    hall.client("table-3").say(STATE_3, b"end")
    assert arbiter.hear_until(b"end", STATE_3) == []


def test_a_will_on_the_topic_of_another_table_is_not_delivered(hall: Hall) -> None:
    arbiter = hall.listener("arbiter")
    hall.client("table-4", will=STATE_3).vanish()
    hall.client("table-3").say(STATE_3, b"end")
    assert arbiter.hear_until(b"end", STATE_3) == []
    late = hall.listener("arbiter")
    hall.client("table-3").say(STATE_3, b"end")
    assert late.hear_until(b"end", STATE_3) == []


def test_messages_sent_while_the_reader_was_away_arrive_in_order(hall: Hall) -> None:
    hall.client("scorer", session="scorer").subscribe(LOG.at(EVENT))
    reader = hall.client("scorer", session="scorer")  # takes over the session of the first
    reader.vanish()
    table = hall.client("table-3")
    said = [b"%d" % number for number in range(200)]
    for payload in said:
        table.say(LOG_3, payload)
    back = hall.client("scorer", session="scorer")
    assert [back.hear().payload for _ in said] == said


def test_unacknowledged_messages_are_sent_again(hall: Hall) -> None:
    reader = hall.client("scorer", session="scorer", acknowledges=False)
    reader.subscribe(LOG.at(EVENT))
    hall.client("table-3").say(LOG_3, b"one")
    assert reader.hear().payload == b"one"
    reader.vanish()
    assert hall.client("scorer", session="scorer").hear().payload == b"one"


def test_sessions_and_retained_messages_survive_a_restart(own_hall: Hall) -> None:
    table = own_hall.client("table-3", session="device-3")
    table.subscribe(ORDER_3, ASSIGNMENT_3)
    table.close()
    own_hall.client("scorer").say(ASSIGNMENT_3, b"who sits where", retain=True)
    own_hall.client("desk").say(ORDER_3, b"order")
    own_hall.broker.stop()
    own_hall.broker.start()
    table = own_hall.client("table-3", session="device-3")
    heard = {table.hear().payload, table.hear().payload}
    assert heard == {b"who sits where", b"order"}
    own_hall.await_retained(ASSIGNMENT_3, 3, b"who sits where")
    assert own_hall.listener("table-3", table=3).hear() == Heard(ASSIGNMENT_3, b"who sits where", retain=True)


def test_a_retained_message_is_deleted_by_an_empty_one(hall: Hall) -> None:
    scorer = hall.client("scorer")
    scorer.say(ASSIGNMENT_3, b"who sits where", retain=True)
    hall.await_retained(ASSIGNMENT_3, 3, b"who sits where")
    scorer.say(ASSIGNMENT_3, b"", retain=True)
    hall.await_retained(ASSIGNMENT_3, 3, None)
    table = hall.listener("table-3", table=3)
    scorer.say(ASSIGNMENT_3, b"end")
    assert table.hear_until(b"end", ASSIGNMENT_3) == []


@pytest.mark.slow
def test_a_killed_broker_restarts_on_the_same_port(own_hall: Hall) -> None:
    port, first = own_hall.broker.port, own_hall.broker.pid
    own_hall.broker.kill()
    assert not own_hall.broker.alive()
    own_hall.broker.start()
    assert (own_hall.broker.port, own_hall.broker.alive()) == (port, True)
    assert own_hall.broker.pid != first
    arbiter = own_hall.listener("arbiter")
    own_hall.client("table-3").say(LOG_3, b"after")
    assert arbiter.hear() == Heard(LOG_3, b"after")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["embedded"])
def test_acknowledged_messages_survive_a_kill_of_the_embedded_broker(kind: Kind, own_hall: Hall) -> None:
    assert kind == "embedded"
    reader = own_hall.client("scorer", session="scorer")
    reader.subscribe(LOG.at(EVENT))
    reader.close()
    table = own_hall.client("table-3")
    said = [b"%d" % number for number in range(200)]
    for payload in said:
        table.say(LOG_3, payload)
    table.say(STATE_3, b"ready", retain=True)
    own_hall.broker.kill()
    own_hall.broker.start()
    back = own_hall.client("scorer", session="scorer")
    assert [back.hear().payload for _ in said] == said
    own_hall.await_retained(STATE_3, 3, b"ready")
    assert own_hall.listener("arbiter").hear() == Heard(STATE_3, b"ready", retain=True)


def test_the_largest_allowed_payloads_arrive(hall: Hall) -> None:
    for place, topic in places(3).items():
        listener = hall.client(user_of(topic.readers[0], 3))
        listener.subscribe(place)
        hall.client(user_of(topic.writer, 3)).say(place, b"x" * topic.limit, retain=topic.retain)
        assert len(listener.hear().payload) == topic.limit


def test_an_oversized_payload_is_dropped_and_the_broker_survives(hall: Hall, kind: Kind) -> None:
    scorer = hall.listener("scorer")
    done = hall.client("table-3").attempt(LOG_3, b"x" * (PAYLOAD_LIMIT + 1))
    assert done == {"embedded": "closed", "mosquitto": "acknowledged"}[kind]
    table = hall.client("table-4")
    table.say(LOG.at(EVENT, table=4), b"still here")
    hall.client("table-3").say(LOG_3, b"end")
    assert scorer.hear_until(b"end", LOG_3) == [Heard(LOG.at(EVENT, table=4), b"still here")]
    assert hall.broker.alive()
