"""From structs to bytes and back: whatever arrives is decoded or refused, and no message outgrows its topic's limit."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from broker.protocol import (
    TOPICS,
    TOPICS_BY_NAME,
    Message,
    Order,
    Refused,
    Topic,
    Traveller,
    decode_on_topic,
    encode,
    topics,
)
from tests.broker.protocol.strategies import any_message, at, messages

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
def test_every_message_comes_back_as_it_was_sent(topic: Topic) -> None:
    @given(messages(topic))
    def law(message: Message) -> None:
        place, back = decode_on_topic(at(topic, message), encode(message))
        assert back == message
        assert (place.topic, place.event) == (topic, message.event)

    law()


def test_the_order_that_the_refusals_below_are_made_from_is_taken() -> None:
    assert decode_on_topic(ORDER_TOPIC, encode(ORDER))[1] == ORDER


@pytest.mark.parametrize(
    "change",
    [
        {"colour": "red"},
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


@pytest.mark.parametrize("name", ["id", "event", "table", "seq", "command", "author"])
def test_a_message_without_one_of_its_fields_is_malformed(name: str) -> None:
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
def test_what_is_not_exactly_one_json_object_of_ours_is_malformed(payload: bytes) -> None:
    assert payload != encode(ORDER)
    assert refusal(ORDER_TOPIC, payload) == "malformed"


def test_a_name_said_twice_deep_inside_is_malformed() -> None:
    said = b'{"schema":1,"id":"state-001","event":"cup","table":3,"seq":0,"device":"kiosk-03","start":1,"count":1,'
    said += b'"lifecycle":"ready","state":"waiting","round":null,"deal":null,"unsent":0,"calling":false,'
    said += b'"health":{"camera":"dark"%s}}'
    assert decode_on_topic("hm/cup/table/3/state", said % b"")[1].id == "state-001"
    assert refusal("hm/cup/table/3/state", said % b',"camera":"gone"') == "malformed"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_payload_may_have_as_many_bytes_as_the_topic_allows_and_no_more(topic: Topic) -> None:
    name = topic.at("cup", table=3, deal=3)
    assert refusal(name, b" " * topic.limit) == "malformed"
    assert refusal(name, b" " * (topic.limit + 1)) == "too_large"


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


def test_what_is_said_on_no_topic_of_ours_is_not_even_read() -> None:
    assert refusal("hm/cup/orders/3", encode(ORDER)) == "unknown_topic"


@given(st.sampled_from(TOPICS), st.binary(max_size=300))
def test_any_bytes_are_refused_as_malformed(topic: Topic, payload: bytes) -> None:
    assert refusal(topic.at("cup", table=3, deal=3), payload) == "malformed"


@given(any_message(), st.data())
def test_a_message_with_a_byte_changed_is_taken_or_refused_but_breaks_nothing(
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


def test_the_text_of_a_refusal_is_short_whatever_was_sent() -> None:
    with pytest.raises(Refused) as refused:
        decode_on_topic(ORDER_TOPIC, changed(lambda said: said.update({"x" * 3000: 1})))
    assert len(refused.value.text) <= 300


WORST = "\x01"
"""Takes six bytes in JSON, more than any other character."""


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
    """Return as many keys as a mapping may have: its words, or different texts of the greatest length."""
    if isinstance(kind.key_type, inspect.LiteralType):
        return list(kind.key_type.values)
    text = longest(kind.key_type)
    if isinstance(text, int):
        return [text - at for at in range(bound(kind.max_length))]
    return [text[:-1] + chr(at) for at in range(1, bound(kind.max_length) + 1)]


def bound(limit: int | None) -> int:
    """Return a bound, which every list, text and number here has to have."""
    assert limit is not None
    return limit


def encode_any(value: Any) -> bytes:  # noqa: ANN401 - a value of any type
    """Return the JSON of a value."""
    return encode(value)


@pytest.mark.parametrize("name", ["state", "log", "receipt", "order", "ruling", "alert", "count", "counted"])
def test_the_longest_message_fits_its_topic(name: str) -> None:
    topic = TOPICS_BY_NAME[name]
    assert len(encode(longest(inspect.type_info(topic.message)))) <= topic.limit
