"""Copies of an event: made while it is played, read back, several kept, restored, and never over existing files."""

import errno
import json
import resource
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from broker.errors import BackupBroken, BackupFailed, BackupMissing, BadEvent, RestoreTaken
from broker.event import open_event
from broker.scorer import open_stored_event
from broker.scorer.space import RESERVE
from broker.store import STORE, DatabaseAddress, backup, open_journal
from broker.store.backup import (
    check_copy,
    choose_copy,
    copy_event,
    copy_file,
    copy_names,
    make_copy,
    next_copy_name,
    restore_copy,
)
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import NAME, whole_event
from tests.broker.store.server import Server
from tests.broker.store.stores import Kept, fill, in_postgresql
from tests.flushes import note_flushes

NOW = 1_800_000_000_000


def contents(folder: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def copied(event: Path, stick: Path, now: int = NOW, keep: int = 3) -> Path:
    return make_copy(event, NAME, stick, now, keep)


def test_a_copy_equals_the_event_and_does_not_hinder_a_running_scorer(event: Path, stick: Path) -> None:
    journal = open_journal(event, NAME)
    try:
        rest = [message for message in whole_event() if message.fact.round == 4]
        fill(journal, rest[0])
        with journal.commit():
            journal.append(rest[1], 0)
            copy = copied(event, stick)
    finally:
        journal.close()
    assert copy.name == "cup-backup-000001-20270115T080000Z"
    assert check_copy(copy).height == len(until_round(3)) + 1
    assert contents(copy).keys() == {"backup.json", STORE, "event.toml", "movement.csv", "deals.json", "sets.json"}


def test_copies_are_readable_only_by_their_owner(event: Path, stick: Path) -> None:
    copy = copied(event, stick)
    assert [
        path.name for path in (copy, *copy.rglob("*")) if path.stat().st_mode & 0o077 and path.name != "backup.json"
    ] == []


def test_subfolders_are_copied_without_the_brokers_store_links_and_the_reserve(event: Path, stick: Path) -> None:
    for name in ("sheets/a.pdf", "broker/x", ".hidden", "standings.csv", RESERVE):
        (event / name).parent.mkdir(exist_ok=True)
        (event / name).write_bytes(b"x")
    (event / "link").symlink_to("/etc/passwd")
    assert {"sheets/a.pdf", "standings.csv"} == {*contents(copied(event, stick))} - {
        "backup.json",
        STORE,
        "event.toml",
        "movement.csv",
        "deals.json",
        "sets.json",
    }


def test_only_the_newest_copies_are_kept(event: Path, stick: Path) -> None:
    made = []
    for day in range(5):
        (event / "standings.csv").write_text(str(day))
        made.append(copied(event, stick, NOW - day).name)  # a clock that runs backwards makes no difference
    assert sorted(path.name for path in stick.iterdir()) == made[-3:]


def test_a_copy_is_renamed_before_its_files_are_removed(
    event: Path, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make power` found half a copy under the name of a whole one."""
    first = copied(event, stick, keep=1)
    (event / "standings.csv").write_text("more")
    flushed, remove, seen = note_flushes(monkeypatch), shutil.rmtree, list[bool]()

    def removing(path: Path, *, ignore_errors: bool) -> None:
        if path.exists():
            seen.append(not first.exists() and flushed[-1] == stick)
        remove(path, ignore_errors=ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", removing)
    copied(event, stick, keep=1)
    assert seen == [True]


def test_all_names_within_a_copy_are_on_the_disk_before_its_own(
    event: Path, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (event / "profiles").mkdir()
    (event / "profiles" / "house.toml").touch()
    flushed = note_flushes(monkeypatch)
    copied(event, stick)
    assert flushed[-3:] == [stick / ".unfinished-cup", stick / ".unfinished-cup" / "profiles", stick]


def test_a_restored_event_is_on_the_disk_completely_before_it_becomes_an_event(
    event: Path, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (event / "profiles").mkdir()
    (event / "profiles" / "house.toml").touch()
    copy, manifest, _ = choose_copy(copied(event, stick), None)
    new = stick.parent / "events" / "restored"
    flushed = note_flushes(monkeypatch)
    restore_copy(copy, manifest, new)
    assert flushed[-4:] == [new, new / "profiles", new / "event.toml", new]
    assert {stick.parent, new.parent} <= {*flushed}


def test_no_copy_is_made_if_nothing_has_changed(event: Path, stick: Path) -> None:
    assert copied(event, stick) == copied(event, stick, NOW + 60_000)
    assert len(list(stick.iterdir())) == 1


def test_a_damaged_last_copy_is_replaced_although_nothing_has_changed(event: Path, stick: Path) -> None:
    first = copied(event, stick)
    (first / "event.toml").write_text("rotten")
    assert copied(event, stick) != first


def test_copies_of_other_events_and_other_files_are_left_alone(event: Path, stick: Path) -> None:
    others = ["cup-2-backup-000001-20270115T080000Z", "holiday.jpg", "cup-backup-old"]
    for name in others:
        (stick / name).mkdir()
    for day in range(4):
        (event / "standings.csv").write_text(str(day))
        copied(event, stick, keep=1)
    assert sorted(path.name for path in stick.iterdir()) == sorted([*others, "cup-backup-000004-20270115T080000Z"])


@pytest.mark.parametrize("name", [STORE, "event.toml", "movement.csv", "deals.json"])
@pytest.mark.parametrize("damage", ["flipped", "short", "gone"])
def test_a_copy_with_a_wrong_byte_is_broken(event: Path, stick: Path, name: str, damage: str) -> None:
    copy = copied(event, stick)
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "gone":
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content if damage == "flipped" else content[:-1])
    with pytest.raises(BackupBroken) as broken:
        check_copy(copy)
    assert broken.value.code == "backup_broken"


@pytest.mark.parametrize("said", ["", "{}", '{"files": {"../../etc/passwd": ""}}', "\xff"])
def test_a_copy_without_a_valid_manifest_is_broken(event: Path, stick: Path, said: str) -> None:
    copy = copied(event, stick)
    (copy / "backup.json").write_text(said, encoding="latin-1")
    with pytest.raises(BackupBroken):
        check_copy(copy)


def test_a_manifest_cannot_name_files_outside_its_copy(event: Path, stick: Path) -> None:
    copy = copied(event, stick)
    manifest = json.loads((copy / "backup.json").read_text())
    for name in ("../x", "/etc/passwd", "a/../../x"):
        manifest["files"][name] = "0" * 64
        (copy / "backup.json").write_text(json.dumps(manifest))
        with pytest.raises(BackupBroken, match="outside"):
            check_copy(copy)
        del manifest["files"][name]


def test_a_stick_that_loses_data_is_reported_and_old_copies_stay(
    event: Path, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = copied(event, stick, keep=1)
    kept = contents(stick)

    def flipping(path: Path) -> None:
        if path.name == "backup.json":
            (path.parent / "deals.json").write_bytes(b"[]")

    monkeypatch.setattr(backup, "sync", flipping)
    (event / "standings.csv").write_text("new")
    with pytest.raises(BackupFailed, match="is not what was written"):
        copied(event, stick, keep=1)
    assert (contents(stick), before.exists()) == (kept, True)


def test_a_full_disk_is_reported_and_the_copies_on_it_stay(event: Path, stick: Path) -> None:
    """The kernel refuses to write as it does when a stick is full: here from the 4096th byte of a file."""
    copied(event, stick)
    kept = contents(stick)
    (event / "standings.csv").write_bytes(bytes(10_000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(BackupFailed) as failed:
            copied(event, stick, keep=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failed.value.code == "backup_failed"
    assert contents(stick) == kept


def test_without_a_folder_no_copy_is_made(event: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="is the stick plugged in"):
        copied(event, tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("inside", [".", "copies"])
def test_a_copy_inside_the_event_is_refused(event: Path, inside: str) -> None:
    (event / "copies").mkdir()
    with pytest.raises(BackupFailed, match="inside"):
        copied(event, event / inside)


def test_the_remains_of_an_interrupted_copy_are_removed(event: Path, stick: Path) -> None:
    (stick / ".unfinished-cup").mkdir()
    (stick / ".unfinished-cup" / "x").touch()
    copy = copied(event, stick)
    assert list(stick.iterdir()) == [copy]


def test_a_restored_event_continues_and_its_tables_resend(event: Path, stick: Path, tmp_path: Path) -> None:
    copy = copied(event, stick)
    chosen, manifest, broken = choose_copy(stick, None)
    assert (chosen, broken) == (copy, [])
    restore_copy(chosen, manifest, tmp_path / "new")
    first, second = open_journal(event, NAME), open_journal(tmp_path / "new", NAME)
    try:
        assert list(second.messages()) == list(first.messages()) == until_round(3)
        assert second.store != first.store
        fill(second, *[message for message in whole_event() if message.fact.round == 4])
    finally:
        first.close()
        second.close()
    assert open_stored_event(tmp_path / "new").state.over
    assert [
        path.name for path in (tmp_path / "new").iterdir() if path.stat().st_mode & 0o077 and path.suffix != ".lock"
    ] == []


def test_an_interrupted_restore_makes_no_event_and_leaves_the_copy_intact(
    event: Path, stick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_copy(event, NAME, stick, NOW, keep=3)
    source, manifest, _ = choose_copy(stick, NAME)
    left = iter(range(len(manifest.files) - 1))  # all but the last one

    def cut(path: Path, new: Path) -> None:
        if next(left, None) is None:
            raise OSError(errno.EIO, "the power went")
        copy_file(path, new)

    def without_power(folder: Path, mode: int) -> AbstractContextManager[None]:
        folder.mkdir(mode)
        return nullcontext()  # nothing is removed

    with monkeypatch.context() as power:
        power.setattr(backup, "copy_file", cut)
        power.setattr(backup, "new_folder", without_power)
        with pytest.raises(OSError, match="the power went"):
            restore_copy(source, manifest, tmp_path / "new")
    assert (tmp_path / "new" / STORE).exists()
    with pytest.raises(BadEvent):
        open_event(tmp_path / "new")
    restore_copy(source, check_copy(source), tmp_path / "other")
    assert open_event(tmp_path / "other").name == NAME


def test_the_newest_intact_copy_is_restored_and_broken_ones_are_named(event: Path, stick: Path) -> None:
    made = []
    for day in range(3):
        (event / "standings.csv").write_text(str(day))
        made.append(copied(event, stick))
    (made[2] / "deals.json").write_bytes(b"[]")
    chosen, _, broken = choose_copy(stick, NAME)
    assert (chosen, len(broken)) == (made[1], 1)


def test_a_restore_overwrites_nothing(event: Path, stick: Path, tmp_path: Path) -> None:
    copy = copied(event, stick)
    before = contents(event)
    for taken in (event, tmp_path / "file"):
        (tmp_path / "file").touch()
        with pytest.raises(RestoreTaken) as refused:
            restore_copy(copy, check_copy(copy), taken)
        assert refused.value.code == "restore_taken"
    assert contents(event) == before


def test_a_folder_without_an_intact_copy_restores_nothing(event: Path, stick: Path) -> None:
    for source in (stick, stick / "gone"):
        with pytest.raises(BackupMissing) as missing:
            choose_copy(source, None)
        assert missing.value.code == "backup_missing"
    (copied(event, stick) / STORE).unlink()
    with pytest.raises(BackupMissing, match=STORE):
        choose_copy(stick, None)


def test_with_copies_of_several_events_one_must_be_named(event: Path, stick: Path) -> None:
    copied(event, stick)
    (stick / "league-backup-000001-20270115T080000Z").mkdir()
    with pytest.raises(BackupMissing, match="--event"):
        choose_copy(stick, None)
    assert choose_copy(stick, "cup")[1].event == "cup"


def test_a_journal_in_a_database_can_be_restored_into_either_kind_of_store(
    server: Server, event: Path, stick: Path, tmp_path: Path
) -> None:
    there = in_postgresql(tmp_path / "there", server)
    for name in ("event.toml", "movement.csv", "deals.json", "sets.json"):
        shutil.copy(event / name, there.folder / name)
    with there.journal() as journal:
        fill(journal, *whole_event())
        copy = copied(there.folder, stick)
    assert contents(copy).keys() == {*check_copy(copy).files, "backup.json"}
    restore_copy(copy, check_copy(copy), tmp_path / "here")
    assert open_stored_event(tmp_path / "here").state.over
    other = DatabaseAddress(server.address(server.database()), str(there.folder / "store-password"))
    restore_copy(copy, check_copy(copy), tmp_path / "again", other)
    assert not (tmp_path / "again" / STORE).exists()
    assert open_stored_event(tmp_path / "again").state.over
    with pytest.raises(RestoreTaken):
        restore_copy(copy, check_copy(copy), tmp_path / "third", other)
    assert not (tmp_path / "third").exists()
    with Kept(tmp_path / "again").journal() as journal:
        assert list(journal.messages()) == whole_event()


def test_copies_are_ordered_by_number_and_not_by_date() -> None:
    names = [
        "a-backup-000009-20200101T000000Z",
        "a-backup-000010-20190101T000000Z",
        "b-backup-000011-20190101T000000Z",
        "x",
    ]
    assert copy_names(names, "a") == [names[1], names[0]]
    assert next_copy_name(names, "a", 0) == "a-backup-000011-19700101T000000Z"


def test_a_stick_pulled_out_during_a_copy_leaves_no_new_folder(tmp_path: Path) -> None:
    (tmp_path / "event" / "deals").mkdir(parents=True)
    (tmp_path / "event" / "deals" / "first.toml").write_text("deal = 1")
    with pytest.raises(FileNotFoundError):
        copy_event(tmp_path / "event", NAME, tmp_path / "stick" / ".new")
    assert not (tmp_path / "stick").exists()
