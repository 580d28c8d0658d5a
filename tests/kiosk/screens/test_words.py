"""Each sentence is there in each language, with the same things filled in."""

from string import Formatter
from typing import get_args

import pytest

from kiosk.config import Language
from kiosk.screens.words import CATALOGUE
from vision.reading import FaultType


def names(sentence: str) -> set[str]:
    """Give what is filled in."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def test_there_is_a_catalogue_for_every_language_that_can_be_set() -> None:
    assert set(CATALOGUE) == set(get_args(Language))


@pytest.mark.parametrize("language", CATALOGUE)
def test_every_language_has_the_same_sentences_with_the_same_names(language: Language) -> None:
    assert {key: names(text) for key, text in CATALOGUE[language].items()} == {
        key: names(text) for key, text in CATALOGUE["en"].items()
    }


@pytest.mark.parametrize("kind", FaultType)
def test_every_fault_that_the_camera_names_has_its_sentence(kind: FaultType) -> None:
    assert f"misplaced_{kind.value}" in CATALOGUE["en"]


@pytest.mark.parametrize("language", CATALOGUE)
def test_no_sentence_is_empty(language: Language) -> None:
    assert [key for key, text in CATALOGUE[language].items() if not text.strip()] == []
