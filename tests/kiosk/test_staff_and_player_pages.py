"""The pages for staff and players say what the screen says, word by word."""

from pathlib import Path
from typing import Final

import pytest

from broker.i18n import Translator
from broker.rules import DEFAULT_MCR, load_mcr
from kiosk.screens import tray_verdict
from kiosk.screens.restoring import move_sentence, place_name
from kiosk.screens.texts import MISPLACED, PROBLEM, STATE, STATE_HELP, STATE_MARKED
from kiosk.table import Misplaced, PutIn, Shift, Swap, TakeOut, TilePlace, TrayProblem, Turn
from vision.reading import TrayFaultType

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
TEXTS: Final = (ROOT / "broker/locale/homologue.pot").read_text(encoding="utf-8")
ENGLISH: Final = Translator("en")

ONE, OTHER = TilePlace("west", 1, 4), TilePlace("west", 2, 0)

WRONG: Final = TrayProblem("west", (Misplaced(kind="missing", row=1, col=4, expected=64),))
NAMES: Final = {"row": 2, "col": 5, "row2": 3, "col2": 1, "found": 117, "expected": 64}

STAFF_READ: Final = (
    tray_verdict(ENGLISH, WRONG),
    tray_verdict(ENGLISH, TrayProblem("north", (), unread=3)),
    place_name(ENGLISH, ONE, seat=False),
    *(move_sentence(ENGLISH, one, face=False) for one in (Swap(ONE, OTHER), Shift(ONE, OTHER), TakeOut(ONE))),
    move_sentence(ENGLISH, PutIn(ONE, 64), face=False),
    *(move_sentence(ENGLISH, Turn(ONE), face=face) for face in (True, False)),
    STATE_MARKED["restoring"],
    PROBLEM["below_minimum"],
)

TEXTS_STAFF_READ: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("Hand value of {seat}", {"seat": "West"}),
    ("{count} places are covered: take your hands away", {"count": 3}),
    ("Sort the tiles by seat: colour and letter", {}),
    ("{seat}: row and place are on the tiles", {"seat": "South"}),
    ("{seen} of {all} tiles seen", {"seen": 124, "all": 136}),
    ("{count} face up: turn it over", {"count": 1}),
    ("{count} of another set: put it aside", {"count": 1}),
    ("{count} not read: spread out, wipe", {"count": 2}),
    ("{seat}: {count} of 34 in order", {"seat": "South", "count": 5}),
    ("{count} to send", {"count": 2}),
    ("{count} refused: call the arbiter", {"count": 3}),
    *((text, {}) for text in ("scanned twice", "Another set", "Not read", "Done.", "connected", "Who discarded?")),
    ("offline: go on, nothing is lost", {}),
)
"""Texts that the screens write, with the values that the page has for an example."""

PLAYERS_READ: Final = (STATE_HELP["confirming"], STATE_HELP["playing"], STATE["recorded"])
TEXTS_PLAYERS_READ: Final = ("offline: go on, nothing is lost", "The arbiter is called", "hu")


def page(name: str) -> str:
    """Return a page as one line."""
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("kind", TrayFaultType)
def test_staff_are_told_every_fault_as_the_screen_names_it(kind: TrayFaultType) -> None:
    assert f"| {ENGLISH(MISPLACED[kind.value], **NAMES)} |" in page("staff.md")


@pytest.mark.parametrize("key", ["waiting", "restoring", "confirming", "playing", "accepting", "recorded", "finished"])
def test_staff_are_told_every_state_in_its_word(key: str) -> None:
    assert f"| **{ENGLISH(STATE[key])}** |" in page("staff.md")


def test_staff_read_the_screens_own_sentences() -> None:
    sentences = [*STAFF_READ, *(text.format(**values) for text, values in TEXTS_STAFF_READ)]
    assert [one for one in sentences if one not in page("staff.md")] == []


def test_players_read_the_screens_own_sentences() -> None:
    assert [one for one in (*PLAYERS_READ, *TEXTS_PLAYERS_READ) if one not in page("player.md")] == []


def test_what_the_pages_quote_is_in_the_catalogue() -> None:
    texts = [*(text for text, _ in TEXTS_STAFF_READ), *TEXTS_PLAYERS_READ]
    assert [one for one in texts if f' "{one}"\n' not in TEXTS] == []


def test_the_numbers_told_are_the_profiles() -> None:
    profile = load_mcr(DEFAULT_MCR)
    assert profile.claim_window_ms.value == 3000
    assert "claim window, three seconds" in page("player.md")
    assert profile.false_hu.fines.value == (4, 8)
    assert "4 or 8 IMP" in page("player.md")
    assert "4 or 8" in page("staff.md")
    assert profile.payments.minimum.value == 8
    assert "8 at least" in page("player.md")
