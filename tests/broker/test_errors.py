"""Why something could not be read is said in words for those who do not program."""

from typing import Literal

import msgspec
import pytest

from broker.errors import reason


class Entry(msgspec.Struct):
    """One value of each kind."""

    name: str
    seats: list[int]
    team: str | None = None
    wind: Literal["east", "south"] = "east"
    carriers: list[dict[str, int]] = []


class Strict(Entry, forbid_unknown_fields=True):
    """What knows no other values."""


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
def test_kinds_of_values_are_named_as_people_do(content: bytes, words: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(content, type=Strict)
    assert reason(refused.value) == words


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
def test_what_python_says_of_a_file_is_not_shown(error: Exception, words: str) -> None:
    assert reason(error) == words
