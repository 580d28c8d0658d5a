"""What is wrong with a table's device is told in words, the code beside them; so is what a play goes on in spite of."""

import re
from inspect import getsource

import pytest

from broker.desk.catalogue import LANGUAGES, Language, catalogues
from broker.desk.page import environment
from broker.desk.unwell import changed, faulty, in_spite_of, named
from broker.scorer.counting import CORRECTED
from kiosk.errors import PinGuessed, SelfTestFailed, SelfTestSkipped
from kiosk.health import TOLD_LATE
from kiosk.table import guards
from kiosk.table.guards import OUT_OF_ORDER
from tests.kiosk.screens.test_faults import OTHERS, PARTS, of_hardware

ARRIVING = {*of_hardware(), TOLD_LATE, SelfTestFailed.code, SelfTestSkipped.code, PinGuessed.code}
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
    assert [part for part in parts if named(words, part) == part] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_can_stop_a_play_is_said_where_it_goes_on(language: Language) -> None:
    stops = re.findall(r'NotNow\("(\w+)"', getsource(guards._stops))
    sentences = catalogues()[language].sentences
    assert {key.removeprefix("guard_") for key in sentences if key.startswith("guard_")} == {
        *stops,
        OUT_OF_ORDER,
        CORRECTED,
    }


def test_a_fault_is_said_of_its_part_with_the_code_beside_it() -> None:
    words = catalogues()["fr"]
    said = "Bouton Est\N{NO-BREAK SPACE}: reste enfoncé <code>button_stuck</code>"
    assert faulty(words, "button-east", "button_stuck") == said
    template = environment().from_string("{{ 'button-east'|fault_text('button_stuck') }}")
    assert template.render(words=words) == said
    assert faulty(words, "refused", "another_device") == (
        "Message de la table\N{NO-BREAK SPACE}: refusé <code>another_device</code>"
    )


def test_what_has_no_word_is_shown_as_it_came_and_escaped() -> None:
    words = catalogues()["en"]
    assert faulty(words, "toaster-<b>", "<i>") == "toaster-&lt;b&gt;: &lt;i&gt;"
    assert in_spite_of(words, "rain") == "rain"


def test_an_alert_names_each_part_that_is_unwell_or_well_again() -> None:
    words = catalogues()["zh"]
    assert changed(words, "camera: camera_dark; lamps: box_silent") == (
        "摄像头：太暗 <code>camera_dark</code> · 按钮灯：按钮盒无响应 <code>box_silent</code>"
    )
    assert changed(words, "camera; lamps") == "摄像头 · 按钮灯"
    assert in_spite_of(words, "deal_played_here, out_of_order") == (
        "该桌已打过此副 <code>deal_played_here</code> · 尚未轮到此副 <code>out_of_order</code>"
    )
