"""Topics are made and read by one table, and nothing else is a topic of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract import topics
from broker.contract.topics import BY_NAME, TOPICS, Place, Topic, parse
from broker.contract.words import DealNo, EventName, TableNo
from tests.broker.contract.strategies import of_type


@given(st.sampled_from(TOPICS), of_type(EventName), of_type(TableNo), of_type(DealNo))
def test_every_topic_parses_back_to_itself(topic: Topic, event: str, table: int, deal: int) -> None:
    said_of_table, said_of_deal = "{table}" in topic.pattern, "{deal}" in topic.pattern
    place = Place(topic, event, table if said_of_table else None, deal if said_of_deal else None)
    assert parse(topic.at(event, table=table, deal=deal)) == place


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
    assert parse(text) is None


@given(st.text(st.sampled_from("hm/cup+#$ 3tablelogs\n٣"), max_size=30))
def test_what_is_read_as_a_topic_is_written_the_same_way(text: str) -> None:
    place = parse(text)
    if place is not None:
        assert place.topic.at(place.event, table=place.table, deal=place.deal) == text


def test_a_level_left_out_is_a_wildcard_and_zero_is_not_left_out() -> None:
    assert topics.LOG.at("cup") == "hm/cup/table/+/log"
    assert topics.TRAVELLER.at("cup") == "hm/cup/traveller/+"
    assert topics.LOG.at("cup", table=0) == "hm/cup/table/0/log"


def test_each_topic_lies_under_its_event() -> None:
    assert {topic.at("cup").startswith(topics.root("cup") + "/") for topic in TOPICS} == {True}


def test_topics_are_found_by_their_names() -> None:
    assert [BY_NAME[topic.name] for topic in TOPICS] == list(TOPICS)


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
