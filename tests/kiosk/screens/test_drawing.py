"""Catalogues are complete: each sentence in each language, of the same source, with the same things filled in."""

import re
from collections.abc import Iterator
from string import Formatter

import polib
import pytest

from kiosk.errors import BadConfiguration
from kiosk.screens import SOURCE, Translations, languages, translation_file
from vision.reading import TrayFaultType

TRANSLATED = [language for language in languages() if language != SOURCE]


def names(sentence: str) -> set[str]:
    """Return what is filled in."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def translations(entry: polib.POEntry) -> Iterator[str]:
    """Return what stands for a sentence: one, or one for each plural."""
    yield from entry.msgstr_plural.values() if entry.msgid_plural else (entry.msgstr,)


def test_english_french_and_chinese_are_there() -> None:
    assert {"en", "fr", "zh"} <= set(languages())


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_translates_the_source_as_it_is_now(language: str) -> None:
    """A sentence whose English has changed since is as good as missing."""
    source = [(one.msgctxt, one.msgid, one.msgid_plural) for one in translation_file(SOURCE)]
    assert sorted((one.msgctxt, one.msgid, one.msgid_plural) for one in translation_file(language)) == sorted(source)


@pytest.mark.parametrize("language", TRANSLATED)
def test_nothing_is_left_untranslated_or_unsure(language: str) -> None:
    left = (
        one.msgctxt
        for one in translation_file(language)
        if one.fuzzy or not all(text.strip() for text in translations(one))
    )
    assert [*left] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_fills_in_what_its_source_fills_in(language: str) -> None:
    wrong = (
        one.msgctxt
        for one in translation_file(language)
        for text in translations(one)
        if names(text) != names(one.msgid)
    )
    assert [*wrong] == []


def test_a_play_and_the_broker_have_the_words_of_their_own() -> None:
    """docs/words.md: in Chinese 副 is the deal and 局 the play; in French the broker is no mere server."""
    plays = [one for one in translation_file("zh") if re.search(r"\b(this|the|first) play\b", one.msgid, re.IGNORECASE)]
    brokers = [one for one in translation_file("fr") if "broker" in one.msgid.lower()]
    assert (len(plays) > 5, len(brokers) > 1) == (True, True)
    assert [one.msgctxt for one in plays if "副" in one.msgstr] == []
    assert [one.msgctxt for one in brokers if "serveur de messages" not in one.msgstr.lower()] == []


@pytest.mark.parametrize("language", languages())
def test_a_name_is_given_to_one_sentence_only(language: str) -> None:
    assert len({one.msgctxt for one in translation_file(language)}) == len(translation_file(language))


@pytest.mark.parametrize("kind", TrayFaultType)
def test_every_fault_that_the_camera_names_has_its_sentence(kind: TrayFaultType) -> None:
    assert f"misplaced_{kind.value}" in Translations()


def test_a_plural_follows_its_count() -> None:
    assert [Translations(language)("more", count=count) for language in ("en", "fr", "zh") for count in (1, 2)] == [
        *("and 1 more", "and 2 more", "et 1 autre", "et 2 autres", "另有1处", "另有2处")
    ]


def test_what_is_refused_is_told_in_a_sentence_or_by_its_code() -> None:
    words = Translations("fr")
    assert words.problem("below_minimum") == "Trop bas : valeur sous le minimum pour gagner."
    assert words.problem("no_such_code") == "Non accepté : no_such_code"


def test_a_language_without_a_catalogue_is_told_with_those_that_have_one() -> None:
    with pytest.raises(BadConfiguration, match="language de: there are en, fr, zh"):
        Translations("de")
