"""Every refusal at a table is shown as a sentence: no internal code appears on a player's or an arbiter's screen."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from broker.i18n import Translator, languages
from kiosk.screens.texts import PROBLEM, refusal
from tests.broker.protocol.codes import ROOT, in_source

SOURCES: Final = (
    "kiosk",
    "broker/rules/points.py",
    "broker/rules/hand_from_serials.py",
    "broker/rules/hand_value.py",
    "broker/rules/mcr/hand.py",
    "broker/rules/mcr/fan.py",
    *(f"broker/rules/riichi/{part}.py" for part in ("hand", "points", "value")),
    "broker/rules/points.py",
    *(f"broker/rules/riichi/{part}.py" for part in ("events", "payments", "session")),
    "broker/scorer/counting.py",
)
"""Modules that refuse something at a table: its own rules, those that it asks, and the scorer that counts a hand."""

OF_PAIRING: Final = (
    *("desk_error", "form_malformed", "form_too_large", "no_answer", "nothing_to_pair_with"),
    *("pairing_unknown", "pairing_spent", "pairing_over", "pairing_delayed"),
    "pairing_busy",
)
"""Codes of a desk's answers to a pairing code, or for answers that are not a desk's."""

NEVER_TOLD: Final = {
    "a press is refused in silence": {
        *("press_after_play", "press_after_window", "press_before_play", "press_in_pause"),
        *("press_in_test", "press_told_late"),
    },
    "a matter between program and clock": {"window_still_open"},
    "it ends the program, or is told at the foot": {
        *(
            "bad_configuration",
            "card_refuses",
            "device_unknown",
            "disk_low",
            "fact_unexpected",
            "journal_broken",
            "journal_in_use",
            "journal_newer",
            "kiosk_error",
            "not_paired",
            "receipt_unproven",
        ),
        *("pairing_asked", "screen_missing", "bad_profile", "plan_rewrites_past"),
    },
    "the self-test tells what it has found": {
        *("button_exchanged", "button_silent", "picture_wrong", "scanner_beeps", "scanner_silent"),
        *("self_test_failed", "self_test_skipped", "pin_guessed"),
    },
    "the desk is told, as nobody sees it": {
        *("screen_black", "screen_unplugged"),
        *("upgrade_by_hand", "upgrade_damaged", "upgrade_failed", "upgrade_no_return", "upgrade_no_room"),
        "upgrade_unreachable",
    },
    "the doctor tells what it has found": {
        *("broker_unreached", "certificate_ends", "certificate_unread", "facts_unsent", "font_missing"),
        *("journal_damaged", "journal_unread", "program_incomplete"),
    },
    "a screen of its own tells it": {"scan_foreign_set"},
    "the desk's own code is told in its place": {"pairing_refused"},
    "the desk tells how a table has answered an order": {"next_deal_begun", "riichi_take_back"},
    "the desk tells how far another version is": {
        *("upgrade_by_hand", "upgrade_damaged", "upgrade_failed", "upgrade_no_return", "upgrade_no_room"),
        "upgrade_unreachable",
    },
    "the table asks again until it is another": {"not_declared", "not_restored"},
    "the forms ask so that it cannot be": {
        *("discarder_not_asked", "draw_with_winner", "negative_yakuman", "fined_not_scored"),
        *("chankan_self_drawn", "haitei_on_discard", "haitei_with_rinshan", "houtei_self_drawn", "houtei_with_chankan"),
        *("ippatsu_without_riichi", "open_riichi_refused", "open_riichi_without_riichi", "riichi_with_open_hand"),
        *("rinshan_on_discard", "too_many_indicators"),
        *("hand_differs", "hand_missing", "hand_not_asked"),
        *("no_such_player", "player_named_twice", "loser_missing", "reason_missing", "dead_hand_counts"),
    },
    "a state that the scorer told is validated before": {"negative_counters", "negative_deposits"},
    "yakuman are told by how many, not by their names": {
        *("unknown_yakuman", "yakuman_named_twice", "yakuman_not_played"),
    },
    "faces come from a registry, which is validated": {"unknown_tile", "unknown_wind", "unknown_ruleset"},
}
"""Codes in those sources that no table's screen can show, with the reason."""


@cache
def told() -> frozenset[str]:
    """Return every code in those sources."""
    return frozenset(
        code for source in SOURCES for file in _files(ROOT / source) for code, _ in in_source(file.read_text())
    )


def arriving() -> frozenset[str]:
    """Return every code that can reach a table's screen."""
    return told().difference(*NEVER_TOLD.values()).union(OF_PAIRING)


def _files(path: Path) -> Iterator[Path]:
    yield from [path] if path.is_file() else path.rglob("*.py")


def test_every_refusal_that_can_reach_a_table_has_a_sentence() -> None:
    assert sorted(arriving() - PROBLEM.keys()) == []


@pytest.mark.parametrize("language", languages())
def test_no_refusal_shows_its_code(language: str) -> None:
    _ = Translator(language)
    assert [code for code in sorted(arriving()) if code in refusal(_, code)] == []


def test_every_excluded_code_exists_in_the_sources() -> None:
    """Otherwise the list would excuse a code that comes back later and needs a sentence."""
    assert sorted(set().union(*NEVER_TOLD.values()) - told()) == []
