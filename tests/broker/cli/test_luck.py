"""`homologue event luck` reports the same as the page, from deals that all tables have played."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.scorer import open_part, open_stored_event
from broker.scoring import event_strength
from tests.broker.scorer.folders import event_folder, until_round
from tests.refusals import codes


def asked(*said: object) -> Result:
    return CliRunner().invoke(homologue, ["event", "luck", *map(str, said)])


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return event_folder(tmp_path_factory.mktemp("over") / "cup")


def test_luck_lists_players_in_the_order_of_the_standings(event: Path) -> None:
    told = json.loads(asked(event, "--json").stdout)
    snapshot = open_stored_event(event).state.snapshot()
    found = event_strength(open_part(snapshot).ledger)
    assert found is not None
    listed = [line.player for line in snapshot.standings]
    assert [one["player"] for one in told["players"]] == listed
    assert [one["stronger"] for one in told["players"]] == found.ahead(listed)
    assert told["reliability"] == found.reliability._asdict()
    assert [*told["plays_for"]] == ["50", "80"]


def test_all_players_can_be_compared_with_a_chosen_one(event: Path) -> None:
    told = json.loads(asked(event, "--than", "Player 7", "--json").stdout)
    assert [one["player"] for one in told["players"] if one["stronger"] is None] == ["p07"]
    assert codes(asked(event, "--than", "Nemo").stderr) == ["nobody_of_event"]


def test_the_form_for_people_has_a_line_for_each_player(event: Path) -> None:
    lines = asked(event).stdout.splitlines()
    assert lines[0] == "15 plays of 4 deals, 3.8 each"
    assert [line for line in lines if "Player 7" in line]
    assert len(lines) == 10 + 16


def test_luck_is_refused_until_deals_are_played_at_all_tables(tmp_path: Path) -> None:
    result = asked(event_folder(tmp_path / "cup", until_round(3)))
    assert (result.exit_code, codes(result.stderr)) == (1, ["too_few_plays"])
