"""A card that takes no writes loses nothing and stops no play: the journal continues elsewhere, and comes back."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from broker.protocol import SEATS, LogMessage, SigningKey
from kiosk.errors import JournalBroken
from kiosk.journal import TableJournal
from kiosk.table import Phase
from tests.kiosk.journals import OURS, core, receipt, told
from tests.kiosk.refusing_card import refusing
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import S
from tests.small_disk import Ballast, small_disk

REFUSES = ("disk: card_refuses",)


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return tmp_path / "table.sqlite"


@pytest.fixture
def spares(tmp_path: Path) -> list[Path]:
    return [tmp_path / "stick" / "event", tmp_path / "memory" / "event"]


@pytest.fixture
def table(tmp_path: Path, spares: list[Path]) -> Iterator[Standing]:
    with standing(tmp_path, spares=spares) as made:
        yield made


def health(table: Standing) -> tuple[str, ...]:
    return table.program.view().line.health


def finish(table: Standing) -> None:
    """Play on to the result."""
    table.press("west")
    table.pass_time(9 * S)
    table.type("1", "8", "enter", "n")
    table.press(*SEATS)
    assert table.is_in(Phase.RECORDED)


def test_a_play_reaches_its_result_while_the_card_takes_no_writes(
    table: Standing, card: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.come_to(Phase.PLAYING)
    sent: list[LogMessage] = []
    monkeypatch.setattr(table.program._server, "send", lambda messages, _: sent.extend(messages))
    with refusing(card):
        finish(table)
        assert table.journal.on_spare
        assert tuple(sent) == table.journal.unsent()[-len(sent) :]
    assert [type(one.fact).__name__ for one in sent] == ["Declared", "Result"]


def test_a_card_that_takes_no_writes_is_reported_until_it_does_and_holds_everything_then(
    table: Standing, card: Path, spares: list[Path]
) -> None:
    table.come_to(Phase.PLAYING)
    with refusing(card):
        table.pass_time(31 * S)
        assert health(table) == REFUSES
        assert table.program._server.state_message().health == {"disk": "card_refuses"}
        finish(table)
        events, unsent = table.happened(), table.journal.unsent()
    table.pass_time(31 * S)
    assert (health(table), table.journal.on_spare) == ((), False)
    assert not (spares[0] / "table.sqlite").exists()
    with closing(sqlite3.connect(card)) as store:
        assert store.execute("SELECT count(*) FROM happened").fetchone() == (len(events),)
    assert (table.happened(), table.journal.unsent()) == (events, unsent)


def test_a_card_whose_file_is_damaged_meanwhile_stops_no_play(table: Standing, card: Path) -> None:
    table.come_to(Phase.PLAYING)
    with refusing(card):
        table.press("west")
    card.write_bytes(b"\xff" * card.stat().st_size)
    card.with_name(f"{card.name}-wal").unlink(missing_ok=True)
    table.pass_time(31 * S)
    assert (health(table), table.journal.on_spare) == (REFUSES, True)


@pytest.mark.parametrize("spoiled", ["rubbish", "cut", "page"])
@pytest.mark.parametrize("at", [0, 1])
def test_a_start_on_a_damaged_card_continues_with_the_spare_that_holds_everything(
    card: Path, spares: list[Path], spoiled: str, at: int
) -> None:
    if at:
        spares[0].parent.mkdir()
        spares[0].touch()
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        told(journal, 200)
        journal._store.execute("PRAGMA wal_checkpoint(RESTART)")
        assert journal._move()
        told(journal, 1)
        everything = [*journal.events()], journal.unsent()
    content = card.read_bytes()
    damaged = {"rubbish": b"\xff" * len(content), "cut": content[:9000], "page": content[:8192] + b"\xff" * 8192}
    card.write_bytes(damaged[spoiled] + (content[16384:] if spoiled == "page" else b""))
    card.with_name(f"{card.name}-wal").unlink(missing_ok=True)
    for more in range(2):
        with closing(TableJournal(card, OURS, spares=spares)) as journal:
            assert len([*journal.events()]) == len(everything[0]) + more
            assert journal.unsent()[: len(everything[1])] == everything[1]
            told(journal, 1)
            journal.try_card()
            assert journal.on_spare is (spoiled != "page")  # a file that is a database is written anew


def test_a_damaged_card_is_reported_if_the_spare_was_not_written_by_this_device(
    card: Path, spares: list[Path], tmp_path: Path
) -> None:
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        told(journal, 2)
    card.write_bytes(b"\xff" * card.stat().st_size)
    card.with_name(f"{card.name}-wal").unlink(missing_ok=True)
    spares[0].mkdir(parents=True)
    shutil.copyfile(forged(tmp_path), spares[0] / "table.sqlite")
    with pytest.raises(JournalBroken):
        TableJournal(card, OURS, spares=spares)


def test_a_read_only_card_that_seems_to_take_writes_is_left_as_well(tmp_path: Path, spares: list[Path]) -> None:
    with small_disk(tmp_path / "card", 200) as folder, standing(folder, spares=spares) as table:
        table.come_to(Phase.PLAYING)
        # The open file can be written as before; by its path, the folder is read-only.
        subprocess.run(["mount", "--bind", folder, folder], check=True)
        try:
            subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
            table.press("west")
            assert table.journal.on_spare
            table.pass_time(31 * S)
            assert health(table) == REFUSES
        finally:
            subprocess.run(["umount", folder], check=True)
        table.pass_time(31 * S)
        assert (health(table), table.journal.on_spare) == ((), False)


def test_after_a_power_cut_the_contents_of_the_spare_are_in_the_journal_once(
    table: Standing, card: Path, tmp_path: Path, spares: list[Path]
) -> None:
    table.come_to(Phase.PLAYING)
    with refusing(card):
        table.press("west")
        table.pass_time(9 * S)
    cut = tmp_path.with_name("cut")
    shutil.copytree(tmp_path, cut)
    for _ in range(2):
        with closing(
            TableJournal(cut / card.name, OURS, spares=[cut / one.relative_to(tmp_path) for one in spares])
        ) as journal:
            assert ([*journal.events()], journal.unsent()) == (table.happened(), table.journal.unsent())
            assert core(journal).state.phase is Phase.DECLARED
            assert (journal.on_spare, (cut / "stick" / "event" / "table.sqlite").exists()) == (False, False)


@pytest.fixture
def readonly(tmp_path: Path) -> Iterator[Path]:
    """Return a read-only file system with a table's journal and its log, as a power cut leaves them."""
    with small_disk(tmp_path / "readonly", 16) as folder:
        with closing(TableJournal(tmp_path / "whole" / "table.sqlite", OURS)) as journal:
            told(journal, 3)
            shutil.copytree(tmp_path / "whole", folder, dirs_exist_ok=True)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        yield folder / "table.sqlite"


def test_a_start_on_a_read_only_card_continues_with_everything_on_it(readonly: Path, spares: list[Path]) -> None:
    for events in (4, 5):
        with closing(TableJournal(readonly, OURS, spares=spares)) as journal:
            told(journal, 1)
            assert (journal.on_spare, len([*journal.events()])) == (True, events)


def test_if_the_stick_takes_no_writes_either_the_journal_continues_in_memory(
    table: Standing, card: Path, spares: list[Path]
) -> None:
    spares[0].parent.mkdir()
    spares[0].touch()  # a file in place of the folder: every write there fails, even for root
    table.come_to(Phase.PLAYING)
    with refusing(card):
        finish(table)
    assert (spares[1] / "table.sqlite").exists()


def test_if_nothing_takes_writes_presses_wait_and_the_screen_stays(
    table: Standing, card: Path, spares: list[Path]
) -> None:
    for one in spares:
        one.parent.mkdir()
        one.touch()
    table.come_to(Phase.PLAYING)
    with refusing(card):
        table.press("west")
        assert table.is_in(Phase.PLAYING)
        table.pass_time(31 * S)
        assert health(table) == ("disk: journal_full",)
    table.pass_time(31 * S)
    assert (table.is_in(Phase.DECLARED), health(table)) == (True, ())


def test_facts_of_a_stick_that_was_away_meanwhile_join_those_of_the_card_once(card: Path, spares: list[Path]) -> None:
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        told(journal, 40)
        with refusing(card):
            (elsewhere,) = told(journal, 1)
            shutil.copytree(spares[0], spares[0].with_name("pulled"))
        before = journal.unsent()[:-1]
        journal.apply_receipt(receipt(taken={one.seq: one.id for one in before}))
    shutil.rmtree(spares[0], ignore_errors=True)
    with closing(sqlite3.connect(card)) as store:
        store.execute("DELETE FROM happened WHERE number > 40")
        store.execute("DELETE FROM outbox WHERE seq > 40")
        store.commit()
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        (here,) = told(journal, 1)
        journal._store.execute("UPDATE happened SET wall = 6 WHERE number = 41")
    spares[0].with_name("pulled").rename(spares[0])
    for _ in range(2):
        with closing(TableJournal(card, OURS, spares=spares)) as journal:
            assert [one.id for one in journal.unsent() if one.seq > 40] == [here.id, elsewhere.id]


def forged(folder: Path) -> Path:
    """Return a journal of this event and table, made by somebody who does not have the device's key."""
    other = folder / "made at home" / "table.sqlite"
    with closing(TableJournal(other, OURS, SigningKey.new())) as journal:
        told(journal, 3)
    return other


@pytest.mark.parametrize("before", [0, 2])
def test_facts_on_a_stick_that_this_device_has_not_signed_are_left_alone(
    card: Path, spares: list[Path], tmp_path: Path, before: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A stick is swapped in two seconds: this device would sign what is on it, and the scorer would believe it."""
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        told(journal, before)
        mine = journal.unsent()
    spares[0].mkdir(parents=True)
    shutil.copyfile(forged(tmp_path), spares[0] / "table.sqlite")
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        assert journal.unsent() == mine
    assert (spares[0] / "table.sqlite").exists()
    assert "spare_journal_foreign" in caplog.text


def test_triggers_on_a_stick_never_come_to_the_card(card: Path, spares: list[Path]) -> None:
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        told(journal, 1)
    spares[0].mkdir(parents=True)
    shutil.copyfile(card, spares[0] / "table.sqlite")
    with closing(sqlite3.connect(spares[0] / "table.sqlite")) as stick:
        stick.execute("INSERT INTO happened SELECT number + 1, wall, event FROM happened")
        stick.execute("CREATE TRIGGER more AFTER INSERT ON happened BEGIN DELETE FROM outbox; END")
        stick.commit()
    with closing(TableJournal(card, OURS, spares=spares)) as journal:
        assert len(journal.unsent()) == 1
        told(journal, 1)
        assert len(journal.unsent()) == 2


def test_a_card_without_room_is_left_in_the_same_way(tmp_path: Path, spares: list[Path]) -> None:
    with (
        small_disk(tmp_path / "small", 0.6) as small,
        closing(TableJournal(small / "table.sqlite", OURS, spares=spares)) as journal,
    ):
        ballast = Ballast(small)
        ballast.fill()
        sent = told(journal, 200)
        assert (journal.on_spare, journal.unsent()) == (True, tuple(sent))
        ballast.remove()
        journal.try_card()
        assert (journal.on_spare, journal.unsent()) == (False, tuple(sent))
