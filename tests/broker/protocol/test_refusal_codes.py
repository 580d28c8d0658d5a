"""Every stable code is in docs/codes.md under its room, with a sentence, and none is there that nothing gives."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from broker.protocol import Code
from tests.broker.protocol.shapes import leaves

ROOT: Final = Path(__file__).parents[3]

ROOMS: Final = (
    "broker/cli",
    "broker/event",
    "broker/export",
    "broker/people",
    "broker/protocol",
    "broker/rules",
    "broker/rulings",
    "broker/scorer",
    "broker/scoring",
    "broker/sim",
    "broker/upgrade",
    "broker/web",
    "broker",
    "kiosk",
    "firmware",
    "vision",
)
"""Folders whose codes the page must have, each in a section of this name; `broker` means what lies in it directly."""

RAISED_WITH: Final = {
    "BadRow", "CodeProblem", "CommandError", "Concern", "Finding", "FormProblem", "MountingHint",
    "MovementFault", "MovementProblem", "NotNow", "RecordError", "Refused", "RuleError", "UpgradeError", "_refuse_if",
}  # fmt: skip
"""Calls whose first text is a code."""

ROW: Final = re.compile(r"^\| `(?P<code>[^`]*)` \| (?P<sentence>.*) \|$")


def given_by(room: str) -> set[str]:
    """Return the codes in a room's source."""
    files = sorted((ROOT / room).glob("*.py" if room == "broker" else "**/*.py"))
    assert files != []
    return {code for file in files for code in in_source(file.read_text(encoding="utf-8"))}


def in_source(source: str) -> Iterator[str]:
    """Return the codes in one file: of calls that refuse, of classes that have one, and of sets named `..._CODES`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in RAISED_WITH:
                yield from [arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)][
                    :1
                ]
            case ast.ClassDef(keywords=keywords):
                yield from (ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg == "code")
            case ast.AnnAssign(
                target=ast.Name(id=name), value=ast.Call(func=ast.Name(id="frozenset"), args=[ast.Set(elts=listed)])
            ) if name.endswith("_CODES"):
                yield from (ast.literal_eval(code) for code in listed)


def on_the_page() -> dict[str, dict[str, str]]:
    """Return the page: by section, each code with its sentence."""
    sections: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    for line in (ROOT / "docs" / "codes.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            rows = sections.setdefault(line.removeprefix("## ").strip(), {})
        elif found := ROW.match(line):
            assert found["code"] not in rows, f"docs/codes.md lists `{found['code']}` twice in one section"
            rows[found["code"]] = found["sentence"]
    return sections


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_has_exactly_the_codes_that_a_room_gives(room: str) -> None:
    given, listed = given_by(room), set(on_the_page().get(room, {}))
    assert sorted(given - listed) == [], f"docs/codes.md does not list these under {room}"
    assert sorted(listed - given) == [], f"docs/codes.md lists these under {room}, but nothing gives them"


def test_a_code_that_several_rooms_give_means_the_same_in_each() -> None:
    sentences: dict[str, set[str]] = {}
    for rows in on_the_page().values():
        for code, sentence in rows.items():
            sentences.setdefault(code, set()).add(sentence)
    assert {code: told for code, told in sentences.items() if len(told) > 1} == {}


def test_every_code_has_a_sentence() -> None:
    told = [sentence for rows in on_the_page().values() for sentence in rows.values()]
    assert [sentence for sentence in told if not sentence[:1].isupper() or not sentence.endswith(".")] == []


def test_every_code_is_one_that_a_message_may_carry() -> None:
    ((_, kind),) = leaves(Code)
    pattern = getattr(kind, "pattern", None)
    assert isinstance(pattern, str)
    codes = {code for room in ROOMS for code in given_by(room)}
    assert [code for code in sorted(codes) if not re.search(pattern, code)] == []


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('raise Refused("a_code", "text")', ["a_code"]),
        ('raise Refused(\n    "a_code",\n    f"text {1}")', ["a_code"]),
        ('raise errors.RuleError("a_code", "text")', ["a_code"]),
        ('_refuse_if(x > 1, "a_code", "text")', ["a_code"]),
        ('yield Concern("a_code", text, table)', ["a_code"]),
        ("raise Refused(error.code, text)", []),
        ('print("a_code")', []),
        ('class A(CodedError, ValueError, code="a_code"): ...', ["a_code"]),
        ("class A(CodedError): ...", []),
        ('code = "a_code"', []),
    ],
)
def test_a_code_is_found_however_it_is_written(source: str, codes: list[str]) -> None:
    assert list(in_source(source)) == codes
