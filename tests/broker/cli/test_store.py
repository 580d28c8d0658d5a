"""`homologue store`: backup, check, restore, verify and move, and their output."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.event import save_event
from broker.people.anchors import anchor_of
from broker.protocol import FineRuled, LogMessage, Receipt, topics
from broker.protocol.link import Incoming
from broker.protocol.signing import EVENT_KEY_FILE, open_event_key
from broker.scorer import open_stored_event
from broker.scorer.service import Scorer
from broker.store import STORE, LogHead, SqliteJournal, anchor_text, open_journal
from broker.store.second_home import SecondHome, SecondHomeWriter
from broker.web.tables.event_pin import EventPin
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.server import read_message
from kiosk.table.events import NextDealCalled
from kiosk.uplink import Uplink
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.hall import Clock, Ear, Hall, make_hall
from tests.broker.scorer.small import NAME, deals, event, list_devices, plan, registry, steps, whole_event
from tests.broker.store.server import PASSWORD, Server
from tests.broker.store.stores import Kept
from tests.refusals import codes


def ask(*words: object) -> Result:
    return CliRunner().invoke(homologue, ["store", *map(str, words)])


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    (tmp_path / "stick").mkdir()
    return tmp_path / "stick"


def test_an_event_can_be_backed_up_checked_and_restored(over: Path, stick: Path, tmp_path: Path) -> None:
    EventPin(over / "arbiter-pin").set("2468", "2468", 1000)
    made = ask("backup", over, "--to", stick)
    assert (made.exit_code, made.output.split(": ")[1]) == (0, "read back and whole\n")
    checked = ask("check", stick)
    assert (checked.exit_code, f"cup, {len(whole_event())} messages" in checked.output) == (0, True)
    restored = ask("restore", stick, tmp_path / "new")
    assert (restored.exit_code, open_stored_event(tmp_path / "new").room.over) == (0, True)
    pin = tmp_path / "new" / "arbiter-pin"
    assert (EventPin(pin).kept(), pin.stat().st_mode & 0o077) == (EventPin(over / "arbiter-pin").kept(), 0)
    again = ask("restore", stick, tmp_path / "new")
    assert (again.exit_code, *codes(again.stderr)) == (1, "restore_taken")


@contextmanager
def scorer_in(folder: Path) -> Iterator[Hall]:
    journal = open_journal(folder, NAME)
    try:
        scorer, ear = Scorer(event(), journal, folder, Clock()), Ear()
        scorer.publisher.link = ear
        hall = Hall(scorer, journal, folder, ear, Clock())
        hall.connect(up=True)
        yield hall
    finally:
        journal.close()


def talk(table: TableJournal, hall: Hall, event_key: str) -> list[str | None]:
    """Let a paired table send its unsafe facts and handle the receipts; return each receipt's error code or None."""
    uplink = Uplink(table, Ear(), NAME, 1)
    codes = list[str | None]()

    def hear() -> None:
        for topic, payload, _ in hall.ear.said:
            if topic == topics.RECEIPT.at(NAME, table=1):
                receipt, code = read_message(Incoming(topic, payload, lambda: None), event_key)
                codes.append(code)
                if isinstance(receipt, Receipt):
                    uplink.take(receipt, 0)
        hall.ear.forget()

    hear()
    for body in table.unsent_bodies():
        hall.arrive(topics.LOG.at(NAME, table=1), body)
    hear()
    return codes


def test_a_paired_table_trusts_a_scorer_restored_on_another_machine(stick: Path, tmp_path: Path) -> None:
    """A copy contains the event's key; the table would not trust receipts signed with another one."""
    first, second = tmp_path / "first", tmp_path / "second"
    save_event(first, plan(), deals(), registry())
    paired = open_event_key(first).public
    with closing(TableJournal(tmp_path / "table" / "journal", JournalOwner(NAME, 1))) as table:
        with scorer_in(first) as hall:
            hall.scorer.live.devices.admit(1, table.key.public, "pi-1")
            for number, said in enumerate(steps(1)):
                table.record(NextDealCalled(at=number), [said], wall=number)
                assert set(talk(table, hall, paired)) == {None}
                if number == 1:
                    assert ask("backup", first, "--to", stick).exit_code == 0
            assert table.unsent() == ()
        assert ask("restore", stick, second).exit_code == 0
        assert (second / EVENT_KEY_FILE).stat().st_mode & 0o777 == 0o600
        with scorer_in(second) as hall:
            assert ("event_key_changed", None) not in hall.alerts()
            assert set(talk(table, hall, paired)) == {None}
            stored = [one.fact for one in hall.journal.messages() if isinstance(one, LogMessage)]
        assert (stored, table.unsent()) == ([*steps(1)], ())


def test_a_copy_made_before_the_event_began_is_restored_with_its_key(stick: Path, tmp_path: Path) -> None:
    save_event(tmp_path / "first", plan(), deals(), registry())
    key = open_event_key(tmp_path / "first").public
    for words in (
        ("backup", tmp_path / "first", "--to", stick),
        ("check", stick),
        ("restore", stick, tmp_path / "new"),
    ):
        assert ask(*words).exit_code == 0
    assert open_event_key(tmp_path / "new").public == key


def test_a_broken_copy_is_reported_and_skipped(over: Path, stick: Path, tmp_path: Path) -> None:
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
    assert (restored.exit_code, restored.stderr.startswith(f"skipped: {newest.name}")) == (0, True)


def decided(folder: Path, home: SecondHome, *facts: LogMessage) -> None:
    """Fine a player 8 IMP at a desk with a second home, then let tables send facts."""
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        with SecondHomeWriter(home, folder, print) as writer:
            hall.scorer.live.homes.write_to(writer)
            player = hall.scorer.state.planned.bookings[2, 1].players["south"]
            fine = draft(hall.scorer.rulings.room, FineRuled(takes={player: 8}), (2, 1))
            hall.scorer.rulings.give(fine, HEAD)
            assert writer.wait()
            hall.hear(*facts)


def test_restoring_an_old_copy_recovers_rulings_and_lists_what_is_missing(
    under_way: Path, stick: Path, tmp_path: Path
) -> None:
    ask("backup", under_way, "--to", stick)
    (tmp_path / "second").mkdir()
    last = [one for one in whole_event() if one.fact.round == 4][:2]
    decided(under_way, SecondHome(tmp_path / "second", NAME), *last)
    before = open_stored_event(under_way)
    restored = ask("restore", stick, tmp_path / "new", "--second-home", tmp_path / "second")
    assert restored.exit_code == 0, restored.output
    missing = f"{last[0].table}: {last[0].seq}-{last[1].seq}"
    assert restored.output.splitlines()[1:] == [
        "Rulings 1 of the desk came back from their second home.",
        f"Messages that were stored are missing: 2. By table: {missing}. Rulings of the desk: -.",
        "once the scorer has started, tables send their messages again, and the rulings that they keep",
    ]
    after = open_stored_event(tmp_path / "new")
    assert [entry.id for entry in after.room.book.entries.values()] == [*before.room.book.entries]
    with closing(SqliteJournal(tmp_path / "new" / STORE, NAME)) as journal:
        hall = make_hall(tmp_path / "new", journal)
        hall.connect(up=True)
        assert hall.alerts() == [("store_shrunk", None)]
        hall.hear(*last)
        assert [*hall.scorer.state.snapshot().ranking] == [*before.room.snapshot().ranking]


def test_a_newer_damaged_copy_shows_what_a_restored_one_lacks(under_way: Path, stick: Path, tmp_path: Path) -> None:
    ask("backup", under_way, "--to", stick)
    last = [one for one in whole_event() if one.fact.round == 4][:2]
    (tmp_path / "second").mkdir()
    decided(under_way, SecondHome(tmp_path / "second", NAME), *last)
    ask("backup", under_way, "--to", stick)
    (max(stick.iterdir()) / "event.toml").write_text("rotten")
    restored = ask("restore", stick, tmp_path / "new")
    missing = f"{last[0].table}: {last[0].seq}-{last[1].seq}"
    assert f"Messages that were stored are missing: 3. By table: {missing}. Rulings of the desk: 1." in restored.output


def test_verify_reports_every_altered_row_of_a_store(over: Path, stick: Path) -> None:
    list_devices(over, range(1, 5))
    whole = ask("verify", over)
    assert (whole.exit_code, whole.output) == (
        0,
        f"{over}: cup, {len(whole_event())} messages; each as it was written\n",
    )
    ask("backup", over, "--to", stick)
    Kept(over).force("UPDATE journal SET received_at = 7 WHERE height = 5")
    row = whole_event()[4]
    altered = ask("verify", over)
    assert (altered.exit_code, altered.output.splitlines()) == (
        1,
        [
            f"row_altered: row 5 (table {row.table}, fact {row.seq}) is not as it was written",
            f"{over}: cup, {len(whole_event()) - 1} messages; rows that fail verification: 1",
        ],
    )
    told = json.loads(ask("verify", over, "--json").output)
    assert told["faults"] == [
        {"code": "row_altered", "height": 5, "table": row.table, "seq": row.seq, "id": row.id},
    ]
    ask("backup", over, "--to", stick)
    assert ask("verify", min(stick.iterdir())).exit_code == 0
    assert ask("verify", sorted(stick.iterdir())[1]).exit_code == 1
    checked = ask("check", stick)
    assert (checked.exit_code, checked.output.count("row_altered")) == (1, 1)


def test_an_anchor_holds_unless_an_earlier_row_is_changed(over: Path) -> None:
    list_devices(over, range(1, 5))
    anchor = anchor_of(over)
    count = len(whole_event())
    held = ask("verify", over, "--anchor", anchor)
    lines = held.output.splitlines()
    assert (held.exit_code, lines[-1]) == (
        0,
        f"the anchor holds: {count} messages and 0 entries of the audit log are unchanged",
    )
    told = json.loads(ask("verify", over, "--anchor", anchor, "--json").output)
    assert told["anchor"] == {"code": None, "messages": count, "entries": 0, "rows": [], "entry": None}
    Kept(over).force("UPDATE journal SET body = CAST(replace(body, 'cup', 'cap') AS BLOB) WHERE height = 5")
    changed = ask("verify", over, "--anchor", anchor)
    assert (changed.exit_code, changed.output.splitlines()[2].split(":")[0]) == (1, "anchor_changed")
    told = json.loads(ask("verify", over, "--anchor", anchor, "--json").output)["anchor"]
    assert (told["code"], [row["height"] for row in told["rows"]]) == ("anchor_changed", [5])
    Kept(over).force("DELETE FROM journal WHERE height > 20")
    gone = json.loads(ask("verify", over, "--anchor", anchor, "--json").output)["anchor"]
    assert gone == {"code": "anchor_changed", "messages": None, "entries": None, "rows": [], "entry": None}


@pytest.mark.parametrize("code", ["anchor_mistyped", "anchor_of_another_event"])
def test_a_mistyped_or_foreign_anchor_is_an_error(over: Path, code: str) -> None:
    typed = "7K2M-9QXD" if code == "anchor_mistyped" else anchor_text("league", bytes(32), LogHead())
    refused = ask("verify", over, "--anchor", typed)
    assert (refused.exit_code, *codes(refused.stderr)) == (1, code)
    assert json.loads(ask("verify", over, "--anchor", typed, "--json").output)["error"]["code"] == code


def test_a_folder_without_a_store_is_an_error_in_json_too(tmp_path: Path) -> None:
    told = ask("verify", tmp_path, "--json")
    assert (told.exit_code, json.loads(told.output)["error"]["code"]) == (1, "bad_event")
    assert codes(ask("verify", tmp_path).stderr) == ["bad_event"]


def test_a_journal_moves_into_a_database_once(over: Path, server: Server, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.touch(mode=0o600)
    password.write_text(PASSWORD)
    words = ("move", over, "--to", server.address(server.database()), "--store-password", password)
    moved = ask(*words)
    assert (moved.exit_code, moved.output.split()[0]) == (0, str(len(whole_event()))), moved.output
    assert open_stored_event(over).room.over
    journal = open_journal(over, NAME)
    assert list(journal.messages()) == whole_event()
    journal.close()
    assert not (over / STORE).exists()
    again = ask(*words)
    assert (again.exit_code, *codes(again.stderr)) == (1, "store_missing")
    (over / f"{STORE}.moved").rename(over / STORE)
    (over / "store.toml").unlink()
    taken = ask(*words)
    assert (taken.exit_code, *codes(taken.stderr)) == (1, "restore_taken")
    assert (over / STORE).exists()


def test_a_journal_in_use_cannot_be_moved(over: Path, server: Server) -> None:
    journal = open_journal(over, NAME)
    try:
        refused = ask("move", over, "--to", server.address(server.database()))
    finally:
        journal.close()
    assert (refused.exit_code, *codes(refused.stderr)) == (1, "store_in_use")


def test_a_folder_that_is_not_an_event_is_refused(tmp_path: Path, stick: Path) -> None:
    refused = ask("backup", tmp_path, "--to", stick)
    assert (refused.exit_code, *codes(refused.stderr)) == (1, "no_event")
