"""`homologue event rating` rates the players of several linked events, with the uncertainty due to luck."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from broker.cli.main import homologue
from broker.i18n import languages
from broker.scorer import open_part, open_stored_event
from broker.scoring import event_strength
from broker.web.i18n import translators
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import plan
from tests.refusals import codes


def asked(*said: object) -> Result:
    return CliRunner().invoke(homologue, ["event", "rating", *map(str, said)])


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return event_folder(tmp_path_factory.mktemp("autumn") / "cup")


def test_the_rating_of_one_event_is_that_of_luck_and_strength(event: Path) -> None:
    told = json.loads(asked(event, "--json").stdout)
    found = event_strength(open_part(open_stored_event(event).state.snapshot()).ledger)
    assert found is not None
    names = {player.id: player.name for player in plan().players}
    assert {one["name"]: one["strength"] for one in told["players"]} == {
        names[player]: strength._asdict() for player, strength in found.strengths.items()
    }
    assert sum(one["plays"] for one in told["players"]) == 4 * told["plays"]
    estimates = [one["strength"]["estimate"] for one in told["players"]]
    assert estimates == sorted(estimates, reverse=True)


def test_an_exported_event_is_rated_like_its_folder(event: Path, tmp_path: Path) -> None:
    document = tmp_path / "event.json"
    made = CliRunner().invoke(homologue, ["export", "json", str(event), "--whole", "--output", str(document)])
    assert made.exit_code == 0, made.output
    assert asked(document, "--json").stdout == asked(event, "--json").stdout


def test_the_form_for_people_has_a_line_for_each_player(event: Path) -> None:
    lines = asked(event).stdout.splitlines()
    assert lines[0] == "1 event, 15 plays of 4 deals"
    assert len(lines) == 3 + 16


@pytest.mark.parametrize("language", languages())
def test_the_page_for_clubs_has_an_interval_for_every_player(event: Path, tmp_path: Path, language: str) -> None:
    page = tmp_path / "rating.html"
    assert asked(event, "--page", page, "--language", language).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert text.count('class="interval"') == len(plan().players)
    assert str(translators()[language]("Rating over events")) in text
    assert [one for one in ("<script", "<link", "http:", "https:") if one in text] == []
    assert codes(asked(event, "--page", page).stderr) == ["export_exists"]


def test_an_event_named_twice_is_refused(event: Path) -> None:
    assert codes(asked(event, event).stderr) == ["event_twice"]


def test_an_event_with_two_players_of_the_same_name_is_refused(tmp_path: Path) -> None:
    players = plan().players
    for number, (one, other) in enumerate([("player  7", "Player 7"), ("Jos\u00e9", "Jose\u0301")]):
        named = (replace(players[0], name=one), replace(players[1], name=other), *players[2:])
        folder = event_folder(tmp_path / f"cup-{number}", of=replace(plan(), players=named))
        assert codes(asked(folder).stderr) == ["same_name"]


def test_an_event_without_plays_is_refused(tmp_path: Path) -> None:
    assert codes(asked(event_folder(tmp_path / "cup", ())).stderr) == ["too_few_plays"]
