"""Secret files: for their owner alone, whole or not at all, one writer at a time."""

import fcntl
import os
import stat
from pathlib import Path

import pytest

from vision.errors import UnwritableError
from vision.sheets.private_file import locked, written_privately


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_for_its_owner_alone_even_where_an_open_one_was(tmp_path: Path) -> None:
    path = tmp_path / "sets.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    with written_privately(path, b"new"):
        assert path.read_bytes() == b"old"
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), names_in(tmp_path)) == (b"new", 0o600, ["sets.json"])


def test_when_the_block_fails_what_was_there_stays_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "sets.json"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), written_privately(path, b"new"):
        raise ZeroDivisionError
    assert (path.read_bytes(), names_in(tmp_path)) == (b"old", ["sets.json"])


def test_of_two_files_the_first_is_not_there_without_the_second(tmp_path: Path) -> None:
    taken = tmp_path / "sets.json"
    taken.mkdir()
    with (
        pytest.raises(UnwritableError, match=r"sets\.json: Is a directory"),
        written_privately(tmp_path / "sheet.pdf", b"labels"),
        written_privately(taken, b"registry"),
    ):
        pass
    assert names_in(tmp_path) == ["sets.json"]


def test_while_one_writes_others_wait(tmp_path: Path) -> None:
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        with locked(tmp_path), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(other)
