"""The registry of tile sets: 136 serials, four of each face, secret. Mistakes are reported with their line or set."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from broker.event import read_registry
from broker.rules import FULL_SET
from tests.broker.event.deals.asking import Rows, ask, codes, contents, csv_file, done, put, refused, set_rows, sets_of


def test_a_new_set_is_complete_secret_and_unique(tmp_path: Path) -> None:
    done("set", "new", tmp_path / "cup", "--set", "1-3,7")
    registry = sets_of(tmp_path / "cup")
    assert {number: sorted(faces.values()) for number, faces in registry.items()} == {
        number: sorted(FULL_SET) for number in (1, 2, 3, 7)
    }
    assert {tuple(faces) for faces in registry.values()} == {tuple(range(1, 137))}
    assert len({tuple(faces.values()) for faces in registry.values()}) == 4
    assert stat.S_IMODE((tmp_path / "cup" / "sets.json").stat().st_mode) == 0o600


def test_an_existing_set_is_not_changed(tmp_path: Path) -> None:
    done("set", "new", tmp_path, "--set", "2")
    before = contents(tmp_path)
    assert refused("set", "new", tmp_path, "--set", "1-2") == [
        "set_exists: sets.json already has set 2; it was not changed"
    ]
    assert contents(tmp_path) == before


def test_a_new_set_does_not_change_the_others(tmp_path: Path) -> None:
    done("set", "new", tmp_path, "--set", "2")
    before = read_registry(tmp_path)
    done("set", "new", tmp_path, "--set", "1")
    after = read_registry(tmp_path)
    assert (sorted(after), after[2]) == ([1, 2], before[2])


def test_importing_a_set_twice_changes_nothing(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "tiles.csv", set_rows())
    for _ in range(2):
        done("set", "import", path, tmp_path / "cup", "--set", 6)
    assert read_registry(tmp_path / "cup") == {6: {int(serial): face for serial, face in set_rows()[1:]}}
    other = csv_file(tmp_path / "other.csv", set_rows(2))
    assert codes("set", "import", other, tmp_path / "cup", "--set", 6) == ["set_exists"]


def test_a_list_may_contain_several_sets(tmp_path: Path) -> None:
    rows = [["set", "serial", "face"], *([str(n), *row] for n in (4, 5) for row in set_rows(n)[1:])]
    done("set", "import", csv_file(tmp_path / "tiles.csv", rows, ";"), tmp_path / "cup")
    assert sorted(read_registry(tmp_path / "cup")) == [4, 5]


def take(tmp_path: Path, rows: Rows, *options: object) -> list[str]:
    """Import a list that must be refused, writing nothing; return the errors."""
    path = csv_file(tmp_path / "tiles.csv", rows)
    said = refused("set", "import", path, tmp_path / "cup", *(options or ("--set", 1)))
    assert contents(tmp_path / "cup") == {}
    return said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put(9, 0, "137"), "number_wrong: line 9: serial is '137'; it must be a number from 1 to 136"),
        (put(9, 0, "x"), "number_wrong: line 9: serial is 'x'; it must be a number from 1 to 136"),
        (put(9, 1, "0z"), "not_a_tile: line 9: '0z' is not a tile"),
        (put(9, 0, "7"), "serial_twice: line 9: serial 7 of set 1 is already used in line 8"),
        (lambda rows: rows[8].pop(), "line_incomplete: fields in line 9: 1; in the header: 2"),
        (put(1, 1, "hue"), "heading_wrong: tiles.csv, line 1: there is no column face; unknown columns: 'hue'"),
    ],
)
def test_each_mistake_is_reported_with_its_line(tmp_path: Path, change: Callable[[Rows], Any], said: str) -> None:
    rows = set_rows()
    change(rows)
    assert take(tmp_path, rows) == [said]


def test_a_set_of_135_tiles_is_refused(tmp_path: Path) -> None:
    *rows, last = set_rows()
    assert take(tmp_path, rows) == [
        "not_a_set: set 1: serial 136: without a face",
        f"not_a_set: set 1: 3 of {last[1]}, not 4",
    ]


def test_five_of_a_tile_are_refused(tmp_path: Path) -> None:
    rows = set_rows()
    at = next(line for line, row in enumerate(rows) if line and row[1] != "1m")
    gone, rows[at][1] = rows[at][1], "1m"
    assert take(tmp_path, rows) == ["not_a_set: set 1: 5 of 1m, not 4", f"not_a_set: set 1: 3 of {gone}, not 4"]


def test_a_list_needs_a_set_number(tmp_path: Path) -> None:
    rows = set_rows()[:3]
    assert [said.partition(":")[0] for said in take(tmp_path, rows, "--set=1")] == ["not_a_set"] * 35
    path = csv_file(tmp_path / "tiles.csv", rows)
    assert codes("set", "import", path, tmp_path / "cup") == ["set_not_said", "set_not_said"]
    assert take(tmp_path, rows[:1]) == ["not_a_set: tiles.csv lists no tiles"]


def test_check_accepts_complete_sets(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 2, tmp_path)
    assert done("set", "check", tmp_path) == "Complete sets: 1, 2.\n"


def test_check_reports_all_problems(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 3, tmp_path)
    sets = json.loads((tmp_path / "sets.json").read_text())
    del sets["3"]
    face = sets["1"].pop("7")
    sets["1"]["200"] = face
    sets["2"]["1"] = "9z"
    (tmp_path / "sets.json").write_text(json.dumps(sets))
    (tmp_path / "deals.json").chmod(0o640)
    said = refused("set", "check", tmp_path)
    assert said[:3] == [
        "not_a_set: set 1: serial 7: without a face",
        "not_a_set: set 1: serial 200: not of a set",
        "not_a_set: set 2: '9z' is not a tile",
    ]
    assert said[4:] == [
        "set_unknown: a deal uses set 3, which is not in sets.json",
        f"secret_exposed: other users can read {tmp_path / 'deals.json'}: run chmod 600 on it",
    ]


@pytest.mark.parametrize("command", ["check", "new"])
def test_an_unreadable_registry_is_not_changed(tmp_path: Path, command: str) -> None:
    (tmp_path / "sets.json").write_text("{1: ")
    assert codes("set", command, tmp_path, *(["--set", "1"] * (command == "new"))) == ["bad_event"]
    assert contents(tmp_path) == {"sets.json": b"{1: "}


def test_a_new_set_needs_a_number(tmp_path: Path) -> None:
    assert (ask("set", "new", tmp_path).exit_code, contents(tmp_path)) == (2, {})
