"""`homologue store`: one command each, and what it says."""

import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.store import store
from broker.scorer.stored_event import open_stored_event
from broker.store import STORE, open_journal
from broker.web.tables.event_pin import EventPin
from tests.broker.scorer.small import NAME, whole_event
from tests.broker.store.server import PASSWORD, Server


def ask(*words: object) -> Result:
    return CliRunner().invoke(store, [str(word) for word in words])


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    (tmp_path / "stick").mkdir()
    return tmp_path / "stick"


def test_an_event_is_copied_checked_and_restored_with_a_command_each(over: Path, stick: Path, tmp_path: Path) -> None:
    EventPin(over / "arbiter-pin").set("2468", "2468", 1000)
    made = ask("backup", over, "--to", stick)
    assert (made.exit_code, made.output.split(": ")[1]) == (0, "read back and whole\n")
    checked = ask("check", stick)
    assert (checked.exit_code, f"cup, {len(whole_event())} messages" in checked.output) == (0, True)
    restored = ask("restore", stick, tmp_path / "new")
    assert (restored.exit_code, open_stored_event(tmp_path / "new").room.final) == (0, True)
    pin = tmp_path / "new" / "arbiter-pin"
    assert (EventPin(pin).kept(), pin.stat().st_mode & 0o077) == (EventPin(over / "arbiter-pin").kept(), 0)
    again = ask("restore", stick, tmp_path / "new")
    assert (again.exit_code, again.output.split(": ")[1]) == (1, "restore_taken")


def test_a_broken_copy_is_named_and_passed_over(over: Path, stick: Path, tmp_path: Path) -> None:
    ask("backup", over, "--to", stick)
    (over / "standings.csv").write_text("new")
    ask("backup", over, "--to", stick)
    *_, newest = sorted(stick.iterdir())
    with sqlite3.connect(newest / STORE) as connection:
        connection.execute("UPDATE about SET value = 'x' WHERE key = 'event'")
    connection.close()
    checked = ask("check", stick)
    assert (checked.exit_code, checked.output.count("backup_broken")) == (1, 1)
    restored = ask("restore", stick, tmp_path / "new")
    assert (restored.exit_code, restored.stderr.startswith(f"passed over: {newest.name}")) == (0, True)


def test_a_journal_moves_into_a_database_once(over: Path, server: Server, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.touch(mode=0o600)
    password.write_text(PASSWORD)
    words = ("move", over, "--to", server.address(server.database()), "--store-password", password)
    moved = ask(*words)
    assert (moved.exit_code, moved.output.split()[0]) == (0, str(len(whole_event()))), moved.output
    assert open_stored_event(over).room.final
    journal = open_journal(over, NAME)
    assert list(journal.messages()) == whole_event()
    journal.close()
    assert not (over / STORE).exists()
    again = ask(*words)
    assert (again.exit_code, again.output.split(": ")[1]) == (1, "store_missing")
    (over / f"{STORE}.moved").rename(over / STORE)
    (over / "store.toml").unlink()
    taken = ask(*words)
    assert (taken.exit_code, taken.output.split(": ")[1]) == (1, "restore_taken")
    assert (over / STORE).exists()


def test_a_journal_that_a_scorer_works_on_does_not_move(over: Path, server: Server) -> None:
    journal = open_journal(over, NAME)
    try:
        refused = ask("move", over, "--to", server.address(server.database()))
    finally:
        journal.close()
    assert (refused.exit_code, refused.output.split(": ")[1]) == (1, "store_in_use")


def test_a_folder_that_is_no_event_is_told(tmp_path: Path, stick: Path) -> None:
    refused = ask("backup", tmp_path, "--to", stick)
    assert (refused.exit_code, refused.output.split(": ")[1]) == (1, "no_event")
