"""The pages for staff and players say what the screen says, word by word."""

from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from babel.messages.pofile import read_po

from broker.i18n import Translator
from broker.rules import DEFAULT_MCR, load_mcr
from kiosk.screens.texts import MISPLACED, STATE

DOCS: Final = Path(__file__).parents[2] / "docs"
ENGLISH: Final = Translator("en")
TEXTS: Final = {
    text
    for message in read_po(BytesIO((files("broker") / "locale" / "homologue.pot").read_bytes()))
    for text in (message.id if isinstance(message.id, tuple) else (message.id,))
}
"""All texts that people read."""

STATES: Final = ("waiting", "restoring", "confirming", "playing", "accepting", "recorded", "finished")
PLACES: Final = {"one": "row 2, place 5", "other": "row 3, place 1", "serial": 64}


def page(name: str) -> str:
    """Return a page as one line."""
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("kind", MISPLACED)
def test_staff_are_told_every_fault_as_the_screen_names_it(kind: str) -> None:
    assert f"| {ENGLISH(MISPLACED[kind], row=2, col=5, row2=3, col2=1, found=117, expected=64)} |" in page("staff.md")


@pytest.mark.parametrize("state", STATES)
def test_staff_are_told_every_state_in_its_word(state: str) -> None:
    assert f"| **{ENGLISH(STATE[state])}** |" in page("staff.md")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Hand value of {seat}", {"seat": "West"}),
        ("{seat}: not right yet", {"seat": "West"}),
        ("row {row}, place {col}", {"row": 2, "col": 5}),
        ("Swap: {one} and {other}", PLACES),
        ("Move: {one} to {other}", PLACES),
        ("Remove the tile of another set: {one}", PLACES),
        ("Put in {serial}: {one}", PLACES),
        ("Turn it over: {one}", PLACES),
        ("Turn it the right way round: {one}", PLACES),
        ("{seat}: row and place are on the tiles", {"seat": "South"}),
        ("{seen} of {all} tiles seen", {"seen": 124, "all": 136}),
        ("{seat}: {count} of 34 in order", {"seat": "South", "count": 5}),
        ("Sort the tiles by seat: colour and letter", {}),
        ("scanned twice", {}),
        ("Another set", {}),
        ("Not read", {}),
        ("Done.", {}),
        ("connected", {}),
        ("offline: play on, nothing is lost", {}),
        ("Who discarded?", {}),
        ("right", {}),
        ("Too low: the value is below the minimum for a win.", {}),
        ("{count} to send", {"count": 2}),
    ],
)
def test_staff_read_the_screens_own_sentences(text: str, values: dict[str, object]) -> None:
    assert text in TEXTS
    assert ENGLISH(text, **values) in page("staff.md")


@pytest.mark.parametrize(
    ("one", "many", "values"),
    [
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
    ],
)
def test_staff_read_the_screens_own_counts(one: str, many: str, values: dict[str, Any]) -> None:
    assert one in TEXTS
    assert ENGLISH.ngettext(one, many, **values) in page("staff.md")


@pytest.mark.parametrize(
    "text",
    [
        "Are your 34 tiles in order? Then press your button.",
        "To declare hu, press your button silently.",
        "offline: play on, nothing is lost",
        "The arbiter is called",
        "hu",
        "Recorded",
    ],
)
def test_players_read_the_screens_own_sentences(text: str) -> None:
    assert text in TEXTS
    assert text in page("player.md")


def test_the_numbers_told_are_the_profiles() -> None:
    profile = load_mcr(DEFAULT_MCR)
    assert profile.claim_window_ms.value == 3000
    assert "claim window, three seconds" in page("player.md")
    assert profile.false_hu.fines.value == (4, 8)
    assert "4 or 8 IMP" in page("player.md")
    assert "4 or 8" in page("staff.md")
    assert profile.payments.minimum.value == 8
    assert "8 at least" in page("player.md")
