"""The table of topics: what is said where, by whom, and that nothing on the wire gives a face away."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from broker.protocol import (
    SEATS,
    TOPICS,
    TOPICS_BY_NAME,
    DealNo,
    EventName,
    ParsedTopic,
    TableNo,
    Topic,
    WinKind,
    parse_topic,
    topics,
)
from broker.rules import KINDS
from tests.broker.protocol.shapes import leaves
from tests.broker.protocol.strategies import of_type


@given(st.sampled_from(TOPICS), of_type(EventName), of_type(TableNo), of_type(DealNo))
def test_every_topic_parses_back_to_itself(topic: Topic, event: str, table: int, deal: int) -> None:
    said_of_table, said_of_deal = "{table}" in topic.pattern, "{deal}" in topic.pattern
    place = ParsedTopic(topic, event, table if said_of_table else None, deal if said_of_deal else None)
    assert parse_topic(topic.at(event, table=table, deal=deal)) == place


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
def test_nothing_else_is_a_topic(text: str) -> None:
    assert parse_topic(text) is None


@given(st.text(st.sampled_from("hm/cup+#$ 3tablelogs\n٣"), max_size=30))
def test_what_is_read_as_a_topic_is_written_the_same_way(text: str) -> None:
    place = parse_topic(text)
    if place is not None:
        assert place.topic.at(place.event, table=place.table, deal=place.deal) == text


def test_a_level_left_out_is_a_wildcard_and_zero_is_not_left_out() -> None:
    assert topics.LOG.at("cup") == "hm/cup/table/+/log"
    assert topics.TRAVELLER.at("cup") == "hm/cup/traveller/+"
    assert topics.LOG.at("cup", table=0) == "hm/cup/table/0/log"


def test_each_topic_lies_under_its_event() -> None:
    assert {topic.at("cup").startswith(topics.event_topic("cup") + "/") for topic in TOPICS} == {True}


def test_topics_are_found_by_their_names() -> None:
    assert [TOPICS_BY_NAME[topic.name] for topic in TOPICS] == list(TOPICS)


def test_each_kind_of_message_has_one_topic() -> None:
    assert len({topic.message for topic in TOPICS}) == len(TOPICS) == len({topic.pattern for topic in TOPICS})


def test_nobody_reads_what_they_write_themselves() -> None:
    assert [topic.name for topic in TOPICS if topic.writer in topic.readers] == []


def test_what_is_kept_for_latecomers_is_state_and_never_an_event() -> None:
    assert {topic.name for topic in TOPICS if topic.retain} == {
        "state",
        "receipt",
        "assignment",
        "served",
        "pin",
        "traveller",
        "standings",
        "public_traveller",
        "public_standings",
    }


READ_BY_TABLES = [topic for topic in TOPICS if "table" in topic.readers]


def text_fields() -> dict[str, str | None]:
    """Return every field with free text that a table reads, and the pattern that it has to fit."""
    return {
        f"{topic.name}: {way}": kind.pattern
        for topic in READ_BY_TABLES
        for way, kind in leaves(topic.message)
        if isinstance(kind, inspect.StrType)
    }


def test_a_table_reads_receipts_its_assignment_how_it_is_served_orders_the_pins_hash_answers_and_nothing_else() -> None:
    names = ["receipt", "assignment", "served", "order", "pin", "counted"]
    assert [topic.name for topic in READ_BY_TABLES] == names


def test_every_text_that_a_table_reads_is_a_name_a_code_an_address_or_a_rule_profile() -> None:
    assert set(text_fields()) == {
        "receipt: id",
        "receipt: event",
        "receipt: head",
        "receipt: signature",
        "receipt: store",
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
        "assignment: session.players{}.id",
        "assignment: session.players{}.name",
        "assignment: repeats{}[]",
        "assignment: public_address",
        "served: id",
        "served: event",
        "served: device",
        "served: refused",
        "order: id",
        "order: event",
        "order: author",
        "pin: id",
        "pin: event",
        "pin: hash",
        "counted: id",
        "counted: event",
        "counted: asked",
        "counted: answer.code",
        "counted: answer.elements[].id",
        "counted: answer.yaku[].id",
        "counted: answer.items[].id",
    }


def test_what_a_counted_hand_is_told_by_has_no_room_for_a_face() -> None:
    patterns = {pattern for way, pattern in text_fields().items() if way.startswith("counted: answer")}
    assert None not in patterns
    assert not any(re.search(pattern or "", face) for pattern in patterns for face in (*KINDS, "0m", "0p", "0s"))


def test_no_choice_that_a_table_reads_is_a_face() -> None:
    choices = {
        value
        for topic in READ_BY_TABLES
        for _, kind in leaves(topic.message)
        if isinstance(kind, inspect.LiteralType)
        for value in kind.values
    }
    assert choices == {1, *SEATS, "clear_call", "pause", "resume", "extra_time", "reopen", "admit"}
    assert choices.isdisjoint(KINDS)


def test_nothing_that_a_table_reads_is_of_any_type() -> None:
    kinds = {type(kind) for topic in READ_BY_TABLES for _, kind in leaves(topic.message)}
    assert kinds == {inspect.IntType, inspect.StrType, inspect.LiteralType, inspect.NoneType, inspect.BoolType}


def test_the_tiles_of_a_tray_are_numbers_from_1_to_136() -> None:
    trays = {
        (kind.ge, kind.le)
        for topic in READ_BY_TABLES
        for way, kind in leaves(topic.message)
        if "order{}[" in way and isinstance(kind, inspect.IntType)
    }
    assert trays == {(1, 136)}


def test_a_result_on_the_wire_has_the_hand_value_and_never_the_hand() -> None:
    (log,) = (topic for topic in TOPICS if topic.name == "log")
    texts = {way for way, kind in leaves(log.message) if isinstance(kind, inspect.StrType)}
    result = {"fact.profile", "fact.players{}", "fact.fines{}.reason", "fact.fines{}.author"}
    ruled = {"fact.author", "fact.reason", "fact.decision.gives{}?", "fact.decision.takes{}?"}
    assert texts == {"id", "event", "device", "fact.form", *result, *ruled, "fact.guards[]"}
    assert set(SEATS).isdisjoint(KINDS)
    assert set(WinKind.__args__).isdisjoint(KINDS)  # type: ignore[attr-defined] # a Literal has its words there
