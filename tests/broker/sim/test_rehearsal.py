"""An organiser's event is rehearsed in a copy with a marked title, and the original is not changed."""

import random
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.event import Plan, read_plan, save_event
from broker.event.structure import Structure, structured_plan
from broker.protocol import Player
from broker.rules import Outcome, check_outcome, load_mcr
from broker.sim.demo_event import new_deals
from broker.sim.rehearsal import draw_play, rehearsed_plan
from broker.store import STORE


def event_of(folder: Path, structure: Structure, profile: str = "oedmc-2020") -> Plan:
    """Write a complete event of 16 players."""
    listed = tuple(Player(id=f"p{number:02}", name=f"Player {number}") for number in range(1, 17))
    plan = structured_plan(Plan("cup", "Club cup", profile, listed), structure, random.Random(1), lambda: lambda: False)
    deals, sets = new_deals(sorted({play.deal for play in plan.plays}))
    save_event(folder, plan, deals, sets)
    return plan


def fingerprints(folder: Path) -> dict[str, str]:
    """Return the hash of each file in a folder."""
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def refused(*arguments: object) -> str:
    ended = CliRunner().invoke(homologue, ["rehearse", *map(str, arguments)])
    assert ended.exit_code == 1
    return ended.output


def test_all_stages_are_rehearsed_under_a_marked_title(tmp_path: Path) -> None:
    plan = event_of(tmp_path / "cup", Structure(4, 1, 8, 2, "1/2"))
    before = fingerprints(tmp_path)
    found = rehearsed_plan(tmp_path / "cup")
    assert (found.title, found.players, found.profile) == ("REHEARSAL · Club cup", plan.players, plan.profile)
    assert (found.plays, found.stages) == (plan.plays, plan.stages)
    assert fingerprints(tmp_path) == before


def test_a_started_event_is_rehearsed_only_in_a_named_copy_elsewhere(tmp_path: Path) -> None:
    event_of(tmp_path / "cup", Structure(4))
    assert "copy_inside" in refused(tmp_path / "cup", "--copy", tmp_path / "cup" / "copy")
    (tmp_path / "cup" / STORE).touch()
    before = fingerprints(tmp_path)
    assert "event_started" in refused(tmp_path / "cup")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "event.toml").write_text("an organiser's work", encoding="utf-8")
    assert "demo_folder_taken" in refused(tmp_path / "cup", "--copy", tmp_path / "copy")
    (tmp_path / "copy" / "event.toml").unlink()
    assert fingerprints(tmp_path) == before


def test_a_riichi_event_is_not_rehearsed(tmp_path: Path) -> None:
    event_of(tmp_path / "riichi", Structure(4), "riichi-basic")
    assert "rehearsal_riichi" in refused(tmp_path / "riichi", "--copy", tmp_path / "copy")


@pytest.mark.parametrize("profile", ["oedmc-2020", "mcr", "mahjongsoft"])
def test_every_drawn_play_is_possible_under_the_rules(tmp_path: Path, profile: str) -> None:
    rules, rng = load_mcr(profile), random.Random(1)
    plan = event_of(tmp_path / "cup", Structure(4), profile)
    drawn = [draw_play(play, rules, rng, faults=True) for play in plan.plays * 20]
    for one in drawn:
        check_outcome(Outcome(one.win, one.winners, one.discarder), rules.payments)
        assert not {*one.false_hu} & {*one.winners}
    assert {one.win for one in drawn} == {"draw", "discard", "self_drawn"}
    assert (any(one.slips for one in drawn), any(one.false_hu for one in drawn)) == (True, True)
    calm = [draw_play(play, rules, rng, faults=False) for play in plan.plays * 20]
    assert [one for one in calm if one.slips or one.false_hu] == []


def test_the_title_is_shortened_to_fit(tmp_path: Path) -> None:
    event_of(tmp_path / "cup", Structure(4))
    path = tmp_path / "cup" / "event.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("Club cup", "C" * 100), encoding="utf-8")
    assert rehearsed_plan(tmp_path / "cup").title == f"REHEARSAL · {'C' * 88}"
    assert read_plan(tmp_path / "cup").title == "C" * 100
