"""Permissions to publish and read, tested with running brokers."""

import pytest

from broker.mqtt.programs import Kind
from tests.broker.mqtt.client import Client
from tests.broker.mqtt.hall import EVENT, Hall, places, role_of, user_of

OURS, THEIRS = 3, 4


def end(hall: Hall, table: int) -> None:
    """Publish `end` on each topic of a table, as its writer."""
    for topic, kind in places(table).items():
        hall.client(user_of(kind.writer, table)).say(topic, b"end")


def test_each_topic_reaches_all_its_readers(hall: Hall) -> None:
    listeners = {
        user: hall.listener(user, table=OURS if role_of(user) == "table" else None)
        for user in ("scorer", "desk", "arbiter", "display", f"table-{OURS}")
    }
    for topic, kind in places(OURS).items():
        hall.client(user_of(kind.writer, OURS)).say(topic, kind.name.encode())
        for reader in kind.readers:
            assert listeners[user_of(reader, OURS)].hear().payload == kind.name.encode()
    assert all(listener.heard.empty() for listener in listeners.values())


@pytest.mark.parametrize("retain", [False, True])
@pytest.mark.parametrize("intruder", [f"table-{OURS}", "arbiter", "desk", "display"])
def test_messages_on_topics_of_others_do_not_arrive(hall: Hall, intruder: str, *, retain: bool) -> None:
    forbidden = [topic for topic, kind in places(THEIRS).items() if kind.writer != role_of(intruder)]
    if role_of(intruder) == "table":
        forbidden = [*places(THEIRS)]
    heard_by_all = {"arbiter": hall.listener("arbiter"), "table": hall.listener("table-4", table=THEIRS)}
    speaker = hall.client(intruder)
    for topic in forbidden:
        assert (
            speaker.attempt(topic, b"evil", retain=retain) == "acknowledged"
        )  # brokers also acknowledge what they drop
    end(hall, THEIRS)
    for role, listener in heard_by_all.items():
        topics = [topic for topic, kind in places(THEIRS).items() if role in kind.readers]
        assert listener.hear_until(b"end", *topics) == []


def test_no_forged_message_is_retained(hall: Hall) -> None:
    speaker = hall.client(f"table-{OURS}")
    for topic in places(THEIRS):
        speaker.say(topic, b"evil", retain=True)
    late = [hall.listener("arbiter"), hall.listener("table-4", table=THEIRS)]
    end(hall, THEIRS)
    assert late[0].hear_until(b"end", *(t for t, k in places(THEIRS).items() if "arbiter" in k.readers)) == []
    assert late[1].hear_until(b"end", *(t for t, k in places(THEIRS).items() if "table" in k.readers)) == []


def places_of_table(table: int) -> dict[str, str]:
    """Return the topics of a table by the names of their kinds."""
    return {kind.name: topic for topic, kind in places(table).items()}


FILTERS = [
    "#",
    "hm/#",
    f"hm/{EVENT}/#",
    "+/+/+/+",
    "+/+/+/+/+",
    "hm/+/assignment/+",
    "hm/+/assignment/#",
    f"hm/{EVENT}/receipt/+",
    f"hm/{EVENT}/table/+/log",
    f"hm/{EVENT}/+/{THEIRS}",
    f"hm/{EVENT}/traveller/+",
    f"hm/{EVENT}/standings",
    f"hm/{EVENT}/alert",
    # internal topics of the brokers, and wildcards of nats-server
    "$MQTT/#",
    "$MQTT/sub/#",
    "$MQTT/msgs/#",
    "$MQTT/rmsgs/#",
    "$JS/#",
    "$SYS/#",
    f"hm/{EVENT}/assignment/*",
    "hm/>",
]


def test_a_table_cannot_read_other_topics(hall: Hall) -> None:
    own = [topic for topic, kind in places(OURS).items() if "table" in kind.readers]
    theirs = {topic: kind for topic, kind in places(THEIRS).items() if topic not in own}
    for topic, kind in theirs.items():
        hall.client(user_of(kind.writer, THEIRS)).say(topic, b"secret, retained", retain=kind.retain)
    table = hall.client(f"table-{OURS}")
    assert all(table.subscribe(*own))
    for each in (*FILTERS, *theirs):
        table.subscribe(each)
    for topic, kind in theirs.items():
        hall.client(user_of(kind.writer, THEIRS)).say(topic, b"secret")
    end(hall, OURS)
    heard = table.hear_until(b"end", *own)
    assert [message for message in heard if message.topic not in own] == []
    assert not [message for message in heard if b"secret" in message.payload]


def test_internal_topics_do_not_bypass_permissions(hall: Hall) -> None:
    listener = hall.listener("table-4", table=THEIRS)
    receipt = places_of_table(THEIRS)["receipt"]
    speaker = hall.client(f"table-{OURS}")
    for topic in (f"$MQTT/msgs/{receipt}", f"$MQTT/rmsgs/{receipt}", receipt.replace("/", ".")):
        speaker.say(topic, b"evil", retain=True)
    end(hall, THEIRS)
    topics = [topic for topic, kind in places(THEIRS).items() if "table" in kind.readers]
    assert listener.hear_until(b"end", *topics) == []


def test_a_stolen_session_id_reveals_nothing(hall: Hall, kind: Kind) -> None:
    owner = hall.client("table-4", session="device-of-table-4")
    assert all(owner.subscribe(*(t for t, k in places(THEIRS).items() if "table" in k.readers)))
    owner.close()
    hall.client("scorer").say(places_of_table(THEIRS)["receipt"], b"secret")
    thief = hall.client(f"table-{OURS}", session="device-of-table-4")
    assert all(thief.subscribe(places_of_table(OURS)["order"]))
    end(hall, OURS)
    assert thief.hear_until(b"end", places_of_table(OURS)["order"]) == []
    thief.close()
    if kind == "embedded":  # Mosquitto drops it: docs/brokers.md
        assert hall.client("table-4", session="device-of-table-4").hear().payload == b"secret"


@pytest.mark.parametrize(
    ("user", "password"),
    [
        (None, None),
        ("scorer", None),
        ("scorer", ""),
        ("scorer", "wrong"),
        ("scorer", "password of table 3"),
        ("nobody", "wrong"),
        ("table-6", "wrong"),
    ],
)
def test_wrong_credentials_are_rejected(hall: Hall, user: str | None, password: str | None) -> None:
    if password == "password of table 3":
        password = hall.credentials.password("table-3")
    with Client(hall.broker, user, password) as stranger:
        assert not stranger.connect()
