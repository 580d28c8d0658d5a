"""The catalogue of sentences, and what is said of devices."""

import re
from importlib.resources import files
from inspect import getsource
from pathlib import Path

import pytest

from broker.scorer.counting import CORRECTED
from broker.web import (
    LANGUAGES,
    SIGNS,
    Language,
    catalogues,
    choose_catalogue,
    device_part_name,
    environment,
    fault_message,
    health_change,
    overridden_guards,
    spaced,
)
from kiosk.errors import PinGuessed, SelfTestFailed, SelfTestSkipped
from kiosk.status import LATE_PRESS
from kiosk.table import OUT_OF_ORDER, guards
from tests.kiosk.screens.test_device import OTHERS, PARTS, of_hardware

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
    assert choose_catalogue(wish, accepted).language == language


def test_what_is_put_into_a_sentence_is_escaped() -> None:
    assert str(catalogues()["en"].say("deal", deal="<b>")) == "Deal &lt;b&gt;"


PUNCTUATION = re.compile(r"\}\}[,:;] |\{% endif %\}[,:;] |loop\.last %\}[,:;]|join\(['\"][,;:]")


def test_punctuation_between_words_is_the_catalogues_and_no_page_has_its_own() -> None:
    pages = Path(str(files("broker.web"))).rglob("templates/*.html")
    found = [(page.name, one[0]) for page in pages for one in PUNCTUATION.finditer(page.read_text(encoding="utf-8"))]
    assert [one for one in found if one[0] != "display.html"] == []  # how a refresh is written


def test_chinese_has_punctuation_of_its_own() -> None:
    half = re.compile(r"[\u4e00-\u9fff][,:;!?()]|[,:;!?()][\u4e00-\u9fff]")
    assert [key for key, text in catalogues()["zh"].sentences.items() if half.search(text)] == []


def test_no_french_line_begins_with_a_colon_or_ends_with_an_opening_quotation_mark() -> None:
    french = catalogues()["fr"].sentences.values()
    assert [text for text in french if re.search(r" [:;?!»]|« ", text)] == []
    assert spaced("fr", "« Oui » : non") == "«~Oui~»~: non".replace("~", "\N{NO-BREAK SPACE}")


ARRIVING = {*of_hardware(), LATE_PRESS, SelfTestFailed.code, SelfTestSkipped.code, PinGuessed.code}
"""Every code of its own that a table's health can have."""

IN_THE_PLACE_OF = ("wire", "plan", "refused")
"""Parts whose codes are those of a message or a plan: what they say is the same whatever the code."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fault_that_a_table_can_tell_has_its_word(language: Language) -> None:
    sentences = catalogues()[language].sentences
    assert {key.removeprefix("unwell_") for key in sentences if key.startswith("unwell_")} == {
        *ARRIVING,
        *(f"of_{part}" for part in IN_THE_PLACE_OF),
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_part_has_its_name(language: Language) -> None:
    words = catalogues()[language]
    parts = (*PARTS, *OTHERS, "self_test", "pin", "refused")
    assert [part for part in parts if device_part_name(words, part) == part] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_can_stop_a_play_is_said_where_it_goes_on(language: Language) -> None:
    stops = re.findall(r'NotNow\("(\w+)"', getsource(guards._guards))
    sentences = catalogues()[language].sentences
    assert {key.removeprefix("guard_") for key in sentences if key.startswith("guard_")} == {
        *stops,
        OUT_OF_ORDER,
        CORRECTED,
    }


def test_a_fault_is_said_of_its_part_with_the_code_beside_it() -> None:
    words = catalogues()["fr"]
    said = "Bouton Est\N{NO-BREAK SPACE}: reste enfoncé <code>button_stuck</code>"
    assert fault_message(words, "button-east", "button_stuck") == said
    template = environment().from_string("{{ 'button-east'|fault_text('button_stuck') }}")
    assert template.render(words=words) == said
    assert fault_message(words, "refused", "another_device") == (
        "Message de la table\N{NO-BREAK SPACE}: refusé <code>another_device</code>"
    )


def test_what_has_no_word_is_shown_as_it_came_and_escaped() -> None:
    words = catalogues()["en"]
    assert fault_message(words, "toaster-<b>", "<i>") == "toaster-&lt;b&gt;: &lt;i&gt;"
    assert overridden_guards(words, "rain") == "rain"


def test_an_alert_names_each_part_that_is_unwell_or_well_again() -> None:
    words = catalogues()["zh"]
    assert health_change(words, "camera: camera_dark; lamps: box_silent") == (
        "摄像头：太暗 <code>camera_dark</code> · 按钮灯：按钮盒无响应 <code>box_silent</code>"
    )
    assert health_change(words, "camera; lamps") == "摄像头 · 按钮灯"
    assert overridden_guards(words, "deal_played_here, out_of_order") == (
        "该桌已打过此副 <code>deal_played_here</code> · 尚未轮到此副 <code>out_of_order</code>"
    )
