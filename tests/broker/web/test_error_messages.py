"""Every code with which a form can be refused has a translated sentence with its values."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from broker.errors import (
    BadEvent,
    CallAttended,
    NoDeviceWaits,
    RuleError,
    ScorerBusy,
    ScorerError,
    StoreBroken,
    StoreError,
    StoreInUse,
    StoreLost,
)
from broker.i18n import N_, languages
from broker.protocol import Refused
from broker.web.i18n import translators
from broker.web.problems import PROBLEM, code_message, error_message
from tests.broker.protocol.codes import ROOT, in_source

RULINGS: Final = (
    "broker/web/forms.py",
    "broker/web/rulings",
    "broker/rulings/validate.py",
    "broker/rulings/plan.py",
    "broker/rulings/service.py",
    "broker/rules/points.py",
    "broker/rules/profiles.py",
    "broker/rules/points.py",
    "broker/rules/riichi/points.py",
    *(f"broker/rules/riichi/{part}.py" for part in ("session", "events", "payments")),
)
"""Modules that can refuse a ruling's form or a computation under other rules."""

PAPER: Final = (
    *("broker/rulings/paper.py",),
    *(
        "broker/web/paper/keying.py",
        "broker/web/paper/views.py",
    ),
    *("broker/event/file_io.py", "broker/event/file_io.py"),
)
"""Modules that can refuse a paper sheet, which is stored as a ruling."""

SET_UP: Final = (
    "broker/event/setup.py",
    "broker/web/setup",
    "broker/event/players.py",
    "broker/event/readiness.py",
    *("broker/event/movement/files.py", "broker/event/movement/files.py", "broker/event/movement/plays.py"),
    *(f"broker/organiser/deals/{part}.py" for part in ("committed", "listed", "made", "sets")),
    *("broker/event/event.py", "broker/event/files.py", "broker/event/files.py", "broker/event/plan.py"),
)
"""Modules that can refuse a set-up form, or prevent an event from starting."""

TABLES: Final = "broker/scorer/intake.py"
"""The module that refuses messages of tables; alerts show its codes with the same details."""

ROOM: Final = (
    "broker/web/errors.py",
    "broker/people/errors.py",
)

SCORER: Final = (BadEvent, CallAttended, NoDeviceWaits, ScorerBusy, ScorerError)

STORE: Final = {one.code for one in (StoreError, StoreBroken, StoreInUse, StoreLost, *SCORER)}
"""Errors of the scorer, and of a store that is already open."""

SAID_ANYWAY: Final = {"reason_wrong", "event_started"}
"""Codes whose English detail contains only a constant and is of no help."""

NEVER_TOLD: Final = {
    "it ends the desk, or is sent to a device": {
        *("desk_error", "desk_port_taken", "desk_address_refused", "desk_start_failed", "desk_certificate_refused"),
        *("pairing_unknown", "pairing_spent", "pairing_over", "pairing_outdated", "pairing_delayed"),
        "pairing_busy",
        "nothing_to_pair_with",
    },
    "one page reports it itself": {"audit_broken"},
    "bases, never raised": {"people_error"},
    "only commands raise these": {
        "plays_exist",
        "bad_teams",
        "players_differ",
        "bad_webhook",
        "webhook_taken",
        "webhook_unknown",
    },
    "the forms make it impossible": {"no_such_player"},
    "yakuman are entered by number, not by name": {
        *("unknown_yakuman", "yakuman_named_twice", "yakuman_not_played"),
    },
    "these concern a riichi session, not one hand": {
        *("session_over", "riichi_without_points", "riichi_noten", "no_first_fault", "offender_missing"),
        *("player_named_twice", "dead_hand_counts", "fined_not_scored", "negative_counters", "negative_deposits"),
    },
}
"""Codes in these modules that no form can be refused with, by reason."""


def _files(path: Path) -> Iterator[Path]:
    yield from [path] if path.is_file() else path.rglob("*.py")


def given() -> set[str]:
    """Return all codes raised in the modules that can refuse a form."""
    sources = [file.read_text() for one in (*RULINGS, *PAPER, *SET_UP, *ROOM) for file in _files(ROOT / one)]
    return {code for source in sources for code, _ in in_source(source)} | STORE


def test_every_code_that_can_refuse_a_form_has_a_sentence() -> None:
    assert sorted(given().difference(*NEVER_TOLD.values(), PROBLEM)) == []


def test_every_exempted_code_is_still_raised_somewhere() -> None:
    assert sorted(set().union(*NEVER_TOLD.values()) - given()) == []


@pytest.mark.parametrize("language", languages())
def test_no_sentence_contains_its_code(language: str) -> None:
    _ = translators()[language]
    assert [code for code, text in PROBLEM.items() if "_" in code and code in _(text, wait=1, detail="")] == []


def test_english_details_are_escaped_and_marked_as_english() -> None:
    said = error_message(translators()["fr"], Refused("tables_unreadable", "'<b>' is odd"))
    assert said == (
        "Indiquez des numéros de table, avec un trait d’union pour une suite\N{NO-BREAK SPACE}: 1 2 5-9. "
        'Pour des groupes, un groupe par ligne. <span class="detail" lang="en">(&#39;&lt;b&gt;&#39; is odd)</span>'
    )


def test_catalogued_details_are_translated_with_escaped_values() -> None:
    wrong = RuleError(
        "country_wrong",
        N_("line {line}: {text} is not a country code: use two or three capital letters", line=3, text="<b>"),
    )
    said = {language: error_message(words, wrong).partition("<span")[2] for language, words in translators().items()}
    assert {language: text.replace("\N{NO-BREAK SPACE}", " ") for language, text in said.items()} == {
        "en": ' class="detail">(line 3: &lt;b&gt; is not a country code: use two or three capital letters)</span>',
        "fr": ' class="detail">(ligne 3 : &lt;b&gt; n’est pas un code de pays : deux ou trois majuscules)</span>',
        "zh": ' class="detail">（第 3 行：&lt;b&gt; 不是国家代码，须为两个或三个大写字母）</span>',
    }


def test_the_sentence_of_a_known_cause_is_preferred() -> None:
    low = Refused(
        "impossible_result", N_("{seat}: {value} is below the minimum of {least}", seat="south", value=3, least=8)
    )
    low.__cause__ = RuleError("below_minimum", low.text)
    odd = Refused("impossible_result", "a text")
    odd.__cause__ = RuleError("as_yet_unheard_of", "a text")
    words = translators()["zh"]
    assert re.sub("<[^>]*>", "", error_message(words, low)) == "番数不足起和番数。（南：3 番，不足 8 番起和）"
    assert error_message(words, odd) == code_message(words, "impossible_result", "a text")


def test_an_unknown_code_gets_the_general_sentence_with_its_english_detail() -> None:
    words = translators()["zh"]
    assert re.sub("<[^>]*>", "", code_message(words, "as_yet_unheard_of", "rain")) == "目前无法这样做。（rain）"
    assert code_message(words, "", "") == "目前无法这样做。"
