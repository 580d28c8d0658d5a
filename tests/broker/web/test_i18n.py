"""Translated pages: the choice of language, and the texts for states, faults and alerts."""

import re
from importlib.resources import files
from inspect import getsource
from pathlib import Path
from typing import get_args

import pytest

from broker.device_faults import DEVICE_FAULT, PART_FAULT
from broker.i18n import duration, languages
from broker.scorer import AlertView
from broker.scorer.counting import CORRECTED
from broker.web.alerts import (
    GUARD,
    device_part_name,
    fault_message,
    health_change,
    overridden_guards,
)
from broker.web.i18n import choose_translator, translators
from broker.web.labels import STATE
from broker.web.render import SIGNS, environment
from kiosk.errors import FAULT_CODES, JournalNewer
from kiosk.restoring import FOREIGN
from kiosk.screens.window import ScreenFault
from kiosk.status import LATE_PRESS
from kiosk.table import machine
from tests.kiosk.screens.test_device import OTHERS, PARTS, of_hardware, under
from vision.errors import PictureError


@pytest.mark.parametrize(
    ("language", "long", "short"),
    [("en", "3 h 05 min", "5 min"), ("fr", "3 h 05", "5 min"), ("zh", "3 小时 5 分钟", "5 分钟")],
)
def test_durations_are_translated(language: str, long: str, short: str) -> None:
    _ = translators()[language]
    assert [_(duration(11_100)), _(duration(290)), _("about {span}", span=duration(11_100))] == [
        long,
        short,
        f"about {long}",
    ]


@pytest.mark.parametrize(("language", "span"), [("en", "24 h 00 min"), ("fr", "24 h 00"), ("zh", "24 小时 0 分钟")])
def test_durations_in_alerts_are_translated(language: str, span: str) -> None:
    told = AlertView(at=0, code="clock_ahead", text="", table=1, values={"span": "24 h 00 min"})
    text = environment().from_string("{{ told|alert_text }}").render({"_": translators()[language], "told": told})
    assert span in text


def test_every_state_has_a_label() -> None:
    assert STATE.keys() == SIGNS.keys()


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
def test_the_language_comes_from_the_query_then_the_browser_then_english(
    wish: str | None, accepted: str, language: str
) -> None:
    assert choose_translator(wish, accepted).language == language


@pytest.mark.parametrize(("name", "put"), [("שרה כהן", "\u2068שרה כהן\u2069"), ("Zoë", "Zoë"), ("王", "王"), (7, "7")])
def test_right_to_left_names_are_isolated(name: object, put: str) -> None:
    assert translators()["en"]("{name} sat here", name=name) == f"{put} sat here"


def test_values_in_sentences_are_escaped() -> None:
    assert str(translators()["en"]("Deal {deal}", deal="<b>")) == "Deal &lt;b&gt;"


PUNCTUATION = re.compile(r"\}\}[,:;] |\{% endif %\}[,:;] |loop\.last %\}[,:;]|join\(['\"][,;:]")


def test_templates_contain_no_punctuation_between_texts() -> None:
    pages = Path(str(files("broker.web"))).rglob("templates/*.html")
    found = [(page.name, one[0]) for page in pages for one in PUNCTUATION.finditer(page.read_text(encoding="utf-8"))]
    assert [one for one in found if one[0] != "display.html"] == []  # the syntax of a refresh


ARRIVING = {
    *of_hardware(),
    LATE_PRESS,
    *FAULT_CODES.keys() - {"upgrade_by_hand", "upgrade_failed"} - {FOREIGN},  # shown with the upgrade, and on a screen
    JournalNewer.code,
    *get_args(ScreenFault),
    *({*under(PictureError)} - {"picture_missing"}),  # concerns a file
}
"""All codes that may appear in a table's health."""

IN_THE_PLACE_OF = ("wire", "plan", "refused")
"""Parts whose codes come from a message or a plan, with the same text for every code."""


def test_every_fault_of_a_table_has_a_text() -> None:
    assert {*DEVICE_FAULT} == ARRIVING
    assert {*PART_FAULT} == {*IN_THE_PLACE_OF}


@pytest.mark.parametrize("language", languages())
def test_every_part_of_a_device_has_a_name(language: str) -> None:
    words = translators()[language]
    parts = (*PARTS, *OTHERS, "self_test", "pin", "refused")
    assert [part for part in parts if device_part_name(words, part) == part] == []


def test_every_guard_that_can_stop_a_play_has_a_text() -> None:
    stops = re.findall(r'NotNow\("(\w+)"', getsource(machine._guards))
    assert GUARD.keys() == {*stops, machine.OUT_OF_ORDER, CORRECTED}


def test_a_fault_names_its_part_and_shows_its_code() -> None:
    words = translators()["fr"]
    said = "Bouton Est\N{NO-BREAK SPACE}: reste enfoncé <code>button_stuck</code>"
    assert fault_message(words, "button-east", "button_stuck") == said
    template = environment().from_string("{{ 'button-east'|fault_text('button_stuck') }}")
    assert template.render(_=words) == said
    assert fault_message(words, "refused", "another_device") == (
        "Message de la table\N{NO-BREAK SPACE}: refusé <code>another_device</code>"
    )


def test_unknown_codes_are_shown_escaped() -> None:
    words = translators()["en"]
    assert fault_message(words, "toaster-<b>", "<i>") == "toaster-&lt;b&gt;: &lt;i&gt;"
    assert overridden_guards(words, "rain") == "rain"


def test_an_alert_names_each_faulty_or_recovered_part() -> None:
    words = translators()["zh"]
    assert health_change(words, "camera: camera_dark; lamps: box_silent") == (
        "摄像头：太暗 <code>camera_dark</code> · 按钮灯：按钮盒无响应 <code>box_silent</code>"
    )
    assert health_change(words, "camera; lamps") == "摄像头 · 按钮灯"
    assert overridden_guards(words, "deal_played_here, out_of_order") == (
        "该桌已打过此副 <code>deal_played_here</code> · 未轮到就打了 <code>out_of_order</code>"
    )
