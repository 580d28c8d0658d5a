"""`homologue rules profile` lists, shows and checks profiles; other commands use them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.rules import load_mcr, mcr_folder, profile_settings, profiles, shipped_mcr
from broker.rules.profiles import riichi_profile_text
from tests.broker.cli.asking import ask
from tests.refusals import codes


def run(*arguments: str) -> Result:
    return CliRunner().invoke(homologue, ["rules", "profile", *arguments])


def club(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = (mcr_folder() / "mcr.toml").read_text(encoding="utf-8").replace('id = "mcr"', 'id = "our-club"')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "club.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_shipped_profiles_are_listed() -> None:
    assert [line.split()[0] for line in run("list").output.splitlines()] == [*shipped_mcr(), *profiles.shipped_riichi()]


def test_a_riichi_profile_is_shown_with_its_sources_or_as_its_file() -> None:
    assert (
        "fu.double_wind_pair = 4\n    MONTREAL: 4 fu for a pair of the double wind\n"
        in run("show", "riichi-montreal").output
    )
    assert run("show", "riichi-montreal", "--toml").output == profiles.riichi_profile_text("riichi-montreal")


@pytest.mark.parametrize("profile_id", shipped_mcr())
def test_every_setting_is_shown_with_its_source(profile_id: str) -> None:
    lines = run("show", profile_id).output.splitlines()[2:]
    said = [(lines[at].split(" = ")[0], lines[at + 1].strip()) for at in range(0, len(lines), 2)]
    assert said == [(name, stated.source) for name, stated in profile_settings(load_mcr(profile_id))]


@pytest.mark.parametrize("profile_id", shipped_mcr())
def test_a_profile_can_be_shown_as_its_file(profile_id: str) -> None:
    assert run("show", profile_id, "--toml").output == (mcr_folder() / f"{profile_id}.toml").read_text(encoding="utf-8")


def test_showing_an_unknown_profile_is_an_error() -> None:
    found = run("show", "none")
    assert (found.exit_code, codes(found.stderr)) == (1, ["unknown_profile"])


def test_a_correct_profile_has_no_problems(tmp_path: Path) -> None:
    found = run("check", str(club(tmp_path)))
    assert (found.exit_code, found.output) == (0, "club.toml: all right\n")


FINE = "a whole number from 1 to 99"
WINDOW = "a whole number from 0 to 60000"
OF_IMP = "gap, method, scale"


def test_every_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    path = club(
        tmp_path,
        ("[imp.gap]", "[imp.gaps]"),
        ("value = 3000", "value = -1"),
        ("[4, 8]", "[4, 0]"),
        ("version = 1\n", ""),
    )
    text = path.read_text(encoding="utf-8").splitlines()
    found = run("check", str(path))
    assert found.exit_code == 1
    assert found.output.splitlines() == [
        "club.toml: version: is missing; allowed: a whole number of at least 1",
        f"club.toml: line {text.index('value = -1') + 1}: claim_window_ms.value: found -1; allowed: {WINDOW}",
        f"club.toml: line {text.index('value = [4, 0]') + 1}: false_hu.fines.value[1]: found 0; allowed: {FINE}",
        f"club.toml: line {text.index('[imp.gaps]') + 1}: imp.gaps: is no setting; 'gap' is meant?; allowed: {OF_IMP}",
        'club.toml: imp.gap: is missing; allowed: a table with `value` ("floor" or "midpoint") and `source`',
    ]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (("[4, 8]", "[8, 4, 4]"), "false_hu.fines"),
        (("value = []", 'value = ["points", "points"]'), "ties.chain"),
        (('[imp.method]\nvalue = "datum"', '[imp.method]\nvalue = "cross"'), "datum.own_score"),
        (("[2, 5,", "[5, 2,"), "imp.scale"),
        (('id = "our-club"', 'id = "oedmc-2020"'), "id"),
        (("[payments.base]\nvalue = 8", "[payments.base]"), "payments.base.value"),
        (("[payments.base]", "[payments.base.deeper]"), "payments.base.deeper"),
    ],
)
def test_contradictory_settings_are_reported(tmp_path: Path, change: tuple[str, str], where: str) -> None:
    found = run("check", str(club(tmp_path, change)), "--json")
    said = json.loads(found.output)
    assert (found.exit_code, said["ok"], said["problems"][0]["where"]) == (1, False, where)


def test_failed_examples_are_reported(tmp_path: Path) -> None:
    examples = tmp_path / "examples.toml"
    examples.write_text('[[imps]]\nsource = "ours"\npoints = 9\ndatum = "0"\nimp = 4\n', encoding="utf-8")
    found = run("check", str(club(tmp_path)), "--examples", str(examples))
    assert found.output == "club.toml: ours: should be 4 IMP, is 3\n"
    examples.write_text("?", encoding="utf-8")
    assert "bad_examples" in run("check", str(club(tmp_path)), "--examples", str(examples)).output


@pytest.mark.parametrize(
    "written", [b"", b"\xff\xfe", b"x" * 30_000, b"[[["], ids=["empty", "no UTF-8", "huge", "no TOML"]
)
def test_a_file_with_rubbish_is_reported(tmp_path: Path, written: bytes) -> None:
    path = tmp_path / "rubbish.toml"
    path.write_bytes(written)
    found = run("check", str(path))
    assert (found.exit_code, found.exception.__class__) == (1, SystemExit)
    assert found.output.startswith("rubbish.toml: ")


def test_a_setting_without_a_value_is_reported_with_its_line(tmp_path: Path) -> None:
    path = club(tmp_path, ("[imp.gap]\nvalue = ", "[imp.gap]\nvalues = "))
    line = path.read_text(encoding="utf-8").splitlines().index("[imp.gap]") + 1
    assert run("check", str(path)).output.splitlines() == [
        f"club.toml: line {line + 1}: imp.gap.values: is no setting; 'value' is meant?; allowed: source, value",
        f'club.toml: line {line}: imp.gap.value: is missing; allowed: "floor" or "midpoint"',
    ]


RON: dict[str, Any] = {"type": "ron", "winner": 1, "loser": 2, "han": 4, "fu": 30}


@pytest.fixture
def ours(tmp_path: Path) -> str:
    """Return a file with Montréal's rules under another id, with kiriage mangan."""
    text = riichi_profile_text("riichi-montreal").replace('"riichi-montreal"', '"our-riichi"', 1)
    path = tmp_path / "ours.toml"
    path.write_text(text.replace("[points.kiriage]\nvalue = false", "[points.kiriage]\nvalue = true"), encoding="utf-8")
    return str(path)


def test_a_session_uses_an_own_profile_unless_a_line_names_another(ours: str) -> None:
    lines = [{"event": RON}, {"event": RON, "rules": "our-riichi"}, {"event": RON, "rules": "montreal"}]
    assert [told["deltas"][1] for told in ask("session", *lines, options=("--rules", ours))] == [8000, 8000, 7700]


def test_a_hand_is_scored_and_valued_by_an_own_profile(ours: str) -> None:
    alone, value = {"event": RON, "alone": True}, {"han": 4, "fu": 30, "dealer": False}
    assert ask("session", alone, options=("--rules", ours))[0]["points"]["south"] == 80
    assert ask("riichi", value, options=("--rules", ours))[0]["payments"]["discarder_pays"] == 8000


def test_a_hand_is_refereed_by_an_own_profile(ours: str) -> None:
    question = {"rules": "our-riichi", "start": {"dealer": "east"}, "steps": [{"do": "draw", "seat": "east"}]}
    assert ask("referee", question, options=("--rules", ours))[0]["steps"][0]["legal"] is True
    assert ask("referee", question)[0]["error"]["code"] == "unknown_profile"


def test_imps_are_computed_by_an_own_profile(ours: str) -> None:
    assert ask("imp", {"difference": "80"}, options=("--profile", ours)) == [{"imp": 13}]


def test_a_sheet_is_computed_by_an_own_profile(ours: str) -> None:
    line = '{"event": {"type": "ron", "winner": 1, "loser": 2, "han": 4, "fu": 30}}\n'
    told = CliRunner().invoke(homologue, ["rules", "sheet", "--rules", ours], input=line, catch_exceptions=False)
    assert (told.exit_code, "8000" in told.output) == (0, True)


def test_an_own_riichi_profile_is_checked(ours: str) -> None:
    said = CliRunner().invoke(homologue, ["rules", "profile", "check", ours], catch_exceptions=False)
    assert (said.exit_code, said.output) == (0, "ours.toml: all right\n")
    path = Path(ours)
    path.write_text(path.read_text(encoding="utf-8").replace("kiriage", "kirige"), encoding="utf-8")
    said = CliRunner().invoke(homologue, ["rules", "profile", "check", ours], catch_exceptions=False)
    assert (said.exit_code, "'kiriage' is meant?" in said.output) == (1, True)


@pytest.mark.parametrize(
    "text",
    [
        riichi_profile_text("riichi-montreal").replace("value = 25000", "value = 30000", 1),
        "[hand]",
        "not TOML",
        'id = "x"',
        "[" * 5000,
    ],
    ids=["a shipped id", "a part", "no TOML", "of no rule book", "deep"],
)
def test_a_file_that_is_not_a_riichi_profile_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    assert ask("session", {"event": RON}, options=("--rules", str(path)))[0]["error"]["code"] == "bad_profile"
