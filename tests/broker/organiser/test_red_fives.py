"""Deals and sets with a red five of each suit: made, listed, checked, and told to no event that does not know them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.contract.words import SEATS
from broker.rules.tiles import RED_SET, has_red
from broker.scorer.errors import BadEvent
from broker.scorer.event import open_event, save
from broker.scorer.folder import read_deals, read_registry
from tests.broker.organiser.asking import ask, done
from tests.broker.scorer.small import plan


def made(folder: Path, profile: str) -> Path:
    """Make an event of the small plan whose deals and sets have red fives."""
    done("new", folder, "--event", "cup", "--deals", 4, "--red-fives")
    save(folder, replace(plan(), profile=profile), read_deals(folder), read_registry(folder))
    return folder


def test_deals_and_sets_have_one_of_each_suit_and_an_event_by_rules_of_riichi_takes_them(tmp_path: Path) -> None:
    event = open_event(made(tmp_path / "cup", "riichi-tenhou"))
    faces = [face for seat in SEATS for face in read_deals(tmp_path / "cup")[0].faces[seat]]
    assert sorted(faces) == sorted(RED_SET)
    assert sorted(event.faces(1).values()) == sorted(RED_SET)


def test_an_event_of_the_other_rule_book_refuses_them(tmp_path: Path) -> None:
    with pytest.raises(BadEvent, match="red fives, which oedmc-2020 does not know"):
        open_event(made(tmp_path / "cup", "oedmc-2020"))


def test_a_set_of_ones_own_may_have_them_all_or_none(tmp_path: Path) -> None:
    done("set", "new", tmp_path / "cup", "--set", 1, "--red-fives")
    registry = read_registry(tmp_path / "cup")[1]
    lines = [f"{serial},{face}" for serial, face in registry.items()]
    listed, spoilt = tmp_path / "whole.csv", tmp_path / "spoilt.csv"
    listed.write_text("\n".join(["serial,face", *lines]), encoding="utf-8")
    spoilt.write_text("\n".join(["serial,face", *lines]).replace("0m", "5m"), encoding="utf-8")
    done("set", "import", listed, tmp_path / "other", "--set", 6)
    assert has_red(read_registry(tmp_path / "other")[6].values())
    refused = ask("set", "import", spoilt, tmp_path / "third", "--set", 6)
    assert (refused.exit_code, "red fives: one of each of 0m, 0p, 0s, or none" in refused.output) == (1, True)
