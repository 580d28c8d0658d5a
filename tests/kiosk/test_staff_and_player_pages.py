"""The pages for staff and players say what the screen says, word by word."""

from pathlib import Path
from typing import Final

import pytest

from broker.i18n import Translator
from broker.rules import DEFAULT_MCR, load_mcr
from vision.reading import TrayFaultType

DOCS: Final = Path(__file__).parents[2] / "docs"
WORDS: Final = Translator("en")
MOVES: Final = ("move_out", "move_in", "move_over", "move_round")
NAMES: Final = {"row": 2, "col": 5, "row2": 3, "col2": 1, "found": 117, "expected": 64}


def page(name: str) -> str:
    """Return a page as one line."""
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("kind", TrayFaultType)
def test_staff_are_told_every_fault_as_the_screen_names_it(kind: TrayFaultType) -> None:
    assert f"| {WORDS(f'misplaced_{kind.value}', **NAMES)} |" in page("staff.md")


@pytest.mark.parametrize("key", ["waiting", "restoring", "confirming", "playing", "accepting", "recorded", "finished"])
def test_staff_are_told_every_state_in_its_word(key: str) -> None:
    assert f"| **{WORDS(key)}** |" in page("staff.md")


@pytest.mark.parametrize(
    "sentence",
    [
        WORDS("value_of", seat="West"),
        WORDS("tray_wrong", seat="West"),
        WORDS("tray_unread", seat="North", count=3),
        WORDS("place_here", row=2, col=5),
        WORDS("move_swap", one=WORDS("place_here", row=2, col=5), other=WORDS("place_here", row=3, col=1)),
        WORDS("move_shift", one=WORDS("place_here", row=2, col=5), other=WORDS("place_here", row=3, col=1)),
        *(WORDS(key, one=WORDS("place_here", row=2, col=5), serial=64) for key in MOVES),
        WORDS("covered", count=3),
        WORDS("heap_by_place", seat="South"),
        WORDS("heap_progress", seen=124, all=136),
        WORDS("heap_faces", count=1),
        WORDS("heap_foreign", count=1),
        WORDS("heap_unread", count=2),
        WORDS("scan_run", seat="South", count=5),
        *(WORDS(key) for key in ("heap_by_seat", "scan_again", "scan_foreign", "scan_nothing", "move_done")),
        WORDS("unsent", count=2),
        WORDS("refused", count=3),
        *(WORDS(key) for key in ("online", "offline", "discarder", "restoring_marked", "problem_below_minimum")),
    ],
)
def test_staff_read_the_screens_own_sentences(sentence: str) -> None:
    assert sentence in page("staff.md")


@pytest.mark.parametrize("key", ["confirming_help", "playing_help", "offline", "calling", "has_declared", "recorded"])
def test_players_read_the_screens_own_sentences(key: str) -> None:
    assert WORDS(key) in page("player.md")


def test_the_numbers_told_are_the_profiles() -> None:
    profile = load_mcr(DEFAULT_MCR)
    assert profile.claim_window_ms.value == 3000
    assert "claim window, three seconds" in page("player.md")
    assert profile.false_hu.fines.value == (4, 8)
    assert "4 or 8 IMP" in page("player.md")
    assert "4 or 8" in page("staff.md")
    assert profile.payments.minimum.value == 8
    assert "8 at least" in page("player.md")
