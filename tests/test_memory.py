import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import memory as subject
from tests.memory import memory, use_memory


@pytest.mark.parametrize(
    ("free", "flags", "taken"), [(9, 0, True), (8, 0, True), (7, 0, False), (9, os.ST_NOEXEC, False)]
)
def test_a_folder_with_room_that_allows_programs_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, flags: int, *, taken: bool
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1 << 10, f_flag=flags))
    assert memory(tmp_path, 8 << 10) == (tmp_path if taken else None)


def test_a_missing_folder_is_not_used(tmp_path: Path) -> None:
    assert memory(tmp_path / "none", 0) is None


def test_temporary_files_go_there_unless_tmpdir_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())
    monkeypatch.setattr(subject, "memory", lambda: tmp_path)
    monkeypatch.setenv("TMPDIR", "/var/tmp")
    use_memory()
    named = os.environ["TMPDIR"]
    monkeypatch.delenv("TMPDIR")
    use_memory()
    assert (named, os.environ["TMPDIR"], tempfile.gettempdir()) == ("/var/tmp", str(tmp_path), str(tmp_path))
