"""`homologue labels`: a set is drawn once, stays secret, and a refused command changes nothing."""

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from tests.refusals import codes
from tests.vision.sheets.printed import read, render


def run(folder: Path, *arguments: str, output: str = "sheet.pdf") -> Result:
    return CliRunner().invoke(homologue, ["labels", "--set", "3", "--output", str(folder / output), *arguments])


def refused(folder: Path, code: str, *arguments: str, output: str = "sheet.pdf") -> str:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(folder, *arguments, output=output)
    assert (result.exit_code, codes(result.stderr), result.stdout) == (1, [code], "")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    return result.stderr


def faces(folder: Path, number: int = 3, name: str = "sets.json") -> dict[str, str]:
    told: dict[str, str] = json.loads((folder / name).read_text())[str(number)]
    return told


def printed(folder: Path, output: str = "sheet.pdf") -> list[int]:
    return sorted(read(render((folder / output).read_bytes(), 1)))


def test_a_new_set_gets_a_registry_and_a_sheet_readable_by_their_owner_only(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {
        "sets.json": 0o600,
        "sheet.pdf": 0o600,
    }
    assert len(faces(tmp_path)) == 136
    assert printed(tmp_path) == [*range(1, 137)]


def test_no_face_is_printed_on_the_screen(tmp_path: Path) -> None:
    result = run(tmp_path)
    said = set(result.output.replace(str(tmp_path), "").replace(".", " ").replace(";", " ").split())
    assert said & set(faces(tmp_path).values()) == set()


def test_two_sets_are_drawn_differently(tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path, "--set", "4", output="four.pdf")
    assert faces(tmp_path, 3) != faces(tmp_path, 4)


def test_an_existing_set_is_not_drawn_again_by_accident(tmp_path: Path) -> None:
    run(tmp_path)
    assert "--force" in refused(tmp_path, "registry_set_exists")


def test_force_draws_a_set_again_and_leaves_the_others(tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path, "--set", "4")
    three, four = faces(tmp_path, 3), faces(tmp_path, 4)
    assert run(tmp_path, "--force").exit_code == 0
    assert (faces(tmp_path, 3) != three, faces(tmp_path, 4)) == (True, four)


def test_a_registered_set_is_printed_again_unchanged(tmp_path: Path) -> None:
    run(tmp_path)
    before = (tmp_path / "sheet.pdf").read_bytes(), (tmp_path / "sets.json").read_bytes()
    assert run(tmp_path, "--registry", str(tmp_path / "sets.json"), output="again.pdf").exit_code == 0
    assert ((tmp_path / "again.pdf").read_bytes(), (tmp_path / "sets.json").read_bytes()) == before


def test_only_lost_labels_are_printed(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, "--only", "17, 093", output="lost.pdf").exit_code == 0
    assert printed(tmp_path, "lost.pdf") == [17, 93]


def test_an_events_registry_gets_a_missing_set(tmp_path: Path) -> None:
    run(tmp_path, "--set", "4")
    run(tmp_path, "--registry", str(tmp_path / "sets.json"))
    assert list(json.loads((tmp_path / "sets.json").read_text())) == ["3", "4"]


def test_single_labels_of_an_unknown_set_are_refused(tmp_path: Path) -> None:
    refused(tmp_path, "registry_missing", "--only", "17")
    run(tmp_path, "--set", "4")
    refused(tmp_path, "registry_set_missing", "--only", "17")


@pytest.mark.parametrize("only", ["", "0", "137", "17;93", "17,", "-1", "1.5", "00", "١٧", "17" * 5000])
def test_invalid_serials_are_refused(tmp_path: Path, only: str) -> None:
    refused(tmp_path, "serials_invalid", "--only", only)


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("labels_off_page", ["--margin-left", "30"]),
        ("labels_off_page", ["--margin-top", "nan"]),
        ("labels_off_page", ["--scale", "105"]),
        ("label_too_small", ["--format", "hisago-op3017", "--number", "large"]),
        ("start_off_sheet", ["--start", "271"]),
        ("file_name_refused", ["--registry", "sets.pdf"]),
        ("registry_invalid", ["--registry", "/dev/null"]),
        ("registry_invalid", ["--registry", __file__]),
        ("unwritable", ["--registry", "/nowhere/at/all/sets.json"]),
    ],
)
def test_an_unprintable_order_is_refused_and_nothing_is_drawn(tmp_path: Path, code: str, arguments: list[str]) -> None:
    refused(tmp_path, code, *arguments)


def test_labels_are_written_to_pdf_files_only(tmp_path: Path) -> None:
    run(tmp_path)
    refused(tmp_path, "file_name_refused", output="sets.json")


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    refused(tmp_path, "unwritable", output="gone/sheet.pdf")


@pytest.mark.parametrize(
    "arguments",
    [["--set", "100"], ["--set", "-1"], ["--scale", "94"], ["--scale", "106"], ["--start", "0"], ["--modules", "16"],
     ["--margin-left", "-1"], ["--only", "17", "--force"], ["--format", "none"], ["--language", "de"]],
)  # fmt: skip
def test_values_out_of_range_are_usage_errors(tmp_path: Path, arguments: list[str]) -> None:
    assert run(tmp_path, *arguments).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_sets_0_and_99_are_valid(tmp_path: Path) -> None:
    assert [run(tmp_path, "--set", number).exit_code for number in ("0", "99")] == [0, 0]


def test_formats_are_listed_without_other_arguments() -> None:
    result = CliRunner().invoke(homologue, ["labels", "--list-formats"])
    assert (result.exit_code, result.stdout.split()[0]) == (0, "format")
