"""A riichi profile of one's own is a file, wherever riichi rules are chosen."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from broker.calculators.profile import profile
from broker.records.session.command import session_sheet
from broker.rules.riichi.profile_files import text_of
from tests.broker.calculators.asking import ask

RON: dict[str, Any] = {"type": "ron", "winner": 1, "loser": 2, "han": 4, "fu": 30}


@pytest.fixture
def ours(tmp_path: Path) -> str:
    """Give a file: Montréal's rules under another id, with kiriage."""
    text = text_of("riichi-montreal").replace('"riichi-montreal"', '"our-riichi"', 1)
    path = tmp_path / "ours.toml"
    path.write_text(text.replace("[points.kiriage]\nvalue = false", "[points.kiriage]\nvalue = true"), encoding="utf-8")
    return str(path)


def test_a_session_is_settled_by_it_and_a_line_may_name_it_or_another(ours: str) -> None:
    lines = [{"event": RON}, {"event": RON, "rules": "our-riichi"}, {"event": RON, "rules": "montreal"}]
    assert [told["deltas"][1] for told in ask("session", *lines, options=("--rules", ours))] == [8000, 8000, 7700]


def test_a_hand_is_scored_alone_and_a_hand_is_counted_by_it(ours: str) -> None:
    alone, value = {"event": RON, "alone": True}, {"han": 4, "fu": 30, "dealer": False}
    assert ask("session", alone, options=("--rules", ours))[0]["points"]["south"] == 80
    assert ask("riichi", value, options=("--rules", ours))[0]["payments"]["discarder_pays"] == 8000


def test_a_hand_is_refereed_by_it(ours: str) -> None:
    question = {"rules": "our-riichi", "start": {"dealer": "east"}, "steps": [{"do": "draw", "seat": "east"}]}
    assert ask("referee", question, options=("--rules", ours))[0]["steps"][0]["legal"] is True
    assert ask("referee", question)[0]["error"]["code"] == "unknown_profile"


def test_plays_are_compared_and_imps_are_found_by_it(ours: str) -> None:
    assert ask("imp", {"difference": "80"}, options=("--profile", ours)) == [{"imp": 13}]


def test_a_sheet_is_written_by_it(ours: str) -> None:
    line = '{"event": {"type": "ron", "winner": 1, "loser": 2, "han": 4, "fu": 30}}\n'
    told = CliRunner().invoke(session_sheet, ["--rules", ours], input=line, catch_exceptions=False)
    assert (told.exit_code, "8000" in told.output) == (0, True)


def test_it_is_checked_and_shown_and_every_mistake_in_it_is_named(ours: str) -> None:
    said = CliRunner().invoke(profile, ["check", ours], catch_exceptions=False)
    assert (said.exit_code, said.output) == (0, "ours.toml: all right\n")
    path = Path(ours)
    path.write_text(path.read_text(encoding="utf-8").replace("kiriage", "kirige"), encoding="utf-8")
    said = CliRunner().invoke(profile, ["check", ours], catch_exceptions=False)
    assert (said.exit_code, "'kiriage' is meant?" in said.output) == (1, True)


@pytest.mark.parametrize(
    "text",
    [
        text_of("riichi-montreal").replace("value = 25000", "value = 30000", 1),
        "[hand]",
        "not TOML",
        'id = "x"',
        "[" * 5000,
    ],
    ids=["a shipped id", "a part", "no TOML", "of no rule book", "deep"],
)
def test_what_is_no_riichi_profile_is_refused_by_code(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    assert ask("session", {"event": RON}, options=("--rules", str(path)))[0]["error"]["code"] == "bad_profile"
