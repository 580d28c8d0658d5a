"""Files stay complete through a power cut."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.event import DEALS, EVENT, MOVEMENT, save_event
from broker.event.movement.files import read_faultless_movement, write_movement_to_event
from broker.files import make_folder, new_folder, sync_log, write_export, write_if_same_kind, write_private
from broker.read_ahead import STORE_ADDRESS_FILE
from broker.store import DatabaseAddress, write_address
from tests.broker.scorer.small import deals, plan, registry
from tests.flushes import note_flushes


class PowerCut(BaseException):
    """Ends the write like a power cut: no `except Exception` catches it."""


def movement(folder: Path) -> None:
    (folder / DEALS).unlink(missing_ok=True)
    write_movement_to_event(folder, read_faultless_movement(folder)[:8], force=True)


def whole_event(folder: Path) -> None:
    save_event(folder, replace(plan(), title="Another title"), deals(), registry())


WRITERS: list[tuple[str, Callable[[Path], object]]] = [
    (MOVEMENT, movement),
    (EVENT, whole_event),
    ("results.csv", lambda folder: write_export(b"new" * 9_000, folder / "results.csv", source=None, force=True)),
    ("points.pdf", lambda folder: write_if_same_kind(folder / "points.pdf", b"old" + b"new" * 9_000)),
    (STORE_ADDRESS_FILE, lambda folder: write_address(folder, DatabaseAddress("postgresql://there/db"))),
    ("players.csv", lambda folder: write_private(folder / "players.csv", b"new" * 9_000)),
]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
@pytest.mark.parametrize(("name", "writes"), WRITERS, ids=[name for name, _ in WRITERS])
def test_a_file_is_the_old_one_until_the_new_one_is_whole_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, writes: Callable[[Path], object], moment: str
) -> None:
    folder = tmp_path / "event"
    save_event(folder, plan(), deals(), registry())
    if name == STORE_ADDRESS_FILE:
        write_address(folder, DatabaseAddress("postgresql://here/db"))
    for own in ("results.csv", "points.pdf", "players.csv"):
        (folder / own).write_text("old")
    before = (folder / name).read_bytes()

    def cut(*_: object) -> None:
        raise PowerCut

    with monkeypatch.context() as power:
        power.setattr(os, moment, cut)
        with pytest.raises(PowerCut):
            writes(folder)
    assert (folder / name).read_bytes() == before
    writes(folder)
    assert (folder / name).read_bytes() != before


def test_a_new_folder_is_on_the_disk_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = note_flushes(monkeypatch)
    make_folder(tmp_path / "var" / "cup", 0o700)
    assert flushed[-2:] == [tmp_path, tmp_path / "var"]
    assert (tmp_path / "var" / "cup").stat().st_mode & 0o777 == 0o700


def test_making_an_existing_folder_flushes_its_name_to_the_disk_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "var" / "cup").mkdir(parents=True)
    flushed = note_flushes(monkeypatch)
    make_folder(tmp_path / "var" / "cup")
    assert flushed[-2:] == [tmp_path, tmp_path / "var"]


@pytest.mark.parametrize("there", [False, True])
def test_an_interrupted_new_folder_leaves_only_what_was_there_before(tmp_path: Path, *, there: bool) -> None:
    folder = tmp_path / "cup"
    if there:
        folder.mkdir()
        (folder / "notes.txt").write_text("of somebody else", encoding="utf-8")

    def begin() -> None:
        with new_folder(folder):
            (folder / "part").mkdir()
            (folder / "part" / "plan.toml").touch()
            raise PowerCut

    with pytest.raises(PowerCut):
        begin()
    assert [one.name for one in tmp_path.rglob("*")] == (["cup", "notes.txt"] if there else [])


def test_an_existing_folder_is_accepted_and_an_existing_file_is_refused(tmp_path: Path) -> None:
    make_folder(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_a_left_over_write_ahead_log_is_flushed_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed = note_flushes(monkeypatch)
    sync_log(tmp_path / "new.sqlite")
    (tmp_path / "old.sqlite-wal").touch()
    sync_log(tmp_path / "old.sqlite")
    assert flushed == [tmp_path / "old.sqlite-wal", tmp_path]
