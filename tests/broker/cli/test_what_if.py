"""`homologue rules what-if` gives the same result as the desk's page and writes nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.rules import load_mcr
from broker.rules import mcr_folder as profiles
from broker.rules.profiles import riichi_folder as riichi_profiles
from broker.rulings.preview import changed_rules, what_if
from broker.scorer import open_stored_event
from tests.broker.event.deals.asking import contents
from tests.broker.scorer.folders import event_folder, until_round
from tests.refusals import codes


def asked(*said: object) -> Result:
    return CliRunner().invoke(homologue, ["what-if", *map(str, said)])


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return event_folder(tmp_path_factory.mktemp("over"))


def test_what_if_gives_the_same_result_as_the_page_and_changes_no_file(event: Path) -> None:
    before = contents(event)
    told = json.loads(asked(event, "--profile", "mcr", "--method", "cross", "--json").stdout)
    stored = open_stored_event(event)
    found = what_if(stored.state.fork(), changed_rules(load_mcr("mcr"), {"method": "cross"}))
    assert told["of"] == 16
    assert (told["profile"], told["changed"], told["teams"]) == ("mcr", {"method": "cross"}, [])
    assert [(one["player"], one["place_after"], one["imp_after"], one["by"]) for one in told["players"]] == [
        (one.name, one.place_after, one.imp_after, one.by) for one in found.players
    ]
    assert contents(event) == before


def test_under_the_events_rules_nobody_moves_and_a_profile_may_be_a_file(event: Path) -> None:
    same = asked(event).stdout.splitlines()
    assert same == ["A small cup: oedmc-2020 now, counted by oedmc-2020", "Players who would move: 0 of 16"]
    by_id, by_file = (asked(event, "--profile", one) for one in ("mcr", profiles() / "mcr.toml"))
    assert by_id.stdout == by_file.stdout
    assert (by_id.exit_code, "Players who would move: 15 of 16" in by_id.stdout) == (0, True)


def test_what_if_says_that_results_are_provisional(tmp_path: Path) -> None:
    assert asked(event_folder(tmp_path, until_round(2))).stderr == "provisional: 8 of 16 plays have their result\n"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (lambda event: (event, "--profile", "nothing"), "unknown_profile"),
        (lambda event: (event, "--profile", "nothing.toml"), "bad_profile"),
        (lambda event: (event, "--profile", "riichi-tenhou"), "unknown_profile"),
        (lambda event: (event, "--profile", riichi_profiles() / "riichi-tenhou.toml"), "other_rule_book"),
        (lambda event: (event / "elsewhere",), "file_missing"),
    ],
)
def test_an_unknown_profile_or_event_is_refused(
    event: Path, said: Callable[[Path], tuple[object, ...]], code: str
) -> None:
    result = asked(*said(event))
    assert (result.exit_code, *codes(result.stderr)) == (1, code)
