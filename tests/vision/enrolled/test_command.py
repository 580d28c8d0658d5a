"""`homologue set enrol` and `homologue read --set`, as people and scripts use them."""

import json
from pathlib import Path

import cv2
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from tests.vision.enrolled.drawn_sets import drawn_set, tray_of, tray_picture
from vision.enrolled.file import read_enrolled, write_enrolled


@pytest.fixture
def shots(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"tray-{tray}.png" for tray in range(1, 5)]
    for tray, path in enumerate(paths, start=1):
        cv2.imwrite(str(path), tray_picture(tray_of(tray), seed=tray))
    return [str(path) for path in paths]


def enrol(*words: str, answers: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(homologue, ["set", "enrol", *words], input=answers)
    return result.exit_code, result.output


@pytest.mark.slow
def test_enrolment_can_be_interrupted_between_steps(tmp_path: Path, shots: list[str]) -> None:
    code, text = enrol("3", *shots[:2], "--folder", str(tmp_path))
    assert code == 1
    assert "Tray 2: all 34 tiles are enrolled." in text
    assert read_enrolled(tmp_path / "set-03.jpg").missing == tuple(range(69, 137))
    code, text = enrol("3", *shots[2:], "--tray", "3", "--folder", str(tmp_path), "--json")
    lines = [json.loads(line) for line in text.splitlines()]
    assert code == 0
    assert lines[0] == {"tray": 3, "enrolled": 34, "again": []}
    assert lines[-1] == {"set": 3, "file": str(tmp_path / "set-03.jpg"), "missing": []}


@pytest.mark.slow
def test_a_tray_out_of_order_is_refused_and_changes_nothing(tmp_path: Path, shots: list[str]) -> None:
    enrol("3", shots[0], "--folder", str(tmp_path))
    before = (tmp_path / "set-03.jpg").read_bytes()
    code, text = enrol("3", shots[0], "--tray", "2", "--folder", str(tmp_path), "--json")
    assert (code, json.loads(text)["error"]["code"]) == (1, "enrol_order")
    assert (tmp_path / "set-03.jpg").read_bytes() == before


@pytest.mark.slow
def test_with_a_camera_only_missing_trays_are_requested(tmp_path: Path, shots: list[str]) -> None:
    backs = drawn_set(tuple(serial for serial in range(1, 137) if serial not in tray_of(4)))
    write_enrolled(tmp_path / "set-03.jpg", backs)
    only = tmp_path / "camera"
    only.mkdir()
    Path(shots[3]).rename(only / "tray.png")
    code, text = enrol("3", "--camera", f"pictures:{only}", "--folder", str(tmp_path), answers="\n")
    assert (code, text.count("lay serials")) == (0, 1)
    assert "lay serials 103 to 136" in text


def test_the_file_of_another_set_is_not_continued(tmp_path: Path, shots: list[str]) -> None:
    write_enrolled(tmp_path / "set-04.jpg", drawn_set((1,)))  # of set 3
    code, text = enrol("4", shots[0], "--folder", str(tmp_path), "--json")
    assert (code, json.loads(text)["error"]["code"]) == (1, "enrolled_invalid")


@pytest.mark.parametrize(
    "words", [("3",), ("3", "a.jpg", "--camera", "sim://tray"), ("3", "a.jpg", "b.jpg", "--tray", "4")]
)
def test_invalid_arguments_are_refused(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).touch()
    assert enrol(*words)[0] == 2


@pytest.mark.slow
def test_a_read_is_checked_against_the_set_and_has_a_likeness(tmp_path: Path, shots: list[str]) -> None:
    write_enrolled(tmp_path / "set-03.jpg", drawn_set())
    told = CliRunner().invoke(homologue, ["read", shots[2], "--set", str(tmp_path / "set-03.jpg"), "--json"])
    reads = json.loads(told.output)["reads"]
    assert sum(one["serial"] is not None for one in reads) > 20
    assert all(("likeness" in one) == (one["serial"] is not None) for one in reads)


def test_a_set_that_is_not_enrolled_is_reported(shots: list[str]) -> None:
    assert "enrol this set (homologue set enrol)" in CliRunner().invoke(homologue, ["read", shots[2]]).output


def test_a_file_that_is_not_an_enrolled_set_ends_the_command(tmp_path: Path, shots: list[str]) -> None:
    (tmp_path / "set-03.jpg").write_bytes(b"rubbish")
    told = CliRunner().invoke(homologue, ["read", shots[2], "--set", str(tmp_path / "set-03.jpg"), "--json"])
    assert (told.exit_code, json.loads(told.output)["error"]["code"]) == (1, "enrolled_invalid")
