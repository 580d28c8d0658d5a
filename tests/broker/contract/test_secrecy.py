"""No message that a table can read has room for a face: a kiosk knows serials, which tell nothing without the registry.

What is built from a real event is looked at in the scorer's tests.
"""

import re

from msgspec import inspect

from broker.contract.topics import TOPICS
from broker.contract.words import SEATS, WinKind
from broker.rules.tiles import KINDS
from tests.broker.contract.shapes import leaves

READ_BY_TABLES = [topic for topic in TOPICS if "table" in topic.readers]


def text_fields() -> dict[str, str | None]:
    """Give every field with free text that a table reads, and the pattern that it has to fit."""
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
