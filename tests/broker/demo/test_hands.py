"""The demo's plays are real: each is legal by the referee, and what the tables act out is how it ended."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from broker.club.judge import judge_of
from broker.club.table import Played
from broker.demo.event import make_event
from broker.demo.hands import strengths
from broker.rules.referee.replay import replay
from broker.scorer.event import open_event
from broker.scorer.folder import DEALS, HANDS, SETS, read_hands
from tests.broker.rules.variants import OEDMC

SEED = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "event"
    make_event(path, rounds=2, seed=SEED)
    return path


def courses(folder: Path) -> dict[tuple[int, int], dict[str, Any]]:
    return {
        (table, course["round"]): course
        for table in range(1, 5)
        for course in json.loads((folder / f"table-{table}.plays.json").read_text())["plays"]
    }


def test_what_the_tables_act_out_is_how_the_kept_hands_end(folder: Path) -> None:
    event, acted, judge = open_event(folder), courses(folder), judge_of(OEDMC)
    deals = {record.number: record.deal() for record in event._deals.values()}
    found = {}
    for hand in read_hands(folder):
        assert event.bookings[hand.table, hand.round].deal == hand.deal
        end = replay(deals[hand.deal], hand.actions, OEDMC, judge)
        outcome = Played(end, hand.actions, ()).outcome
        found[hand.table, hand.round] = (outcome.win, dict(outcome.winners), outcome.discarder)
    assert found == {key: (one["win"], one["winners"], one["discarder"]) for key, one in acted.items()}


def test_secrets_and_what_was_played_are_for_their_owner_alone(folder: Path) -> None:
    tables = [f"table-{table}.{what}" for table in range(1, 5) for what in ("password", "plays.json")]
    private = [HANDS, DEALS, SETS, "credentials.json", *tables]
    assert {name: oct(stat.S_IMODE((folder / name).stat().st_mode)) for name in private} == dict.fromkeys(
        private, "0o600"
    )


def test_somebody_declares_falsely_who_does_not_win_that_play(folder: Path) -> None:
    false = [(seat, course) for course in courses(folder).values() for seat in course["false_hu"]]
    assert 1 <= len(false) <= 2
    assert [seat for seat, course in false if seat in course["winners"]] == []


def test_a_tray_is_laid_wrongly_at_every_other_table_in_the_first_round(folder: Path) -> None:
    slips = {key for key, course in courses(folder).items() if course["slips"]}
    assert slips == {(1, 1), (3, 1)}


def test_nobody_is_as_strong_as_another() -> None:
    assert sorted(strengths(1)) == list(range(1, 17))
    assert len(set(strengths(1).values())) == 16
    assert strengths(1) == strengths(1) != strengths(2)
