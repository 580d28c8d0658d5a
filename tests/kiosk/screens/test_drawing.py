"""The screens have a text for every code that can occur."""

import pytest

from broker.i18n import Translator
from broker.protocol import SEATS
from kiosk.errors import BadConfiguration
from kiosk.screens.drawing import seat_mark
from kiosk.screens.texts import refusal, translator
from vision.reading import TrayFaultType
from vision.verdict import FAULT_SENTENCES


def test_every_camera_fault_has_a_sentence() -> None:
    assert FAULT_SENTENCES.keys() == set(TrayFaultType)


def test_a_refusal_is_shown_as_a_sentence_or_by_its_code() -> None:
    _ = Translator("fr")
    assert refusal(_, "below_minimum") == "Trop bas : valeur sous le minimum pour gagner.".replace(
        " :", "\N{NO-BREAK SPACE}:"
    )
    assert refusal(_, "no_such_code") == "Non accepté\N{NO-BREAK SPACE}: no_such_code"


def test_an_unknown_language_is_refused_with_a_list_of_known_ones() -> None:
    with pytest.raises(BadConfiguration, match="language de: there are en, fr, zh"):
        translator("de")


@pytest.mark.parametrize(("language", "marks"), [("en", "ESWN"), ("fr", "ESWN"), ("zh", "东南西北")])
def test_a_shape_has_the_letter_on_tiles_or_for_readers_of_chinese_its_character(language: str, marks: str) -> None:
    assert [seat_mark(language, seat) for seat in SEATS] == [*marks]
