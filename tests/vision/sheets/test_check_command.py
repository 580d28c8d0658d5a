"""`homologue set check`: missing, double and foreign tiles from pictures of a whole set."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from tests.vision.sheets.printed import PRINTED_FACES
from vision.geometry import Picture
from vision.sheets.registry import registry_bytes
from vision.sim.scene import tile_stamp
from vision.sim.table import SimulatedTile

ALL = frozenset(range(1, 137))


ROOM = (26, 34)  # pixels between tiles, right and down
COLUMNS = 17


def picture_of(*tiles: tuple[int, int]) -> Picture:
    """Return a picture of tiles (set and serial), spread out face down on a dark cloth."""
    stamps = [tile_stamp(SimulatedTile(number, serial)) for number, serial in tiles]
    high, wide = stamps[0].shape[:2]
    rows = -(-len(stamps) // COLUMNS)
    table = np.full(
        (rows * (high + ROOM[1]) + ROOM[1], COLUMNS * (wide + ROOM[0]) + ROOM[0], 3), (58, 40, 34), np.uint8
    )
    for place, drawn in enumerate(stamps):
        top = ROOM[1] + place // COLUMNS * (high + ROOM[1])
        left = ROOM[0] + place % COLUMNS * (wide + ROOM[0])
        table[top : top + high, left : left + wide] = drawn
    return table


def heap(path: Path, serials: Iterable[int], *others: tuple[int, int]) -> Path:
    """Save a picture of tiles of set 3 and of some others."""
    cv2.imwrite(str(path), picture_of(*((3, serial) for serial in sorted(serials)), *others))
    return path


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(homologue, ["set", "check", *map(str, arguments)])


def found(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    result = check(*arguments, "--json")
    line: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, line


def test_a_whole_set_in_overlapping_pictures_is_complete(tmp_path: Path) -> None:
    first = heap(tmp_path / "first.png", range(1, 90))
    second = heap(tmp_path / "second.png", range(60, 137))
    code, line = found(first, second, "--set", "3")
    assert (code, line["complete"], line["missing"], line["double"], line["foreign"]) == (0, True, [], [], [])
    assert [shot["read"] for shot in line["pictures"]] == [89, 77]


def test_missing_double_and_foreign_tiles_are_named(tmp_path: Path) -> None:
    code, line = found(heap(tmp_path / "heap.png", ALL - {17, 93}, (3, 44), (4, 5)), "--set", "3")
    assert (code, line["set"], line["complete"]) == (1, "03", False)
    assert (line["missing"], line["double"], line["foreign"]) == ([17, 93], [44], [{"set": "04", "serial": 5}])
    assert line["unread"] == 0


def test_the_text_for_people_names_missing_faces_from_the_registry(tmp_path: Path) -> None:
    shown = heap(tmp_path / "heap.png", ALL - {17})
    registry = tmp_path / "sets.json"
    registry.write_bytes(registry_bytes({3: PRINTED_FACES}))
    assert check(shown, "--set", "03").stdout == "set 03: NOT complete\n  missing 1: 017\n"
    named = check(shown, "--set", "3", "--registry", registry)
    assert (named.exit_code, named.stdout) == (1, f"set 03: NOT complete\n  missing 1: 017 ({PRINTED_FACES[17]})\n")


def test_a_bad_picture_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    whole = heap(tmp_path / "whole.png", ALL)
    (tmp_path / "bad.jpg").write_bytes(b"no picture")
    result = check(tmp_path / "bad.jpg", whole)
    assert (result.exit_code, result.stdout) == (0, "set 03: complete, each of the 136 tiles once\n")
    assert result.stderr.splitlines() == [
        "1/2 bad.jpg: the file is neither a JPEG nor a PNG (picture_unreadable)",
        "2/2 whole.png: 136 read, 0 seen but not read",
    ]


def test_an_empty_picture_shows_no_tile(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.png"
    cv2.imwrite(str(nothing), np.full((400, 600), 90, np.uint8))
    code, line = found(nothing, "--set", "C")
    assert (code, line["set"], len(line["missing"])) == (1, "C", 136)


def test_an_unusable_registry_is_reported(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.png"
    cv2.imwrite(str(nothing), np.full((400, 600), 90, np.uint8))
    registry = tmp_path / "sets.json"
    registry.write_bytes(registry_bytes({3: PRINTED_FACES}))
    for arguments, code in (
        (("--set", "4", "--registry", registry), "registry_set_missing"),
        (("--set", "C", "--registry", registry), "registry_set_missing"),
        (("--registry", registry), "registry_set_missing"),
        (("--registry", tmp_path / "gone.json"), "file_missing"),
    ):
        exit_code, line = found(nothing, *arguments)
        assert (exit_code, line["error"]["code"]) == (1, code)


@pytest.mark.parametrize("named", ["", "100", "CC", "-1", "٣", "é", "3 "])
def test_a_set_name_is_two_digits_or_a_letter(tmp_path: Path, named: str) -> None:
    assert check(tmp_path / "any.png", "--set", named).exit_code == 2
