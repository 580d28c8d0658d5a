"""The registry of sets, and its private file."""

import fcntl
import json
import os
import random
import stat
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event import SETS
from broker.event import read_registry as read_as_the_scorer_does
from vision.errors import RegistryInvalidError, RegistryMissingError, UnwritableError
from vision.sheets.registry import (
    FACES,
    SetRegistry,
    draw_faces,
    locked_folder,
    private_file,
    read_set_registry,
    registry_bytes,
)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_becomes_private_even_if_it_replaces_a_public_one(tmp_path: Path) -> None:
    path = tmp_path / "sets.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    with private_file(path, b"new"):
        assert path.read_bytes() == b"old"
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), names_in(tmp_path)) == (b"new", 0o600, ["sets.json"])


def test_a_failing_block_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "sets.json"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), private_file(path, b"new"):
        raise ZeroDivisionError
    assert (path.read_bytes(), names_in(tmp_path)) == (b"old", ["sets.json"])


def test_of_two_files_neither_is_written_without_the_other(tmp_path: Path) -> None:
    taken = tmp_path / "sets.json"
    taken.mkdir()
    with (
        pytest.raises(UnwritableError, match=r"sets\.json: Is a directory"),
        private_file(tmp_path / "sheet.pdf", b"labels"),
        private_file(taken, b"registry"),
    ):
        pass
    assert names_in(tmp_path) == ["sets.json"]


def test_others_wait_while_one_command_writes(tmp_path: Path) -> None:
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        with locked_folder(tmp_path), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(other)


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / SETS
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def mistakes_in(folder: Path, content: str | bytes) -> list[str]:
    with pytest.raises(RegistryInvalidError) as caught:
        read_set_registry(written(folder, content))
    return [line.removeprefix(f"{SETS}: ") for line in str(caught.value).splitlines()]


def of(number: int, seed: int = 1) -> SetRegistry:
    return {number: draw_faces(random.Random(seed))}


@given(st.lists(st.integers(0, 99), unique=True, max_size=4), st.integers(0, 1000))
def test_the_registry_is_read_here_and_by_the_scorer(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], seed: int
) -> None:
    chance = random.Random(seed)
    registry = {number: draw_faces(chance) for number in numbers}
    path = written(tmp_path_factory.mktemp("folder"), registry_bytes(registry))
    assert read_set_registry(path) == registry
    assert read_as_the_scorer_does(path.parent) == registry


@given(st.integers())
def test_a_drawn_set_has_every_serial_once_and_every_face_four_times(seed: int) -> None:
    faces = draw_faces(random.Random(seed))
    assert list(faces) == [*range(1, 137)]
    assert Counter(faces.values()) == dict.fromkeys(FACES, 4)


def test_every_face_is_equally_likely_on_every_serial() -> None:
    chance = random.Random(8)
    first = Counter(draw_faces(chance)[1] for _ in range(3400))
    assert len(first) == 34
    assert max(first.values()) < 140  # 100 expected, with a standard deviation of 10


def test_a_registry_written_on_one_line_is_read(tmp_path: Path) -> None:
    assert read_set_registry(written(tmp_path, json.dumps(of(3)))) == of(3)


def lines_of(registry: SetRegistry) -> list[str]:
    return registry_bytes(registry).decode().splitlines()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('  "1": "10m",', ["line 3: serial 1 of set 3 has no face of 1m to 9s and 1z to 7z"]),
        ('  "1": 5,', ["line 3: serial 1 of set 3 has no face of 1m to 9s and 1z to 7z"]),
        ('  "1": {"1m": "1m"},', ["line 3: serial 1 of set 3 has no face of 1m to 9s and 1z to 7z"]),
        ('  "137": "1m",', ["line 3: '137' is no serial, 1 to 136"]),
        ('  "01": "1m",', ["line 3: '01' is no serial, 1 to 136"]),
        ('  "2": "1m",', ["line 4: serial 2 of set 3 is already used in line 3", "set 3: no entry for serial 1"]),
        ("", ["set 3: no entry for serial 1"]),
        ('  "1" "1m",', ["line 3: Expecting ':' delimiter"]),
    ],
)
def test_each_mistake_is_named_with_its_line(tmp_path: Path, wrong: str, told: list[str]) -> None:
    lines = lines_of(of(3))
    lines[2] = wrong
    assert set(told) <= set(mistakes_in(tmp_path, "\n".join(lines)))


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    lines = lines_of(of(3))
    lines[2], lines[9] = '  "1": "x",', '  "8": "y",'
    assert [told.split(":")[0] for told in mistakes_in(tmp_path, "\n".join(lines))] == ["line 3", "line 10"]


def test_a_fifth_tile_of_a_face_is_named(tmp_path: Path) -> None:
    registry = of(3)
    registry[3][1] = "5p" if registry[3][1] != "5p" else "6p"
    assert mistakes_in(tmp_path, registry_bytes(registry)) == [f"set 3: 5 tiles of {registry[3][1]}"]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "3", '{"3": []}', '{"3": {}', "{" * 100_000, "[" * 100_000, b"\xff", " " * 1_000_001, "9" * 5000],
)  # fmt: skip
def test_other_files_are_refused_with_a_code(tmp_path: Path, content: str | bytes) -> None:
    assert len(mistakes_in(tmp_path, content)) == 1


def test_an_invalid_set_number_is_named(tmp_path: Path) -> None:
    content = registry_bytes(of(3)).decode().replace('"3": {', '"C": {')
    assert mistakes_in(tmp_path, content)[0] == "line 3: 'C' is no set, 0 to 99"


NESTED = st.recursive(st.none() | st.text(max_size=4), lambda inner: st.dictionaries(st.text(max_size=4), inner))


@given(st.text(max_size=60) | NESTED.map(json.dumps).filter(lambda content: content != "{}"))
def test_rubbish_is_refused_with_a_code(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    path = written(tmp_path_factory.mktemp("folder"), content.encode("utf-8", "replace"))
    with pytest.raises(RegistryInvalidError):
        read_set_registry(path)


def test_a_registry_without_sets_is_valid(tmp_path: Path) -> None:
    assert read_set_registry(written(tmp_path, "{}")) == {}


def test_a_set_without_tiles_is_named(tmp_path: Path) -> None:
    assert mistakes_in(tmp_path, '{"3": {}}')[0] == "line 1: '' is no serial, 1 to 136"


def test_a_missing_registry_has_its_own_code(tmp_path: Path) -> None:
    with pytest.raises(RegistryMissingError):
        read_set_registry(tmp_path / "gone.json")


def test_a_folder_is_not_a_registry(tmp_path: Path) -> None:
    with pytest.raises(RegistryInvalidError):
        read_set_registry(tmp_path)
