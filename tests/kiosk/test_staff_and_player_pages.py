"""The pages for staff and players quote the screen, word for word, in each language."""

from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from babel.messages.pofile import read_po

from broker.i18n import Translator
from broker.rules import DEFAULT_MCR, load_mcr
from kiosk.screens.texts import STATE

DOCS: Final = Path(__file__).parents[2] / "docs"
LANGUAGES: Final = ("en", "fr", "zh")
TEXTS: Final = {
    text
    for message in read_po(BytesIO((files("broker") / "locale" / "homologue.pot").read_bytes()))
    for text in (message.id if isinstance(message.id, tuple) else (message.id,))
}
"""All texts that people read."""

STATES: Final = ("waiting", "restoring", "confirming", "playing", "accepting", "recorded", "finished")
PLACES: Final = {"one": (2, 5), "other": (3, 1)}
MOVE: Final[dict[str, object]] = {"one": "", "other": "", "serial": 64}
SEATS: Final = {"West": "West", "South": "South", "North": "North"}
PLACE: Final = "row {row}, place {col}"

pytestmark = pytest.mark.parametrize("language", LANGUAGES)


@cache
def page(name: str, language: str) -> str:
    """Return a page as one line."""
    file = f"{name}.md" if language == "en" else f"{name}.{language}.md"
    return one_line((DOCS / file).read_text(encoding="utf-8"))


def one_line(text: str) -> str:
    """Return a text with single spaces, and with straight quotes."""
    return " ".join(text.split()).replace("’", "'")


def said(language: str, text: str, values: dict[str, Any], many: str = "") -> str:
    """Return a text of the screen, with seats and places in its language."""
    _ = Translator(language)
    told: dict[str, Any] = {name: _(value) if value in SEATS else value for name, value in values.items()}
    for name, (row, col) in PLACES.items():
        if name in told:
            told[name] = _(PLACE, row=row, col=col)
    return one_line(_.ngettext(text, many, **told) if many else _(text, **told))


def test_the_staff_page_names_every_state_as_the_screen_does(language: str) -> None:
    words = [f"| **{said(language, STATE[state], {})}** |" for state in STATES]
    assert [word for word in words if word not in page("staff", language)] == []


def test_the_staff_page_quotes_the_screens_sentences(language: str) -> None:
    texts: list[tuple[str, dict[str, Any]]] = [
        ("Hand value of {seat}", {"seat": "West"}),
        ("{seat}: not right yet", {"seat": "West"}),
        ("row {row}, place {col}", {"row": 2, "col": 5}),
        ("Swap: {one} and {other}", MOVE),
        ("Move: {one} to {other}", MOVE),
        ("Remove the tile of another set: {one}", MOVE),
        ("Put in {serial}: {one}", MOVE),
        ("Turn it over: {one}", MOVE),
        ("Turn it the right way round: {one}", MOVE),
        ("{seat}: row and place are on the tiles", {"seat": "South"}),
        ("{seen} of {all} tiles seen", {"seen": 124, "all": 136}),
        ("{seat}: {count} of 34 in order", {"seat": "South", "count": 5}),
        ("Sort the tiles by seat: colour and letter", {}),
        ("scanned twice", {}),
        ("Another set", {}),
        ("Not read", {}),
        ("Last move done.", {}),
        ("connected", {}),
        ("offline: play on, nothing is lost", {}),
        ("Who discarded?", {}),
        ("tray: correct", {}),
        ("player: here", {}),
        ("Too low: the value is below the minimum for a win.", {}),
        ("{count} to send", {"count": 2}),
    ]
    assert [text for text, _ in texts if text not in TEXTS] == []
    sentences = [said(language, text, values) for text, values in texts]
    assert [sentence for sentence in sentences if sentence not in page("staff", language)] == []


def test_the_staff_page_quotes_the_screens_counts(language: str) -> None:
    counts: list[tuple[str, str, dict[str, Any]]] = [
        (
            "{seat}: {count} place not read; move your hands away",
            "{seat}: {count} places not read; move your hands away",
            {"seat": "North", "count": 3},
        ),
        (
            "{count} place is covered: take your hands away",
            "{count} places are covered: take your hands away",
            {"count": 3},
        ),
        ("{count} face up: turn it over", "{count} face up: turn them over", {"count": 1}),
        ("{count} of another set: put it aside", "{count} of another set: put them aside", {"count": 1}),
        ("{count} not read: spread out, wipe", "{count} not read: spread out, wipe", {"count": 2}),
        ("{count} refused: call the arbiter", "{count} refused: call the arbiter", {"count": 3}),
    ]
    assert [one for one, *_ in counts if one not in TEXTS] == []
    sentences = [said(language, one, values, many) for one, many, values in counts]
    assert [sentence for sentence in sentences if sentence not in page("staff", language)] == []


def test_the_player_page_quotes_the_screens_sentences(language: str) -> None:
    texts = [
        "Are your 34 tiles in order? Press your button. If not, touch no tile: call the arbiter.",
        "To declare hu, press your button silently.",
        "offline: play on, nothing is lost",
        "The arbiter is called",
        "hu",
        "Recorded",
        "A button was pressed",
    ]
    assert [text for text in texts if text not in TEXTS] == []
    sentences = [said(language, text, {}).removesuffix(".").removesuffix("。") for text in texts]
    assert [sentence for sentence in sentences if sentence not in page("player", language)] == []


@pytest.mark.parametrize("name", ["staff", "player"])
def test_a_translated_page_has_the_sections_tables_and_pictures_of_the_english_one(name: str, language: str) -> None:
    def shape(text: str) -> list[str]:
        return [line[: 2 if line[0] == "#" else 1] for line in text.splitlines() if line[:1] in {"#", "|", "!", "1"}]

    english, translated = (
        (DOCS / file).read_text(encoding="utf-8")
        for file in (f"{name}.md", f"{name}.md" if language == "en" else f"{name}.{language}.md")
    )
    assert shape(translated) == shape(english)


def test_the_numbers_on_the_pages_are_the_profiles(language: str) -> None:
    profile = load_mcr(DEFAULT_MCR)
    assert profile.claim_window_ms.value == 3000
    assert profile.false_hu.fines.value == (4, 8)
    assert profile.payments.minimum.value == 8
    seconds, fine, least = {
        "en": ("claim window, three seconds", "4 or 8 IMP", "8 at least"),
        "fr": ("fenêtre de déclaration : trois secondes", "4 ou 8 IMP", "8 au moins"),
        "zh": ("报和窗口开放三秒", "4 或 8 IMP", "至少 8"),
    }[language]
    assert seconds in page("player", language)
    assert fine in page("player", language)
    assert least in page("player", language)
    assert fine.removesuffix(" IMP") in page("staff", language)
