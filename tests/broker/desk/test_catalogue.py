"""Three languages, the same sentences in each."""

import re
from importlib.resources import files

import pytest

from broker.desk.catalogue import LANGUAGES, catalogues, choose, spaced
from broker.desk.signs import SIGNS

PLACEHOLDER = re.compile(r"\{(\w+)\}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys(language: str) -> None:
    tables = {str(key): list(catalogue.sentences) for key, catalogue in catalogues().items()}
    assert tables[language] == tables["en"]


def test_a_sentence_is_filled_with_the_same_values_in_every_language() -> None:
    def values(language: str) -> dict[str, list[str]]:
        sentences = {str(key): one.sentences for key, one in catalogues().items()}[language]
        return {key: sorted(PLACEHOLDER.findall(text)) for key, text in sentences.items()}

    wanted = values("en")
    wrong = {
        (language, key) for language in LANGUAGES for key, found in values(language).items() if found != wanted[key]
    }
    assert wrong == set()


def test_every_state_has_its_word() -> None:
    states = {key.removeprefix("state_") for key in catalogues()["en"].sentences if key.startswith("state_")}
    assert states == set(SIGNS)


@pytest.mark.parametrize(
    ("wish", "accepted", "language"),
    [
        ("fr", "zh-CN", "fr"),
        (None, "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        (None, "en;q=0.5, fr-CA;q=0.9", "fr"),
        (None, "de, it", "en"),
        ("xx", "fr", "fr"),
        (None, "fr;q=0, en", "en"),
        (None, "fr;q=bad", "en"),
        (None, "", "en"),
    ],
)
def test_the_wish_comes_before_the_browser_and_the_browser_before_english(
    wish: str | None, accepted: str, language: str
) -> None:
    assert choose(wish, accepted).language == language


def test_what_is_put_into_a_sentence_is_escaped() -> None:
    assert str(catalogues()["en"].say("deal", deal="<b>")) == "Deal &lt;b&gt;"


PUNCTUATION = re.compile(r"\}\}[,:;] |\{% endif %\}[,:;] |loop\.last %\}[,:;]|join\(['\"][,;:]")


def test_punctuation_between_words_is_the_catalogues_and_no_page_has_its_own() -> None:
    pages = (files("broker.desk") / "templates").iterdir()
    found = [(page.name, one[0]) for page in pages for one in PUNCTUATION.finditer(page.read_text(encoding="utf-8"))]
    assert [one for one in found if one[0] != "display.html"] == []  # how a refresh is written


def test_chinese_has_punctuation_of_its_own() -> None:
    half = re.compile(r"[\u4e00-\u9fff][,:;!?()]|[,:;!?()][\u4e00-\u9fff]")
    assert [key for key, text in catalogues()["zh"].sentences.items() if half.search(text)] == []


def test_no_french_line_begins_with_a_colon_or_ends_with_an_opening_quotation_mark() -> None:
    french = catalogues()["fr"].sentences.values()
    assert [text for text in french if re.search(r" [:;?!»]|« ", text)] == []
    assert spaced("fr", "« Oui » : non") == "«~Oui~»~: non".replace("~", "\N{NO-BREAK SPACE}")
