"""`homologue record` checks and shows records, correct and wrong ones."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from broker.cli.main import homologue
from tests.broker.export.pmn.plays import example, examples, of
from tests.broker.export.pmn.public import EXAMPLES


def record(*said: object, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(homologue, ["record", *map(str, said)], input=given)


def test_correct_records_have_no_problems(tmp_path: Path) -> None:
    path = tmp_path / "friday.pmn"
    path.write_text(EXAMPLES, encoding="utf-8")
    done = record("check", path, "-", given=example())
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{path}:{line}: all right" for line in (1, 18, 35)] + ["-:1: all right"]


def test_a_mistake_has_file_line_and_step_and_the_next_record_is_still_checked() -> None:
    done = record("check", "-", given=example("T0r2D0r1", "T0r2D0c9") + "\n" + example())
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "-:15: step 2: tiles_missing: east has not the tiles for discard of 9m",
        "-:18: all right",
    ]


def test_each_record_has_a_line_of_json() -> None:
    done = record("check", "--json", "-", given=example("-32", "-33") + "\n" + example())
    bad, good = map(json.loads, done.stdout.splitlines())
    assert bad["error"].pop("message") != ""
    assert bad == {
        "file": "-",
        "record": 1,
        "line": 1,
        "ok": False,
        "error": {"code": "wrong_points", "line": 13, "step": None},
    }
    assert good == {"file": "-", "record": 2, "line": 18, "ok": True, "replayed": True}


def test_a_record_without_its_play_is_right_as_far_as_it_goes() -> None:
    lines = [line for line in example().splitlines() if "[Play" not in line]
    done = record("check", "-", given="\n".join([*lines, '[Play "?"]']))
    assert (done.exit_code, done.stdout) == (0, "-:1: all right, as far as it is known\n")


def test_hands_are_counted_unless_declared_values_are_accepted() -> None:
    nine = example("39/8/1.62/2/1.76/1/1.77/1/1", "0/13/1").replace("-32 36 -8 36", "-33 37 -8 36")
    assert "wrong_hand_value" in record("check", "-", given=nine).stdout
    assert record("check", "--hands", "declared", "-", given=nine).exit_code == 0


def test_a_play_of_mahjongsoft_passes_with_its_profile() -> None:
    assert record("check", "--profile", "mahjongsoft", "-", given=example()).exit_code == 0


def test_a_record_can_be_checked_with_a_chosen_profile() -> None:
    zero_sum = example("-32 36 -8 36", "-40 28 -16 28")
    assert record("check", "--profile", "zero-sum", "-", given=zero_sum).exit_code == 0
    assert "unknown_profile" in record("check", "--profile", "none", "-", given=zero_sum).stderr


def test_an_unreadable_file_is_reported_and_the_next_one_is_still_checked(tmp_path: Path) -> None:
    done = record("check", tmp_path, "-", given=example())
    assert [line.split(": ")[1] for line in done.stdout.splitlines()] == ["unreadable", "all right"]
    assert done.exit_code == 1


def test_an_empty_file_is_not_a_record() -> None:
    assert record("check", "-", given="\n \n").stdout == "-:1: bad_notation: there is no record in this file\n"


def test_show_as_pmn_can_be_read_again() -> None:
    assert of(record("show", "--pmn", "-", given=EXAMPLES).stdout) == examples()


def test_show_prints_a_play_step_by_step() -> None:
    lines = record("show", "-", given=example()).stdout.splitlines()
    assert lines[0] == "Duplicate MCR, 2022.06.25: deal 1, prevalent wind east"
    assert lines[5:7] == ["    1. east takes 6z", "    2. east discards 7z"]
    assert lines[-5:] == [
        "   91. south declares hu",
        "   92. north declares hu",
        "  south wins with 12",
        "  north wins with 12",
        "  points: east -32, south +36, west -8, north +36",
    ]


def test_show_reports_an_unreadable_record_and_continues() -> None:
    done = record("show", "-", given="hello\n\n" + example('Penalty "0', 'Penalty "-8'))
    assert (done.exit_code, done.stderr.split(": ")[1]) == (1, "bad_notation")
    assert done.stdout.endswith("  east is fined 8 IMP\n")
