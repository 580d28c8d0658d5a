"""Words on which translators have agreed (docs/words.md), in all that is said in French and Chinese."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from kiosk.screens import translation_file

HOME: Final = Path(__file__).parent.parent
DOCUMENT: Final = HOME / "docs" / "words.md"

CATALOGUES: Final = (
    "broker/web/catalogue.toml",
    "broker/web/details.toml",
    *sorted(str(path.relative_to(HOME)) for path in (HOME / "broker/web/words").glob("*.toml")),
    "broker/export/carrier_sheets.toml",
    "broker/export/paper_sheets.toml",
    "broker/export/pdf.toml",
    "broker/export/session_sheet.toml",
    "vision/mounting/texts.toml",
    "vision/sheets/texts.toml",
)
SCREENS: Final = "the tables’ screens"

WRONG: Final = {
    "annuler": r"à annuler|annulez-l[ae]|annuler (la|cette|une) décision",  # a button that does nothing is Annuler
    "main": r"main de riichi|interromp\w+ la main|la main a été",  # what a winner shows is a main
    "nulle": r"^void = .*nulle",  # a draw is a partie nulle
    "place": r"\bplaces? (\{seat\}|est|sud|ouest|nord)\b",  # in the standings, of a tile, to take one's place
    "tour": r"\btours? \{|\{\w+\} tours?\b|\b(chaque|prochain) tour\b",  # premier tour: of riichi, around the table
    "écart": r"\bsur (un |l[’'])?écart|\bécartée?s?\b",  # a distance
    "判给": r"(?<!裁)判给",  # 裁判给: what an arbiter gives
    "判罚": r"(?<!裁)判罚",
    "节": r"第 ?\{\w+\} ?节|[此本]节",  # 字节: bytes
}
"""Of a word that is right of something else: where it is wrong, in a line `key = sentence`."""


@cache
def never() -> dict[str, tuple[str, ...]]:
    """Return the words of the document's last column, by language."""
    rows = [line.split("|")[1:-1] for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    words = {word.strip() for row in rows[2:] for word in row[-1].split(",")} - {""}
    chinese = {word for word in words if re.search(r"[\u4e00-\u9fff]", word)}
    return {"fr": tuple(sorted(words - chinese)), "zh": tuple(sorted(chinese))}


def pattern(word: str) -> str:
    """Return where a word is wrong."""
    return WRONG.get(word) or (word if word in never()["zh"] else rf"\b{re.escape(word).removesuffix('s')}s?\b")


@cache
def said(language: str) -> tuple[tuple[str, str], ...]:
    """Return all that is said in a language: where, and `key = sentence`."""
    found = [(path, f"{key} = {text}") for path in CATALOGUES for key, text in sentences(path, language)]
    return *found, *((SCREENS, f"{entry.msgid} = {entry.msgstr}") for entry in translation_file(language))


def sentences(path: str, language: str) -> Iterator[tuple[str, str]]:
    """Return the sentences of a catalogue, each with its key."""
    content = tomllib.loads((HOME / path).read_text(encoding="utf-8"))
    said = [("", one[language]) for one in content["detail"]] if "detail" in content else content[language].items()
    for key, text in said:
        yield from ((key, line) for line in ([text] if isinstance(text, str) else text))


@pytest.mark.parametrize("language", ["fr", "zh"])
def test_a_word_that_translators_have_agreed_on_has_no_other_beside_it(language: str) -> None:
    wrong = re.compile("|".join(map(pattern, never()[language])), re.IGNORECASE)
    assert [one for one in said(language) if wrong.search(one[1])] == []


def test_a_word_with_a_place_of_its_own_is_one_of_the_document_and_right_somewhere() -> None:
    assert WRONG.keys() <= {*never()["fr"], *never()["zh"]}
    plain = [
        word for word in WRONG if not any(word in text.lower() for language in never() for _, text in said(language))
    ]
    assert plain == []


def test_no_catalogue_is_forgotten() -> None:
    rooms = *(HOME / "broker").iterdir(), HOME / "vision", HOME / "kiosk"
    found = (path for room in rooms if room.name != "rules" for path in room.rglob("*.toml"))  # there: names of fans
    french = [path for path in found if re.search(r"^(\[fr\]|fr = )", path.read_text(encoding="utf-8"), re.MULTILINE)]
    assert sorted(str(path.relative_to(HOME)) for path in french) == sorted(CATALOGUES)
