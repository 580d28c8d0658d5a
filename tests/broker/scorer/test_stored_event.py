"""An event is read from its folder, even while a scorer is running."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from broker.errors import BadEvent, StoreBroken, StoreMissing
from broker.scorer import EventState, open_stored_event
from broker.store import STORE, SqliteJournal
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.small import NAME, event, whole_event


def contents(folder: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_stored_state_is_the_one_of_the_scorer(over: Path) -> None:
    room = EventState(event())
    for message in whole_event():
        room.apply(message)
    stored = open_stored_event(over)
    assert (stored.state.results, list(stored.state.snapshot().ranking)) == (
        room.results,
        list(room.snapshot().ranking),
    )
    assert [(result.round, message.table) for message, result in stored.results()] == sorted(
        (round_, table) for table, round_ in room.results
    )


def test_reading_changes_nothing_and_leaves_no_files(over: Path) -> None:
    before = contents(over)
    open_stored_event(over)
    assert contents(over) == before


def test_a_read_only_folder_can_be_read(over: Path) -> None:
    (over / STORE).chmod(0o400)
    over.chmod(0o500)
    try:
        assert open_stored_event(over).state.over
    finally:
        over.chmod(0o700)


def test_a_running_scorer_is_not_hindered_and_its_latest_messages_are_read(tmp_path: Path) -> None:
    folder = event_folder(tmp_path, until_round(3))
    journal = SqliteJournal(folder / STORE, NAME)
    try:
        last = [message for message in whole_event() if message.fact.round == 4]
        with journal.commit():
            journal.append(last[0], 0)
            assert len(list(open_stored_event(folder).results())) == 12
            for message in last[1:]:
                journal.append(message, 0)
        assert open_stored_event(folder).state.over
    finally:
        journal.close()


def test_a_folder_name_is_not_parsed_as_part_of_an_address(tmp_path: Path) -> None:
    assert open_stored_event(event_folder(tmp_path / "cup 100% ? mode=rw#1")).state.over


def test_a_folder_without_a_store_is_reported(over: Path) -> None:
    (over / STORE).unlink()
    with pytest.raises(StoreMissing) as problem:
        open_stored_event(over)
    assert problem.value.code == "store_missing"
    assert not (over / STORE).exists()


@pytest.mark.parametrize("broken", [b"", b"no store", b"SQLite format 3\0" + bytes(500)])
def test_a_broken_store_is_reported(over: Path, broken: bytes) -> None:
    (over / STORE).write_bytes(broken)
    with pytest.raises(StoreBroken):
        open_stored_event(over)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE about SET value = 'another' WHERE key = 'event'",
        "UPDATE about SET value = '3' WHERE key = 'version'",
    ],
)
def test_a_store_of_another_event_or_version_is_refused(over: Path, change: str) -> None:
    store = sqlite3.connect(over / STORE)
    store.execute(change)
    store.commit()
    store.close()
    with pytest.raises(StoreBroken):
        open_stored_event(over)


def test_a_folder_without_an_event_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadEvent):
        open_stored_event(tmp_path)
