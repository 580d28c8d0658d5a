"""The forecast for a number of rounds equals that of the movement made for it."""

from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from broker.cli.main import homologue
from broker.cli.movement import movement_new as movement_command
from broker.event import Plan, read_plan
from broker.event.movement import make_movement, name_players, summary, usual_order
from broker.event.movement.files import scheduled_plays
from broker.event.readiness import start_notes, start_problems
from broker.protocol import Player

HEAD = ["--name", "cup-2026", "--title", "Club cup", "--profile", "oedmc-2020"]


def planned(players: int, rounds: int) -> Plan:
    """Return a plan with a movement made without a search."""
    names = [f"p{number:02}" for number in range(1, players + 1)]
    found = name_players(make_movement(usual_order(players, None, rounds, None, None), Random(0), lambda: False), names)
    listed = tuple(Player(id=name, name="-") for name in names)
    return Plan(name="cup", title="Cup", profile="oedmc-2020", players=listed, plays=scheduled_plays(found))


@pytest.mark.parametrize("players", [4, 8, 16, 20, 24])
@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 7])
def test_the_forecast_of_an_order_equals_that_of_its_movement(players: int, rounds: int) -> None:
    said = summary.forecast_order(usual_order(players, None, rounds, None, None))
    assert summary.forecast_plan(planned(players, rounds)) == said


def new(folder: Path, *words: str, said: str = "") -> Result:
    lines = "".join(f"Player {number}\n" for number in range(1, 17))
    listed = folder / "list.csv"
    listed.write_text(f"name\n{lines}", encoding="utf-8")
    line = ["event", "new", str(folder / "cup"), *HEAD, "--players", str(listed), *words]
    return CliRunner().invoke(homologue, line, input=said)


def test_an_event_that_compares_nobody_is_refused_before_anything_is_saved(tmp_path: Path) -> None:
    result = new(tmp_path, "--rounds", "1")
    assert (result.exit_code, "nobody_compared" in result.stderr) == (1, True)
    assert "1 round: plays for everybody: 1, deals: 4, tables that play each: 1 of 4, about 0:25 h" in result.output
    assert (tmp_path / "cup").exists() is False


def test_an_event_that_compares_nobody_is_ready_only_if_that_is_confirmed(tmp_path: Path) -> None:
    result = new(tmp_path, "--rounds", "1", "--uncompared")
    assert result.exit_code == 0, result.output
    assert read_plan(tmp_path / "cup").uncompared is True
    text = (tmp_path / "cup" / "event.toml").read_text(encoding="utf-8")
    (tmp_path / "cup" / "event.toml").write_text(text.replace("uncompared = true", ""), encoding="utf-8")
    assert [code for code, _ in start_problems(tmp_path / "cup")] == ["nobody_compared"]


def test_the_prompt_for_rounds_shows_the_forecast_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (seconds,) = (option for option in movement_command.params if option.name == "seconds")
    monkeypatch.setattr(seconds, "default", 0.1)  # any movement will do
    result = new(tmp_path, said="5\nn\n8\ny\n")
    assert result.exit_code == 0, result.output
    assert "5 rounds: plays for everybody: 20, deals: 20, tables that play each: 4 of 4, about 8:20 h" in result.output
    assert "8 rounds: plays for everybody: 8, deals: 8, tables that play each: 4 of 4, about 3:20 h" in result.output
    assert len(read_plan(tmp_path / "cup").plays) == 32  # eight plays at each of four tables


def test_a_plan_in_which_no_deal_ends_before_the_last_round_is_noted() -> None:
    late = ("standings_late", "no deal is over before round 4")
    assert (start_notes(planned(16, 4)), start_notes(planned(16, 8))) == ([late], [])


def test_deals_that_few_tables_play_are_noted() -> None:
    plan = planned(16, 2)
    assert start_notes(plan) == [("deal_at_few_tables", "compared at 2 of 4 tables: deals 1-4")]
    dropped = next(play for play in plan.plays if play.deal == 2)
    plan = replace(plan, plays=tuple(play for play in plan.plays if play is not dropped))
    assert start_notes(plan) == [
        ("deal_not_compared", "played at one table only, nobody is compared: deals 2"),
        ("deal_at_few_tables", "compared at 2 of 4 tables: deals 1 3-4"),
    ]
