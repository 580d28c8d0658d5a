import json
import struct
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from tests.refusals import codes

HERE = Path(__file__).parent / "pictures"
FAULTY = HERE / "dev_008_tray-faulty.jpg"


def lines_of(*arguments: str | Path) -> list[dict[str, Any]]:
    result = CliRunner().invoke(homologue, ["read", *map(str, arguments), "--json"])
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


@cache
def read_alone() -> dict[str, Any]:
    """Return what is read in the picture without the deal."""
    return lines_of(FAULTY)[0]


def code_of(path: Path) -> str:
    (line,) = lines_of(path)
    code: str = line["error"]["code"]
    return code


def test_a_picture_gives_one_line_with_every_field_of_the_contract() -> None:
    line = read_alone()
    assert list(line) == ["image", "ms", "reads", "faults"]
    assert list(line["reads"][0]) == [
        "serial", "set", "quad", "confidence", "seat", "row", "col", "rotation", "face_up", "foreign",
    ]  # fmt: skip


def test_faults_are_given_if_the_deal_is_known() -> None:
    assert read_alone()["faults"] == []
    (line,) = lines_of(FAULTY, "--expected", FAULTY.with_suffix(".json"))
    assert line["faults"] == [
        {"type": "foreign", "seat": None, "row": 0, "col": 4, "expected": 133, "found": 133},
        {"type": "face-up", "seat": None, "row": 0, "col": 9, "expected": 41},
    ]


def test_a_face_is_seen_but_not_read() -> None:
    (face,) = (one for one in read_alone()["reads"] if one["face_up"])
    assert (face["serial"], face["row"], face["col"]) == (None, 0, 9)


@pytest.mark.parametrize(
    ("language", "fault", "verdict"),
    [
        ("en", "row 1, place 5: tile of another set; 133 belongs there", "NOT verified"),
        ("fr", "rangée 1, place 5\xa0: tuile d’un autre jeu\xa0; il faut 133", "NON vérifié"),
        ("zh", "第1排第5位：另一套牌的牌；应为133", "未通过核对"),
    ],
)
def test_the_text_has_rows_and_sentences_in_the_chosen_language(language: str, fault: str, verdict: str) -> None:
    deal = str(FAULTY.with_suffix(".json"))
    result = CliRunner().invoke(homologue, ["read", str(FAULTY), "--expected", deal, "--language", language])
    lines = result.stdout.splitlines()
    assert lines[0].startswith("dev_008_tray-faulty.jpg")
    assert [len(line.split()) for line in lines[1:4]] == [13, 11, 10]
    assert (lines[4], lines[-1]) == (f"  {fault}", f"  {verdict}")


def test_after_a_bad_picture_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "bad.jpg").touch()
    bad, good = lines_of(tmp_path / "bad.jpg", FAULTY)
    assert (bad["error"]["code"], len(good["reads"])) == ("picture_empty", 34)


def test_a_missing_picture_fails_the_command_but_the_others_are_read(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.jpg")
    lines = CliRunner().invoke(homologue, ["read", gone, str(FAULTY), "--json"])
    bad, good = map(json.loads, lines.stdout.splitlines())
    assert (lines.exit_code, bad["error"]["code"], len(good["reads"])) == (1, "picture_missing", 34)
    text = CliRunner().invoke(homologue, ["read", gone, str(FAULTY)])
    assert (text.exit_code, codes(text.stderr), " read, " in text.stdout) == (1, ["picture_missing"], True)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "picture_empty"),
        (b"no picture at all", "picture_unreadable"),
        (b"\xff\xd8\xff", "picture_unreadable"),
        (b"\xff\xd8\xff" + b"\xff" * 5000, "picture_unreadable"),
        (b"\x89PNG\r\n\x1a\n", "picture_unreadable"),
        (b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 60000, 60000), "picture_too_large"),
        (b"\xff\xd8\xff\xe0\x00\x02\xff\xc0" + struct.pack(">HBHH", 17, 8, 20000, 20000), "picture_too_large"),
    ],
)
def test_rubbish_gets_a_code(content: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(content)
    assert code_of(path) == code


def test_a_truncated_picture_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "cut.jpg"
    path.write_bytes(FAULTY.read_bytes()[:100_000])
    assert code_of(path) == "picture_unreadable"


def test_a_folder_is_not_a_picture(tmp_path: Path) -> None:
    assert code_of(tmp_path) == "picture_unreadable"


@pytest.mark.parametrize("level", [0, 255])
@pytest.mark.parametrize("size", [(1, 1), (900, 1600)])
def test_an_empty_picture_has_no_reads(level: int, size: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "nothing.png"
    cv2.imwrite(str(path), np.full((*size, 3), level, dtype=np.uint8))
    (line,) = lines_of(path)
    assert line["reads"] == []


@pytest.mark.parametrize(
    "content",
    ["", "[", "[]", "{}", '{"tray": 3}', '{"tray": [[1], [2], [3]]}', '{"expected": null}', '{"tray": [[true]]}'],
)
def test_a_bad_deal_gets_a_code_before_any_picture_is_read(content: str, tmp_path: Path) -> None:
    path = tmp_path / "deal.json"
    path.write_text(content)
    result = CliRunner().invoke(homologue, ["read", str(FAULTY), "--json", "--expected", str(path)])
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (1, "expected_invalid")


def test_a_picture_without_a_tray_has_no_fault_and_is_not_verified(tmp_path: Path) -> None:
    blank = tmp_path / "blank.png"
    cv2.imwrite(str(blank), np.full((400, 600, 3), 90, np.uint8))
    (line,) = lines_of(blank, "--expected", FAULTY.with_suffix(".json"))
    assert (line["faults"], line["verified"]) == ([], False)
    result = CliRunner().invoke(homologue, ["read", str(blank), "--expected", str(FAULTY.with_suffix(".json"))])
    assert "NOT verified" in result.stdout


def test_without_a_deal_there_is_no_verdict() -> None:
    assert "verified" not in read_alone()
    assert "verified" not in CliRunner().invoke(homologue, ["read", str(FAULTY)]).stdout
