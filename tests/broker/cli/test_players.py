"""Who is here and who plays, by command, while no scorer runs."""

import json
from pathlib import Path

from click.testing import CliRunner

from broker.cli.main import homologue
from broker.scorer.stored_event import open_stored_event
from tests.broker.scorer.folders import event_folder, until_round


def told(*arguments: str) -> list[dict[str, object]]:
    """Run a command; return what it says to programs."""
    answer = CliRunner().invoke(homologue, ["event", *arguments, "--json"], catch_exceptions=False)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def test_a_player_is_checked_in_by_name_and_it_is_there_the_next_time(tmp_path: Path) -> None:
    folder = str(event_folder(tmp_path / "cup", until_round(1)))
    assert told("checkin", folder, "PLAYER 16") == [{"player": "p16", "name": "Player 16", "present": True}]
    told("checkin", folder, "p02", "--absent")
    assert {one["player"]: one["present"] for one in told("checkin", folder) if one["present"] is not None} == {
        "p16": True,
        "p02": False,
    }
    told("checkin", folder, "p02", "--undo")
    assert dict(open_stored_event(Path(folder)).room.checked_in) == {"p16": True}


def test_who_plays_is_changed_and_changed_back(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(1))
    before = open_stored_event(folder).event.plan.plays
    args = ["players", str(folder), "--leaves", "p07", "--enters", "Ada Lovelace", "--yes", "--reason", "late"]
    assert told(*args)[0]["moved"] != 0
    now = open_stored_event(folder).event
    assert ("Ada Lovelace" in {one.name for one in now.players.values()}, now.plan.plays == before) == (True, False)
    told("players", str(folder), "--undo", "--yes", "--reason", "is here")
    assert open_stored_event(folder).event.plan.plays == before


def test_before_a_scorer_was_started_the_list_of_players_is_changed_instead(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(1))
    for path in folder.glob("scorer.sqlite*"):
        path.unlink()
    answer = told("checkin", str(folder), "p01")
    assert answer[0]["error"]["code"] == "event_not_started"  # type: ignore[index] # JSON
