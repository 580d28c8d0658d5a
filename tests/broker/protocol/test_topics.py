"""The table of topics and the codec: who sends what on which topic, and that no message to a table reveals a face.

Incoming messages are decoded or refused, and no message exceeds its topic's limit.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from broker.protocol import (
    SEATS,
    TOPICS,
    Command,
    DealNo,
    EventName,
    HallName,
    Message,
    Order,
    ParsedTopic,
    Refused,
    TableNo,
    Topic,
    Traveller,
    WinKind,
    decode_on_topic,
    encode,
    parse_topic,
    topics,
)
from broker.rules import KINDS
from tests.broker.protocol.other_versions import grown_bytes
from tests.broker.protocol.shapes import leaves
from tests.broker.protocol.strategies import any_message, at, messages, of_type
from tests.examples import COSTLY


@given(st.sampled_from(TOPICS), of_type(EventName), of_type(TableNo), of_type(DealNo), of_type(HallName))
def test_every_topic_survives_a_round_trip(topic: Topic, event: str, table: int, deal: int, hall: str) -> None:
    levels = {"table": table, "deal": deal, "hall": hall}
    said = {name: value for name, value in levels.items() if f"{{{name}}}" in topic.pattern}
    assert parse_topic(topic.at(event, table=table, deal=deal, hall=hall)) == ParsedTopic(topic, event, **said)  # type: ignore[arg-type] # by name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "#",
        "+/+/+",
        "hm",
        "hm/cup",
        "hm/cup/#",
        "hm/+/standings",
        "hm/#/standings",
        "hm/cup/table/+/log",
        "hm/cup/table/#",
        "$SYS/broker/uptime",
        "$share/group/hm/cup/standings",
        "hm/$SYS/standings",
        "hm//standings",
        "/hm/cup/standings",
        "hm/cup/standings/",
        "hm/cup/table//log",
        "hm/cup/table/3/log/",
        "hm/cup/table/3/logs",
        "hm/cup/table/3/state\n",
        "hm/cup\n/standings",
        "hm/cup/table/0/log",
        "hm/cup/table/03/log",
        "hm/cup/table/10000/log",
        "hm/cup/table/-3/log",
        "hm/cup/table/3.0/log",
        "hm/cup/table/٣/log",
        "hm/cup/table/３/log",
        "hm/cup/table/3\u200b/log",
        "hm/cup/traveller/0",
        "hm/cup/traveller/10000",
        "hm/Cup/standings",
        "hm/çup/standings",
        "hm/cup one/standings",
        "hm/cup.one/standings",
        "hm/-cup/standings",
        "hm/..//standings",
        f"hm/{'c' * 33}/standings",
        "hm/cup\x00/standings",
        "Hm/cup/standings",
        "hm∕cup∕standings",
    ],
    ids=ascii,
)
def test_other_texts_are_not_topics(text: str) -> None:
    assert parse_topic(text) is None


@given(st.text(st.sampled_from("hm/cup+#$ 3tablelogs\n٣"), max_size=30))
def test_a_parsed_topic_is_written_in_the_same_way(text: str) -> None:
    place = parse_topic(text)
    if place is not None:
        assert place.topic.at(place.event, table=place.table, deal=place.deal, hall=place.hall) == text


def test_an_omitted_level_is_a_wildcard_but_zero_is_not() -> None:
    assert topics.LOG.at("cup") == "hm/cup/table/+/log"
    assert topics.TRAVELLER.at("cup") == "hm/cup/traveller/+"
    assert topics.LOG.at("cup", table=0) == "hm/cup/table/0/log"


def test_each_topic_starts_with_its_event() -> None:
    assert [topic.name for topic in TOPICS if not topic.at("cup").startswith("hm/cup/")] == []


def test_each_kind_of_message_has_one_topic() -> None:
    assert len({topic.message for topic in TOPICS}) == len(TOPICS) == len({topic.pattern for topic in TOPICS})


def test_only_scorers_read_topics_that_they_write() -> None:
    assert [topic.name for topic in TOPICS if topic.writer in topic.readers] == ["scorer", "scorer_asked"]


def test_only_state_is_retained() -> None:
    assert {topic.name for topic in TOPICS if topic.retain} == {
        "state",
        "receipt",
        "assignment",
        "served",
        "kept",
        "pin",
        "scorer",
        "traveller",
        "standings",
        "public_traveller",
        "public_standings",
        "hall_state",
        "hall_receipt",
        "centre",
    }


READ_BY_TABLES = [topic for topic in TOPICS if "table" in topic.readers]


def text_fields() -> dict[str, str | None]:
    """Return every text field that a table reads, with its pattern."""
    return {
        f"{topic.name}: {way}": kind.pattern
        for topic in READ_BY_TABLES
        for way, kind in leaves(topic.message)
        if isinstance(kind, inspect.StrType)
    }


def test_a_table_reads_only_these_topics() -> None:
    names = ["scorer", "receipt", "assignment", "served", "kept", "order", "pin", "counted"]
    assert [topic.name for topic in READ_BY_TABLES] == names


def test_a_table_reads_only_these_text_fields() -> None:
    assert set(text_fields()) == {
        "scorer: id",
        "scorer: event",
        "scorer: run",
        "scorer: answers",
        "scorer: store",
        "scorer: version",
        "scorer: standby",
        "scorer: moved",
        "receipt: id",
        "receipt: event",
        "receipt: anchor",
        "receipt: head",
        "receipt: signature",
        "receipt: store",
        "receipt: version",
        "receipt: taken[].id",
        "receipt: refused[].id",
        "receipt: refused[].code",
        "assignment: id",
        "assignment: event",
        "assignment: store",
        "assignment: profile",
        "assignment: rules",
        "assignment: plays[].players{}.id",
        "assignment: plays[].players{}.name",
        "assignment: onward{}{}?",
        "assignment: session.players{}.id",
        "assignment: session.players{}.name",
        "assignment: repeats{}[]",
        "assignment: public_address",
        "served: id",
        "served: event",
        "served: device",
        "served: unknown",
        "served: refused",
        "served: upgrade.version",
        "served: upgrade.manifest",
        "served: upgrade.host",
        "kept: id",
        "kept: event",
        "kept: records[].id",
        "kept: records[].sealed",
        "order: id",
        "order: event",
        "order: author",
        "order: session",
        "pin: id",
        "pin: event",
        "pin: key",
        "pin: mark",
        "pin: answer.asked",
        "pin: answer.session",
        "pin: answer.code",
        "pin: signature",
        "counted: id",
        "counted: event",
        "counted: asked",
        "counted: answer.code",
        "counted: answer.elements[].id",
        "counted: answer.yaku[].id",
        "counted: answer.items[].id",
    }


def test_the_value_of_a_hand_cannot_contain_a_face() -> None:
    patterns = {pattern for way, pattern in text_fields().items() if way.startswith("counted: answer")}
    assert None not in patterns
    assert not any(re.search(pattern or "", face) for pattern in patterns for face in (*KINDS, "0m", "0p", "0s"))


def test_no_literal_that_a_table_reads_is_a_face() -> None:
    choices = {
        value
        for topic in READ_BY_TABLES
        for _, kind in leaves(topic.message)
        if isinstance(kind, inspect.LiteralType)
        for value in kind.values
    }
    assert choices == {1, *SEATS, *get_args(Command), "active", "gone"}
    assert choices.isdisjoint(KINDS)


def test_a_table_reads_no_untyped_value() -> None:
    kinds = {type(kind) for topic in READ_BY_TABLES for _, kind in leaves(topic.message)}
    assert kinds == {inspect.IntType, inspect.StrType, inspect.LiteralType, inspect.NoneType, inspect.BoolType}


def test_tiles_of_a_tray_are_serials_from_1_to_136() -> None:
    trays = {
        (kind.ge, kind.le)
        for topic in READ_BY_TABLES
        for way, kind in leaves(topic.message)
        if "order{}[" in way and isinstance(kind, inspect.IntType)
    }
    assert trays == {(1, 136)}


def test_a_result_message_has_the_hand_value_but_no_hand() -> None:
    (log,) = (topic for topic in TOPICS if topic.name == "log")
    texts = {way for way, kind in leaves(log.message) if isinstance(kind, inspect.StrType)}
    fines = {"fact.fines{}.reason", "fact.fines{}.author", "fact.fines{}.session"}
    result = {"fact.profile", "fact.players{}", *fines}
    ruled = {
        "fact.author",
        "fact.session",
        "fact.sealed",
        "fact.sealed_by",
        "fact.reason",
        "fact.decision.gives{}?",
        "fact.decision.takes{}?",
        "fact.decision.infraction",
    }
    assert texts == {
        "id",
        "event",
        "device",
        "before",
        "signature",
        "sender",
        "fact.form",
        *result,
        *ruled,
        "fact.guards[]",
    }
    assert set(SEATS).isdisjoint(KINDS)
    assert set(WinKind.__args__).isdisjoint(KINDS)  # type: ignore[attr-defined] # a Literal has its words there


ORDER: Final = Order(id="order-0001", event="cup", table=3, seq=1, command="clear_call", author="Aïcha")
ORDER_TOPIC: Final = "hm/cup/order/3"


def refusal(topic: str, payload: bytes) -> str:
    """Return the code with which a message is refused."""
    with pytest.raises(Refused) as refused:
        decode_on_topic(topic, payload)
    return refused.value.code


def changed(change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return the order with something changed in its JSON."""
    said = json.loads(encode(ORDER))
    change(said)
    return json.dumps(said).encode()


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_message_survives_a_round_trip(topic: Topic) -> None:
    @COSTLY
    @given(messages(topic))
    def law(message: Message) -> None:
        place, back = decode_on_topic(at(topic, message), encode(message))
        assert back == message
        assert (place.topic, place.event) == (topic, message.event)

    law()


def test_the_unchanged_order_is_accepted() -> None:
    assert decode_on_topic(ORDER_TOPIC, encode(ORDER))[1] == ORDER


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"schema": "1"},
        {"schema": None},
        {"table": "3"},
        {"table": 3.0},
        {"table": True},
        {"table": 0},
        {"table": 10000},
        {"table": None},
        {"seq": 2**31},
        {"seq": 10**3000},
        {"seq": -1},
        {"seq": float("nan")},
        {"seq": float("inf")},
        {"id": "short"},
        {"id": "order-0001\n"},
        {"id": "órder-0001"},
        {"event": "cup\n"},
        {"event": "Cup"},
        {"author": ""},
        {"author": "x" * 101},
        {"author": ["Aïcha"]},
        {"command": "shut_down"},
    ],
    ids=lambda change: next(f"{key}={value!r}"[:30] for key, value in change.items()),
)
def test_a_message_with_a_wrong_field_is_malformed(change: dict[str, Any]) -> None:
    assert refusal(ORDER_TOPIC, changed(lambda said: said.update(change))) == "malformed"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_unknown_fields_of_a_newer_program_are_ignored(topic: Topic) -> None:
    @COSTLY
    @given(messages(topic))
    def law(message: Message) -> None:
        said = grown_bytes(message)
        if len(said) <= topic.limit:
            assert decode_on_topic(at(topic, message), said)[1] == message

    law()


def test_a_duplicate_name_in_an_unknown_field_is_malformed() -> None:
    said = encode(ORDER)[:-1] + b',"newer":{"a":1%s}}'
    assert decode_on_topic(ORDER_TOPIC, said % b"")[1] == ORDER
    assert refusal(ORDER_TOPIC, said % b',"a":1') == "malformed"


def test_known_fields_are_checked_beside_unknown_ones() -> None:
    assert refusal(ORDER_TOPIC, changed(lambda said: said.update({"newer": 1, "command": "shut_down"}))) == "malformed"


@pytest.mark.parametrize("name", ["id", "event", "table", "seq", "command", "author"])
def test_a_message_without_a_required_field_is_malformed(name: str) -> None:
    assert refusal(ORDER_TOPIC, changed(lambda said: said.pop(name))) == "malformed"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        encode(ORDER) + b"x",
        encode(ORDER) + encode(ORDER),
        b"\xef\xbb\xbf" + encode(ORDER),
        encode(ORDER).decode().encode("utf-16"),
        encode(ORDER).decode().encode("latin-1"),
        encode(ORDER).replace("ï".encode(), rb"\ud800"),
        encode(ORDER).removesuffix(b"}") + b',"colour":"\xed\xa0\x80"}',
        encode(ORDER).removesuffix(b"}") + b',"\xff":1}',
        encode(ORDER).replace("ï".encode(), b"\n"),
        b"[" * 2000 + b"]" * 2000,
        b'{"schema":1,"colour":' + b"[" * 2000 + b"]" * 2000 + b"}",
        encode(ORDER).replace(b'"seq":1', b'"seq":' + b"9" * 3000),
        encode(ORDER).replace(b'"seq":1', b'"seq":1e400'),
        encode(ORDER).replace(b'"seq":1', b'"seq":NaN'),
        encode(ORDER).replace(b'"seq":1', b'"seq":1,"seq":1'),
        encode(ORDER).replace(b'"seq":1', b'"seq":2,"s\\u0065q":1'),
    ],
    ids=lambda payload: payload[-25:].decode("ascii", errors="replace").replace("\x00", ""),
)
def test_anything_but_one_valid_json_object_is_malformed(payload: bytes) -> None:
    assert payload != encode(ORDER)
    assert refusal(ORDER_TOPIC, payload) == "malformed"


def test_a_nested_duplicate_name_is_malformed() -> None:
    said = b'{"schema":1,"id":"state-001","event":"cup","table":3,"seq":0,"device":"kiosk-03","start":1,"count":1,'
    said += b'"lifecycle":"ready","state":"waiting","round":null,"deal":null,"unsent":0,"calling":false,'
    said += b'"health":{"camera":"dark"%s}}'
    assert decode_on_topic("hm/cup/table/3/state", said % b"")[1].id == "state-001"
    assert refusal("hm/cup/table/3/state", said % b',"camera":"gone"') == "malformed"


def test_a_payload_above_the_limit_is_too_large() -> None:
    for topic in TOPICS:
        name = topic.at("cup", table=3, deal=3, hall="paris")
        assert refusal(name, b" " * topic.limit) == "malformed", name
        assert refusal(name, b" " * (topic.limit + 1)) == "too_large", name


@given(any_message(), st.sampled_from(["cup-1", "x", "0"]))
def test_a_message_on_the_topic_of_another_event_is_refused(said: tuple[Topic, Message], event: str) -> None:
    topic, message = said
    name = at(topic, message).split("/")
    name[1] = f"not-{event}"
    if message.event != name[1]:
        assert refusal("/".join(name), encode(message)) == "wrong_event"


@pytest.mark.parametrize("table", [1, 2, 4, 9999])
def test_a_message_on_the_topic_of_another_table_is_refused(table: int) -> None:
    assert refusal(topics.ORDER.at("cup", table=table), encode(ORDER)) == "wrong_table"


def test_a_traveller_on_the_topic_of_another_deal_is_refused() -> None:
    said = encode(Traveller(id="travel-01", event="cup", seq=1, deal=4, complete=False, expected=4, plays=()))
    assert refusal("hm/cup/traveller/5", said) == "wrong_deal"


def test_a_message_on_an_unknown_topic_is_refused() -> None:
    assert refusal("hm/cup/orders/3", encode(ORDER)) == "unknown_topic"


@given(st.sampled_from(TOPICS), st.binary(max_size=300))
def test_random_bytes_are_malformed(topic: Topic, payload: bytes) -> None:
    assert refusal(topic.at("cup", table=3, deal=3, hall="paris"), payload) == "malformed"


@given(any_message(), st.data())
def test_a_corrupted_message_is_accepted_or_refused_without_other_errors(
    said: tuple[Topic, Message], data: st.DataObject
) -> None:
    topic, message = said
    payload = bytearray(encode(message))
    where = data.draw(st.integers(0, len(payload) - 1))
    payload[where : where + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    try:
        _, back = decode_on_topic(at(topic, message), bytes(payload))
    except Refused as refused:
        assert refused.code in {"malformed", "wrong_event", "wrong_table", "wrong_deal"}  # noqa: PT017 - taking it is right too
    else:
        assert decode_on_topic(at(topic, message), encode(back))[1] == back


def test_the_text_of_a_refusal_is_bounded() -> None:
    with pytest.raises(Refused) as refused:
        decode_on_topic(f"hm/{'x' * 3000}", encode(ORDER))
    assert len(refused.value.text) <= 300


WORST = "\x01"
"""A character that takes six bytes in JSON, more than any other."""


def longest(kind: inspect.Type) -> Any:  # noqa: ANN401 - a value of any type
    """Return a value of a type that takes the most bytes."""
    match kind:
        case inspect.Metadata():
            return longest(kind.type)
        case inspect.StructType():
            return kind.cls(**{field.name: longest(field.type) for field in kind.fields})
        case inspect.UnionType():
            return max((longest(one) for one in kind.types), key=lambda value: len(encode_any(value)))
        case inspect.VarTupleType():
            return (longest(kind.item_type),) * bound(kind.max_length)
        case inspect.DictType():
            return {key: longest(kind.value_type) for key in keys(kind)}
        case _:
            return longest_leaf(kind)


def longest_leaf(kind: inspect.Type) -> object:
    """Return the value of a leaf that takes the most bytes."""
    match kind:
        case inspect.IntType():
            return max(bound(kind.ge), bound(kind.le), key=lambda number: len(str(number)))
        case inspect.LiteralType():
            return max(kind.values, key=lambda word: len(str(word)))
        case inspect.StrType(pattern=str(pattern)):
            return "a" * (1 + max(map(int, re.findall(r"(\d+)}", pattern))))
        case inspect.StrType():
            return WORST * bound(kind.max_length)
        case inspect.BoolType():
            return False
        case _:
            return None


def keys(kind: inspect.DictType) -> list[Any]:
    """Return as many keys as a mapping may have, each as long as possible."""
    if isinstance(kind.key_type, inspect.LiteralType):
        return list(kind.key_type.values)
    text = longest(kind.key_type)
    if isinstance(text, int):
        return [text - at for at in range(bound(kind.max_length))]
    return [text[:-1] + chr(at) for at in range(1, bound(kind.max_length) + 1)]


def bound(limit: int | None) -> int:
    """Return a bound, which every list, text and number must have."""
    assert limit is not None
    return limit


def encode_any(value: Any) -> bytes:  # noqa: ANN401 - a value of any type
    """Return the JSON of a value."""
    return encode(value)


@pytest.mark.parametrize("name", ["state", "log", "receipt", "order", "ruling", "alert", "count", "counted"])
def test_the_longest_message_fits_its_topic(name: str) -> None:
    (topic,) = (one for one in TOPICS if one.name == name)
    assert len(encode(longest(inspect.type_info(topic.message)))) <= topic.limit


def test_decoders_of_all_topics_are_created_at_import() -> None:
    count = "print(topics.decoder.cache_info().currsize, len({one.message for one in topics.TOPICS}))"
    done = subprocess.run(
        [sys.executable, "-c", f"from broker.protocol import topics; {count}"],
        capture_output=True,
        text=True,
        check=True,
    )
    made, kinds = map(int, done.stdout.split())
    assert made >= kinds > 10
