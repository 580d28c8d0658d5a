"""The reasons why something could not be read are written for people who do not program."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from broker.errors import BadEvent, RuleError, reason
from broker.i18n import N_, Translator
from broker.protocol import EventName, PlayerId


class Entry(msgspec.Struct):
    """One value of each kind."""

    name: str
    seats: list[int]
    team: str | None = None
    wind: Literal["east", "south"] = "east"
    carriers: list[dict[str, int]] = []


class Strict(Entry, forbid_unknown_fields=True):
    """An entry that allows no unknown fields."""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[]", "an object is needed, not a list"),
        (b'{"name": 3, "seats": []}', "name: text is needed, not a whole number"),
        (b'{"name": "a", "seats": [1, "b"]}', "seats, item 2: a whole number is needed, not text"),
        (b'{"name": "a", "seats": null}', "seats: a list is needed, not nothing"),
        (b'{"name": "a", "seats": [], "team": 1.5}', "team: text or nothing is needed, not a number"),
        (b'{"name": "a"}', "seats is missing"),
        (b'{"name": "a", "seats": [], "colour": 1}', "colour is not known here"),
        (b'{"name": "a", "seats": [], "wind": "up"}', "wind: 'up' is not allowed here"),
        (
            b'{"name": "a", "seats": [], "carriers": [{}, {"x": "b"}]}',
            "carriers, item 2: a whole number is needed, not text",
        ),
    ],
)
def test_kinds_of_values_have_everyday_names(content: bytes, words: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(content, type=Strict)
    assert reason(refused.value) == words


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (["a b"], list[PlayerId], "item 1: use only A-Z a-z 0-9 _ -, at most 32 characters"),
        ("Cup", EventName, "use only a-z 0-9 -, at most 32 characters"),
        ("x", Annotated[str, Meta(pattern=r"^-?[0-9]+/[0-9]+$")], "it does not have the required form"),
        ("", Annotated[str, Meta(min_length=1)], "it is empty"),
        ("abcd", Annotated[str, Meta(max_length=3)], "more than 3 characters"),
        ([], Annotated[list[int], Meta(min_length=4)], "fewer than 4 entries"),
        ([1], tuple[int, int], "2 entries are needed, not 1"),
        (0, Annotated[int, Meta(ge=1)], "a whole number of at least 1 is needed"),
        (7, Annotated[int, Meta(le=6)], "a whole number of at most 6 is needed"),
    ],
)
def test_limits_are_explained_in_everyday_words(value: object, kind: object, words: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(value, kind)
    assert reason(refused.value) == words


@pytest.mark.parametrize(
    ("decode", "content", "words"),
    [
        (msgspec.json.decode, b'{"a": [1', "it ends too early: a bracket or a quotation mark is not closed"),
        (msgspec.json.decode, b'{"a" 1}', "it is not valid JSON from byte 5 on"),
        (msgspec.toml.decode, b"a 1", "line 1, column 3: it is not valid TOML"),
        (msgspec.toml.decode, b"a = ", "it is not valid TOML: the last line is not complete"),
    ],
)
def test_a_file_that_cannot_be_decoded_says_where(
    decode: Callable[[bytes], object], content: bytes, words: str
) -> None:
    with pytest.raises(msgspec.DecodeError) as refused:
        decode(content)
    assert reason(refused.value) == words


def test_the_reason_why_a_file_is_refused_is_translated() -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert({"name": None, "seats": []}, Entry)
    assert Translator("fr")(reason(refused.value)) == "name\N{NO-BREAK SPACE}: il faut un texte, et non rien"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file or directory", "x.toml"), "No such file or directory"),
        (TimeoutError("timed out"), "timed out"),
        (OSError(4154, "[X509: NONE] no certificate or crl found (_ssl.c:4154)"), "no certificate or crl found"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "it is not UTF-8 text"),
        (RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
        (KeyError("devices"), "devices is missing"),
        (ValueError("no certificate"), "no certificate"),
    ],
)
def test_pythons_own_error_messages_are_put_in_plain_words(error: Exception, words: str) -> None:
    assert reason(error) == words


def test_a_single_problem_of_an_event_stays_translatable() -> None:
    text = N_("two halls are called {hall}", hall="Paris")
    (said,) = BadEvent.of(RuleError("hall_twice", text)).args
    assert said is text
    (said,) = BadEvent.of(RuleError("a", text), RuleError("b", "other")).args
    assert said == "two halls are called Paris; other"
