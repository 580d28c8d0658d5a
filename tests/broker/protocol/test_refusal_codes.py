"""Every stable code is in docs/codes.md under its room, with its texts and the additions of docs/codes.toml."""

import re
from typing import Final

import pytest

from broker.protocol import Code
from tests.broker.protocol.codes import ROOT, added, given_by, in_source, page
from tests.broker.protocol.shapes import leaves

ROOMS: Final = tuple(added()["rooms"])


def test_the_page_in_docs_is_up_to_date() -> None:
    assert (ROOT / "docs" / "codes.md").read_text(encoding="utf-8") == page(), "make docs"


def test_every_room_with_codes_has_a_section() -> None:
    folders = {
        "broker",
        "kiosk",
        "firmware",
        "vision",
        *(f"broker/{one.parent.name}" for one in ROOT.glob("broker/*/__init__.py")),
    }
    assert {room for room in folders if given_by(room)} == {*ROOMS}


def test_every_code_has_a_text() -> None:
    assert re.findall(r"^\| `(\w+)` \|  \|  \|$", page(), re.MULTILINE) == []


def test_additions_are_sentences_about_existing_codes() -> None:
    codes = {code for room in ROOMS for code in given_by(room)}
    told = added()["codes"]
    assert [*told] == sorted(codes & {*told})
    assert [one for one in told.values() if not re.fullmatch(r"[A-Z`*\[].*\.", one)] == []


def test_every_code_is_valid_in_a_message() -> None:
    ((_, kind),) = leaves(Code)
    pattern = getattr(kind, "pattern", None)
    assert isinstance(pattern, str)
    codes = {code for room in ROOMS for code in given_by(room)}
    assert [code for code in sorted(codes) if not re.search(pattern, code)] == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('raise Refused("a_code", "a text")', "a text"),
        ('raise Refused("a_code", N_("line {line}: a text", line=3))', "line …: a text"),
        ('raise RuleError("a_code", f"{who} has {count + 1}")', "… has …"),
        ('FormProblem("a_code", "$.place", "a text")', "a text"),
        ('class A(CodedError, code="a_code"):\n    """What it is. And more."""', "What it is"),
        ('THESE_CODES: Final = {"a_code": N_("a text")}', "a text"),
        ("raise Refused('a_code', error.text)", ""),
    ],
)
def test_the_text_beside_a_code_is_found(source: str, text: str) -> None:
    assert list(in_source(source)) == [("a_code", text)]


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('raise Refused("a_code", "text")', ["a_code"]),
        ('raise Refused(\n    "a_code",\n    f"text {1}")', ["a_code"]),
        ('raise errors.RuleError("a_code", "text")', ["a_code"]),
        ('refuse_if(x > 1, "a_code", "text")', ["a_code"]),
        ('yield Concern("a_code", text, table)', ["a_code"]),
        ("raise Refused(error.code, text)", []),
        ('print("a_code")', []),
        ('class A(CodedError, ValueError, code="a_code"): ...', ["a_code"]),
        ("class A(CodedError): ...", []),
        ('code = "a_code"', []),
    ],
)
def test_a_code_is_found_in_every_way_of_raising_it(source: str, codes: list[str]) -> None:
    assert [code for code, _ in in_source(source)] == codes
