"""Check-in, changes of players, stages and the final declaration by command, while no scorer runs."""

import json
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from click.testing import CliRunner

from broker.cli.main import homologue
from broker.protocol import SEATS
from broker.scorer import open_stored_event
from broker.store import STORE, SqliteJournal
from tests.broker.export.test_printed_results import text_of
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.small import NAME
from tests.broker.scorer.staged import play_rounds, staged_event, staged_plan
from tests.broker.scorer.test_riichi_sessions import PLAN as RIICHI_EVENING


def told(*arguments: str) -> list[dict[str, Any]]:
    """Run a command with --json; return its lines."""
    answer = CliRunner().invoke(homologue, ["event", *arguments, "--json"], catch_exceptions=False)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def test_a_check_in_by_name_is_stored(tmp_path: Path) -> None:
    folder = str(event_folder(tmp_path / "cup", until_round(1)))
    assert told("checkin", folder, "PLAYER 16") == [{"player": "p16", "name": "Player 16", "present": True}]
    told("checkin", folder, "p02", "--absent")
    assert {one["player"]: one["present"] for one in told("checkin", folder) if one["present"] is not None} == {
        "p16": True,
        "p02": False,
    }
    told("checkin", folder, "p02", "--undo")
    assert dict(open_stored_event(Path(folder)).state.checked_in) == {"p16": True}


def test_a_change_of_players_can_be_undone(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(1))
    before = open_stored_event(folder).event.plan.plays
    args = ["players", str(folder), "--leaves", "p07", "--enters", "Ada Lovelace", "--yes", "--reason", "late"]
    assert told(*args, "--without-standing")[0]["moved"] != 0
    now = open_stored_event(folder).event
    assert [one.name for one in now.guests] == ["Ada Lovelace"]
    assert ("Ada Lovelace" in {one.name for one in now.players.values()}, now.plan.plays == before) == (True, False)
    told("players", str(folder), "--undo", "--yes", "--reason", "is here")
    assert open_stored_event(folder).event.plan.plays == before


def test_a_full_name_finds_its_player_even_if_others_contain_it(tmp_path: Path) -> None:
    folder = str(event_folder(tmp_path / "cup", until_round(1)))
    assert [one["player"] for one in told("checkin", folder, "player 1")] == ["p01"]


def test_repeating_a_change_of_players_is_refused(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(1))
    asked = ("players", str(folder), "--yes", "--reason", "ill")
    for change in (("--leaves", "p07"), ("--replaces", "p08", "Ada Lovelace"), ("--returns", "p07")):
        told(*asked, *change)
        now = open_stored_event(folder).event
        assert told(*asked, *change)[0]["error"]["code"] == "nothing_changes"
        again = open_stored_event(folder).event
        assert (again.version, [*again.players]) == (now.version, [*now.players])


def test_a_refusal_is_one_sentence(tmp_path: Path) -> None:
    folder = str(event_folder(tmp_path / "cup", until_round(1)))
    answer = CliRunner().invoke(homologue, ["event", "final", folder, "--reason", "over"])
    assert answer.stderr.splitlines()[-1] == ("homologue: something is still open: the list says what [still_open]")
    for words in (["final", folder, "--reason", " "], ["players", folder, "--enters", "", "--reason", "late"]):
        assert CliRunner().invoke(homologue, ["event", *words]).exit_code == 2


def test_check_in_is_refused_before_the_scorer_was_first_started(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(1))
    for path in folder.glob("scorer.sqlite*"):
        path.unlink()
    answer = told("checkin", str(folder), "p01")
    assert answer[0]["error"]["code"] == "event_not_started"


def test_the_next_stage_is_seated_and_the_results_declared_final_when_nothing_is_open(tmp_path: Path) -> None:
    said: dict[int, int] = {}
    messages = play_rounds(staged_event(), [1, 2], Random(2), said)
    folder = event_folder(tmp_path / "cup", messages, staged_plan())
    early = CliRunner().invoke(homologue, ["event", "final", str(folder), "--reason", "over"])
    assert ("open: stage: Final" in early.stderr, early.exit_code) == (True, 1)
    answer = told("stage", str(folder), "--yes", "--reason", "over")[0]
    ranks = {one["name"]: one["rank"] for one in answer["going_on"]}
    planned = open_stored_event(folder).event
    assert {planned.bookings[1, 3].players[seat]: at for at, seat in enumerate(SEATS, 1)}.items() <= ranks.items()
    told("stage", str(folder), "--undo", "--yes", "--reason", "a mistake")
    assert not open_stored_event(folder).event.is_seated(1)
    told("stage", str(folder), "--yes", "--reason", "over")
    more = play_rounds(open_stored_event(folder).event, [3, 4], Random(3), said)
    with closing(SqliteJournal(folder / STORE, NAME)) as journal, journal.commit():
        for one in more:
            journal.append(one, 0)
    assert told("final", str(folder), "--reason", "all is settled")[0]["final"] is True
    assert told("final", str(folder), "--reason", "again")[0]["error"]["code"] == "declared_final"
    pages = CliRunner().invoke(homologue, ["export", "certificates", str(folder), "--language", "fr"])
    winner = next(row for row in open_stored_event(folder).state.snapshot().standings if row.place == 1)
    texts = text_of(pages.stdout_bytes)
    assert (len(texts), winner.name in texts[0], "Diplôme" in texts[0]) == (16, True, True)
    assert told("final", str(folder), "--undo", "--reason", "a mistake")[0]["final"] is False


def test_unplayed_riichi_sessions_keep_results_from_being_final(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", [], RIICHI_EVENING)
    early = CliRunner().invoke(homologue, ["event", "final", str(folder), "--reason", "over"])
    assert ("open: sessions: table 9, round 1\n" in early.stderr, early.exit_code) == (True, 1)
