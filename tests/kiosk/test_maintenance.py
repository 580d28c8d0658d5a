"""Another device takes a table over with the dead one's card."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.protocol import LogMessage, decode_fact, encode, fact_hash, is_signed_by
from kiosk.config import KEY_FILE, open_device_key
from kiosk.errors import JournalBroken, JournalInUse
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.maintenance import Takeover, find_journal, take_over_journal
from kiosk.table import Phase
from kiosk.table.events import Assigned, CallToggled
from tests.kiosk.journals import CONFIRMED, HAPPENED, OURS, core, played, receipt
from tests.kiosk.standing import CONFIG
from tests.kiosk.tables import EVENT, TABLE, S, plan, play, sitting_in
from tests.refusals import codes


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """Return the journal of a device that died while a hand value was being entered."""
    path = tmp_path / "card" / "table.sqlite"
    with closing(TableJournal(path, OURS)) as journal:
        lived = core(journal)
        for event in sitting_in(Phase.DECLARED).events:
            lived.apply(event)
    return path


def test_a_new_device_continues_where_the_dead_one_stopped(card: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "table.sqlite"
    assert take_over_journal(card, own, OURS) == Takeover(complete=True, facts=4)
    assert played(own) == played(card)


def test_times_of_the_dead_device_are_of_another_clock(card: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "table.sqlite"
    take_over_journal(card, own, OURS)
    with closing(TableJournal(own, OURS)) as journal:
        assert not journal.same_boot


def called(journal: TableJournal, times: int) -> list[LogMessage]:
    """Start a table, and call the arbiter or withdraw the call this many times; return the facts."""
    table = core(journal)
    table.apply(Assigned(at=S, assignment=plan(play(1))))
    toggled = (CallToggled(at=2 * S + at, open=at % 2 == 0) for at in range(times))
    return [message for event in toggled for message in table.apply(event)]


def test_the_latest_writes_in_the_log_are_taken_over_too(tmp_path: Path) -> None:
    """A device that lost its power has not closed its journal."""
    own = tmp_path / "own" / "table.sqlite"
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as dying:
        called(dying, 3)
        assert take_over_journal(tmp_path / "table.sqlite", own, OURS).facts == 3


def test_a_device_in_use_gets_what_the_dead_one_had_to_send_once(tmp_path: Path) -> None:
    own, card = tmp_path / "own" / "table.sqlite", tmp_path / "table.sqlite"
    with closing(TableJournal(card, OURS)) as dead:
        sent = called(dead, 5)
        dead.apply_receipt(receipt(taken={one.seq: one.id for one in (*sent[:2], sent[3])}, upto=4, gaps=(3,)))
    with closing(TableJournal(own, OURS)) as journal:
        journal.apply_receipt(receipt(upto=4, gaps=(3,)))
        (ours,) = called(journal, 1)
    assert [take_over_journal(card, own, OURS) for _ in range(2)] == [
        Takeover(complete=False, facts=facts) for facts in (2, 0)
    ]
    with closing(TableJournal(own, OURS)) as journal:
        waiting = [(one.seq, one.id) for one in journal.unsent()]
    assert waiting == [(3, sent[2].id), (5, ours.id), (6, sent[4].id)]


def test_facts_of_a_newer_program_are_taken_over_whole_though_its_events_cannot_be_replayed(
    card: Path, tmp_path: Path
) -> None:
    """Signing again loses no field and no kind of fact that only the newer program knows."""
    own = tmp_path / "own" / "table.sqlite"
    with closing(sqlite3.connect(card)) as store, store:
        store.execute("INSERT INTO happened (wall, event) VALUES (1, ?)", (b'{"type":"swept","at":1}',))
        bodies = [bytes(body) for (body,) in store.execute("SELECT body FROM outbox ORDER BY seq")]
        newer = bodies[-1].replace(
            b'"fact":{"type":"declared"', b'"fact":{"type":"swept","tiles":[1.5,{"b":1,"a":null}]'
        )
        assert newer != bodies[-1]
        store.execute("UPDATE outbox SET body = ? WHERE seq = ?", (newer, len(bodies)))
    assert take_over_journal(card, own, OURS) == Takeover(complete=False, facts=len(bodies))
    with closing(TableJournal(own, OURS)) as journal:
        assert journal.unsent_bodies() == (*bodies[:-1], newer)
        last = decode_fact(newer)
        journal.apply_receipt(receipt(refused={last.seq: (last.id, "conflict")}, upto=last.seq + 5))
        *_, anew = journal.unsent_bodies()
        again = decode_fact(anew)
        assert (again.seq, again.id, again.device) == (last.seq + 6, last.id, journal.device)
        assert is_signed_by(journal.key.public, anew, again.signature)
        assert (json.loads(anew)["fact"], journal.results()) == (json.loads(newer)["fact"], frozenset())


@pytest.mark.parametrize("other", [JournalOwner("another-cup", TABLE), JournalOwner(EVENT, TABLE + 1)])
def test_the_card_of_another_table_or_event_is_refused_and_nothing_changes(
    card: Path, tmp_path: Path, other: JournalOwner
) -> None:
    own = tmp_path / "own" / "table.sqlite"
    with pytest.raises(JournalBroken):
        take_over_journal(card, own, other)
    assert not own.exists()


@pytest.mark.parametrize("damage", ["none", "empty", "text", "page"])
def test_an_unreadable_card_is_refused_and_nothing_changes(card: Path, tmp_path: Path, damage: str) -> None:
    own, content = tmp_path / "own" / "table.sqlite", card.read_bytes()
    spoilt = {"empty": b"", "text": b"no journal" * 999, "page": content[:4096] + b"\xff" * (len(content) - 4096)}
    card.unlink()
    if damage in spoilt:
        card.write_bytes(spoilt[damage])
    with pytest.raises(JournalBroken):
        take_over_journal(card, own, OURS)
    assert not own.exists()


def test_nothing_is_taken_over_while_a_kiosk_runs(card: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "table.sqlite"
    with closing(TableJournal(own, OURS)), pytest.raises(JournalInUse):
        take_over_journal(card, own, OURS)


def test_the_command_takes_a_card_over(card: Path, tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text(CONFIG.replace('folder = "."', 'folder = "own"'), encoding="utf-8")
    answer = CliRunner().invoke(homologue, ["table", "import", str(config), str(card)])
    assert answer.output == "This device continues where the dead one stopped; 4 facts will be sent.\n"
    assert (tmp_path / "own" / "table.sqlite").stat().st_mode & 0o077 == 0
    refused = CliRunner().invoke(homologue, ["table", "import", str(config), str(config)])
    assert (refused.exit_code, codes(refused.stderr)) == (1, ["journal_broken"])


def test_the_newest_journal_of_the_table_is_found_anywhere_on_a_card(card: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    for place, whose in (
        ("a", JournalOwner("another-cup", TABLE)),
        ("b", JournalOwner(EVENT, TABLE + 1)),
        ("c/old", OURS),
    ):
        TableJournal(stick / place / "table.sqlite", whose).close()
    for log, at in (("table.sqlite", 1), ("table.sqlite-wal", 2)):
        if (stick / "c" / "old" / log).exists():
            os.utime(stick / "c" / "old" / log, (at, at))
    (stick / "d").mkdir()
    (stick / "d" / "table.sqlite").write_text("no journal", encoding="utf-8")
    newest = stick / "home" / "homologue" / "table-3"
    newest.mkdir(parents=True)
    shutil.copy(card, newest)
    assert find_journal(stick, OURS) == newest / "table.sqlite"
    config = tmp_path / "table.toml"
    config.write_text(CONFIG.replace('folder = "."', 'folder = "own"'), encoding="utf-8")
    answer = CliRunner().invoke(homologue, ["table", "import", str(config), str(stick)])
    assert answer.output == "This device continues where the dead one stopped; 4 facts will be sent.\n"
    with pytest.raises(JournalBroken):
        find_journal(stick, JournalOwner(EVENT, 99))


def test_the_command_prints_the_public_key_with_which_the_journal_signs(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text(CONFIG.replace('folder = "."', 'folder = "own"'), encoding="utf-8")
    answer = CliRunner().invoke(homologue, ["table", "key", str(config)])
    with closing(TableJournal(tmp_path / "own" / "table.sqlite", OURS)) as journal:
        assert answer.output == f"key: {journal.key.public}\ndevice: {journal.device}\n"


def test_facts_of_a_dead_device_keep_its_signature_and_later_ones_have_the_new_devices(
    card: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own" / "table.sqlite"
    take_over_journal(card, own, OURS)
    with closing(TableJournal(own, OURS)) as journal:
        *before, after = (*journal.unsent(), *journal.record(HAPPENED, [CONFIRMED], wall=5))
        assert {one.device for one in before} == {open_device_key(card.with_name(KEY_FILE)).device}
        assert (after.device, after.before) == (journal.device, fact_hash(encode(before[-1])))
