"""French and Chinese texts use the words that translators have agreed on (docs/words.md)."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from broker.i18n import SOURCE
from broker.locale.catalogues import keys, read, texts

HOME: Final = Path(__file__).parent.parent
DOCUMENT: Final = HOME / "docs" / "words.md"

WRONG: Final = {
    "annuler": r"à annuler|annulez-l[ae]|annuler (la|cette|une) décision",  # the button that does nothing is Annuler
    "main": r"main de riichi|interromp\w+ la main|la main a été",  # a winner's tiles are a main
    "nulle": r"\bvoid\b.* = .*nulle",  # a drawn game is a partie nulle
    "place": r"\bplaces? (\{seat\}|est|sud|ouest|nord)\b",  # a place in the standings, or the place of a tile
    "figure": r"\bfigures\b|\bcomme figure\b",  # the verb
    "tour": r"\btours? \{|\{\w+\} tours?\b|\b(chaque|prochain) tour\b|\bmêmes tours\b",  # premier tour, in riichi
    "écart": r"\bsur (un |l[’'])?écart|\bécartée?s?\b",  # a distance
    "判给": r"(?<!裁)判给",  # 裁判给: given by an arbiter
    "判罚": r"(?<!裁)判罚",
    "节": r"第 ?\{\w+\} ?节|[此本]节",  # 字节: bytes
}
"""For a word that is right in another meaning: the pattern of wrong uses, in a line `English = translation`."""


@cache
def never() -> dict[str, tuple[str, ...]]:
    """Return the words of the document's last column, by language."""
    rows = [line.split("|")[1:-1] for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    _ = {word.strip() for row in rows[2:] for word in row[-1].split(",")} - {""}
    chinese = {word for word in _ if re.search(r"[\u4e00-\u9fff]", word)}
    return {"fr": tuple(sorted(_ - chinese)), "zh": tuple(sorted(chinese))}


def pattern(word: str) -> str:
    """Return where a word is used wrongly."""
    return WRONG.get(word) or (word if word in never()["zh"] else rf"\b{re.escape(word).removesuffix('s')}s?\b")


@cache
def said(language: str) -> tuple[tuple[str, str], ...]:
    """Return all texts of a language: the place, and `English = translation`."""
    return tuple(
        (" ".join(sorted({file for file, _ in text.locations})), f"{key[1]} = {one}")
        for key, text in keys(read(language)).items()
        for one in texts(text)
    )


@pytest.mark.parametrize("language", ["fr", "zh"])
def test_agreed_words_have_no_synonyms_beside_them(language: str) -> None:
    wrong = re.compile("|".join(map(pattern, never()[language])), re.IGNORECASE)
    assert [one for one in said(language) if wrong.search(one[1])] == []


def test_every_exception_is_for_an_agreed_word_and_is_used() -> None:
    assert WRONG.keys() <= {*never()["fr"], *never()["zh"]}
    plain = [
        word for word in WRONG if not any(word in text.lower() for language in never() for _, text in said(language))
    ]
    assert plain == []


def test_deal_play_and_broker_have_distinct_words() -> None:
    """In Chinese 副 is the deal and 局 the play; in French the broker is not just a serveur."""
    plays = [one for _, one in said("zh") if re.search(r"\b(this|the|first) play\b.* = ", one, re.IGNORECASE)]
    brokers = [
        one
        for where, one in said("fr")
        if re.search("kiosk/|device_faults", where) and "broker" in one.partition(" = ")[0].lower()
    ]
    assert (len(plays) > 5, len(brokers) > 1) == (True, True)
    assert [one for where, one in said("zh") if one in plays and "kiosk/" in where and "副" in one] == []
    assert [one for one in brokers if "serveur de messages" not in one.lower()] == []


def test_french_has_ordinary_spaces_around_punctuation() -> None:
    """Programs make them non-breaking; translators cannot see ones typed by hand."""
    wrong = re.compile(r"[\u00a0\u202f][:;!?»]|«[\u00a0\u202f]|[^\s][:;!?»](\s|$)|«[^\s]|'")
    assert [one for _, one in said("fr") if wrong.search(one.partition(" = ")[2])] == []


@cache
def english() -> tuple[str, ...]:
    """Return all English texts."""
    return tuple(
        one for text in keys(read(SOURCE)).values() for one in ([text.id] if isinstance(text.id, str) else text.id)
    )


def test_english_has_typographic_apostrophes_and_quotation_marks() -> None:
    assert [one for one in english() if re.search("['\"]", one)] == []


def test_missing_tables_are_called_offline_and_nothing_else() -> None:
    wrong = re.compile("not connected|disconnected|(no|in) contact|sign(ed|ing) off", re.IGNORECASE)
    assert [one for one in english() if wrong.search(one)] == []


def test_chinese_has_its_own_punctuation() -> None:
    half = re.compile(r"[\u4e00-\u9fff][,:;!?()]|[,:;!?()][\u4e00-\u9fff]")
    assert [one for _, one in said("zh") if half.search(one.partition(" = ")[2])] == []
