"""The cards: one page each in every language; no sentence is cut, or overlaps a picture or the edge."""

import re
from itertools import product
from pathlib import Path

import pypdfium2
import pypdfium2.raw
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.i18n import Translator, languages
from broker.rules import DEFAULT_MCR, load_mcr
from kiosk.cards.page import CARDS, Card, card_page
from kiosk.input import Form
from tests.refusals import codes

EDGE = 20
"""Points at the edge that printers cannot reach."""


def plain(text: str) -> str:
    """Return a sentence without markup and line breaks."""
    return "".join(re.sub(r"<[^>]*>", "", text).split())


@pytest.mark.parametrize(
    ("card", "language"), [*product(CARDS, languages())], ids=lambda one: getattr(one, "name", one)
)
def test_a_card_is_one_page_with_all_its_sentences_clear_of_the_pictures(card: Card, language: str) -> None:
    _ = Translator(language)
    document = pypdfium2.PdfDocument(card_page(card, _))
    (only,) = document
    told = plain(only.get_textpage().get_text_bounded())
    said = [card.title, *(text for text, _shown in card.pictures), *card.advice]
    assert [text for text in said if plain(_(text)) not in told] == []
    boxes = [(one.type, one.get_bounds()) for one in only.get_objects()]
    pictures = [box for kind, box in boxes if kind == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]
    texts = [box for kind, box in boxes if kind == pypdfium2.raw.FPDF_PAGEOBJ_TEXT]
    assert len(pictures) == len(card.pictures)
    width, height = only.get_size()
    inside = [
        left > EDGE and low > EDGE and right < width - EDGE and top < height - EDGE for left, low, right, top in texts
    ]
    assert all(inside)
    assert [(one, other) for one, other in product(texts, pictures) if _overlap(one, other)] == []


def test_a_card_shows_the_lowest_value_that_wins() -> None:
    least = load_mcr(DEFAULT_MCR).payments.minimum.value
    shown = [getattr(one.phase, "form", None) for card in CARDS for _text, one in card.pictures if not callable(one)]
    assert {form.least for form in shown if isinstance(form, Form)} == {least}


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_the_command_writes_all_cards(tmp_path: Path) -> None:
    done = CliRunner().invoke(homologue, ["event", "cards", "--output", str(tmp_path / "cards")])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "cards").iterdir()) == [
        "players-en.pdf",
        "riichi-en.pdf",
        "staff-en.pdf",
    ]


def test_an_unknown_language_is_refused_with_its_code(tmp_path: Path) -> None:
    done = CliRunner().invoke(homologue, ["event", "cards", "--language", "xx", "--output", str(tmp_path)])
    assert done.exit_code == 1
    assert codes(done.stderr) == ["bad_configuration"]
