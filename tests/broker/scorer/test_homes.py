"""A restored store, or one with missing messages, recovers the desk's decisions and reports those that nobody has."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Final

import pytest
from msgspec.structs import replace

from broker.protocol import (
    DealPlayed,
    DeviceAdmitted,
    FineRuled,
    Kept,
    KeptBack,
    KeptRecord,
    LogMessage,
    Ruling,
    SigningKey,
    Void,
    encode,
    topics,
)
from broker.rulings.final import draft_stage
from broker.scorer import open_stored_event
from broker.scorer.homes import FEWEST_HOMES, Seal
from broker.scorer.service import Scorer
from broker.store import DEVICES, STORE, DeskDecision, Journal, SqliteJournal
from broker.store.second_home import SecondHome, SecondHomeWriter
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from tests.broker.rulings.ruled import HEAD, contents, draft
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.hall import Clock, Ear, Hall, admitting, make_hall
from tests.broker.scorer.small import NAME, event, log, result, steps, steps_to, whole_event
from tests.broker.scorer.staged import STAGES, play_rounds, staged_event, staged_plan

PLAYER: Final = event().bookings[2, 1].players["south"]
FINE: Final = FineRuled(takes={PLAYER: 8})


@contextmanager
def hall_in(folder: Path, home: SecondHome | None = None) -> Iterator[Hall]:
    """Start a scorer in a folder, and connect it."""
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        if home is None:
            hall = make_hall(folder, journal)
        else:
            clock, ear = Clock(), Ear()
            scorer = admitting(Scorer(event(), journal, folder, clock, home=home))
            hall = Hall(scorer, journal, folder, ear, clock)
            hall.scorer.publisher.link = ear
        hall.scorer.live.devices.admissions.number = hall.scorer.live.homes.numbers.highest_given(DEVICES)
        hall.connect(up=True)
        yield hall


def rule(hall: Hall, number: int) -> None:
    """Make the ruling with a number: a fine of 8 IMP, or a void play."""
    room = hall.scorer.rulings.room
    one = draft(room, FINE, (2, 1)) if number == 1 else draft(room, Void(), (number, 1))
    hall.scorer.rulings.give(one, HEAD)
    hall.scorer.step(timeout=0)


def rulings(journal: Journal) -> list[int]:
    """Return the numbers of the rulings in a journal."""
    return [one.number for one in journal.messages() if isinstance(one, Ruling)]


def kept(hall: Hall, table: int) -> tuple[KeptRecord, ...]:
    """Return the records that a table has to store, as published last."""
    return [one for one in hall.ear.heard(f"kept/{table}") if isinstance(one, Kept)][-1].records


def give_back(hall: Hall, table: int, *records: KeptRecord) -> None:
    """Let a table return records."""
    message = KeptBack(id="given-back", event=NAME, table=table, records=records)
    hall.arrive(topics.KEPT_BACK.at(NAME, table=table), encode(message))


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A copy of an event that is older than its desk's rulings. The event itself is in `event`."""
    folder = event_folder(tmp_path / "event", until_round(3))
    shutil.copytree(folder, tmp_path / "older", ignore=shutil.ignore_patterns("*.lock", "*.witness"))
    return tmp_path / "older"


def test_rulings_are_recovered_from_the_second_home_before_anything_counts(older: Path, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    home = SecondHome(tmp_path / "second", NAME)
    rest = [one for one in whole_event() if one.fact.round == 4]
    with hall_in(older.with_name("event")) as hall:
        with SecondHomeWriter(home, older, print) as writer:
            hall.scorer.live.homes.write_to(writer)
            for number in (1, 2):
                rule(hall, number)
                assert writer.wait()
            hall.hear(*rest[:3])
        before = [*hall.scorer.state.snapshot().ranking]
    with hall_in(older, home) as hall:
        assert rulings(hall.journal) == [1, 2]
        assert [
            (one.code, one.values) for one in hall.scorer.feed.current.alerts if one.code.startswith(("rul", "st"))
        ] == [
            ("store_shrunk", {"count": 3, "tables": numbers(rest[:3]), "rulings": "-"}),
            ("rulings_back", {"numbers": "1-2"}),
        ]
        hall.hear(*rest[:3])
        assert [*hall.scorer.state.snapshot().ranking] == before
    with hall_in(older, home) as hall:
        assert (rulings(hall.journal), hall.alerts()) == ([1, 2], [])


def numbers(facts: list[LogMessage]) -> str:
    """Return facts by table, as alerts name them."""
    named: dict[int, list[int]] = {}
    for one in facts:
        named.setdefault(one.table, []).append(one.seq)
    return "; ".join(
        f"{table}: {seqs[0]}-{seqs[-1]}" if len(seqs) > 1 else f"{table}: {seqs[0]}"
        for table, seqs in sorted(named.items())
    )


def test_rulings_are_recovered_from_the_tables_that_store_them(older: Path, tmp_path: Path) -> None:
    """The whole way: scorer, a table's journal, and a restored scorer. The copy has the event's key."""
    with hall_in(older.with_name("event")) as hall:
        shutil.copy(hall.folder / "event.key", older / "event.key")
        for number in (1, 2):
            rule(hall, number)
        at_table = kept(hall, 2)
        standings = [*hall.scorer.state.snapshot().ranking]
    assert len(at_table) == 2
    with closing(TableJournal(tmp_path / "table" / "journal", JournalOwner(NAME, 2))) as table:
        assert table.store_records(at_table) == ()
    with hall_in(older) as hall, closing(TableJournal(tmp_path / "table" / "journal", JournalOwner(NAME, 2))) as table:
        assert (kept(hall, 2), rulings(hall.journal)) == ((), [])
        back = table.store_records(kept(hall, 2))
        assert back == at_table
        give_back(hall, 2, *back)
        assert (rulings(hall.journal), hall.alerts()) == ([1, 2], [("rulings_back", None)])
        assert [*hall.scorer.state.snapshot().ranking] == standings
        assert table.store_records(kept(hall, 2)) == ()
        give_back(hall, 2, *back)
        assert rulings(hall.journal) == [1, 2]
    with hall_in(older) as hall:
        assert [*hall.scorer.state.snapshot().ranking] == standings


def test_a_recovered_ruling_waits_for_earlier_ones_and_new_ones_do_not_use_their_numbers(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hall_in(older.with_name("event")) as hall:
        shutil.copy(hall.folder / "event.key", older / "event.key")
        for number in (1, 2, 3):
            rule(hall, number)
        first, second, third = (record_of(hall, number) for number in (1, 2, 3))
    with hall_in(older) as hall:
        give_back(hall, 1, third)
        assert rulings(hall.journal) == []
        hall.scorer.rulings.give(draft(hall.scorer.rulings.room, Void(), (4, 1), id="a-new-ruling"), HEAD)
        assert rulings(hall.journal) == [4]
        give_back(hall, 2, first)
        assert rulings(hall.journal) == [4, 1]
        now = hall.scorer._seconds()
        monkeypatch.setattr(hall.scorer, "_seconds", lambda: now + 3600)
        hall.scorer.step(timeout=0)
        assert rulings(hall.journal) == [4, 1, 3]
        assert [one.values for one in hall.scorer.feed.current.alerts if one.code == "rulings_missing"][:1] == [
            {"numbers": "2"}
        ]
        give_back(hall, 3, second)
    with hall_in(older) as hall:
        assert rulings(hall.journal) == [4, 1, 3, 2]
        assert [entry.number for entry in hall.scorer.rulings.history()] == [1, 2, 3, 4]
        assert hall.alerts() == []


def record_of(hall: Hall, number: int) -> KeptRecord:
    """Return a ruling as stored by a table."""
    id_ = next(entry.id for entry in hall.scorer.rulings.history() if entry.number == number)
    return next(record for table in (1, 2, 3, 4) for record in kept(hall, table) if record.id == id_)


def test_a_recovered_ruling_whose_number_was_reused_is_reported_and_does_not_count(older: Path) -> None:
    with hall_in(older.with_name("event")) as hall:
        shutil.copy(hall.folder / "event.key", older / "event.key")
        rule(hall, 1)
        (record,) = kept(hall, 2)
    with hall_in(older) as hall:
        room = hall.scorer.rulings.room
        hall.scorer.rulings.give(draft(room, Void(), (3, 1), id="another-ruling"), HEAD)
        give_back(hall, 2, record)
        assert rulings(hall.journal) == [1]
        assert hall.alerts()[-1] == ("ruling_too_late", 2)


def test_no_table_can_forge_or_alter_a_ruling(older: Path) -> None:
    with hall_in(older.with_name("event")) as hall:
        shutil.copy(hall.folder / "event.key", older / "event.key")
        rule(hall, 1)
        (record,) = kept(hall, 2)
        ruling = next(one for one in hall.journal.messages() if isinstance(one, Ruling))
    forged = Seal(NAME, SigningKey.new()).close((7, encode(ruling)), ruling.id)
    renamed = KeptRecord(id="another-id", sealed=record.sealed)
    garbage = KeptRecord(id="garbage-1", sealed="AAAA")
    with hall_in(older) as hall:
        for one in (forged, renamed, garbage):
            give_back(hall, 2, one)
        assert (rulings(hall.journal), {code for code, _ in hall.alerts()}) == ([], {"kept_unproven"})


def test_a_table_cannot_read_the_records_it_stores(older: Path) -> None:
    with hall_in(older.with_name("event")) as hall:
        rule(hall, 1)
        (record,) = kept(hall, 2)
        assert PLAYER not in record.sealed
        assert hall.scorer.wire.newest(kind="kept") is not None
        assert {one.text for one in hall.scorer.wire.newest(kind="kept")} == {None}


def test_each_ruling_is_stored_by_its_own_table_and_by_others(older: Path) -> None:
    with hall_in(older.with_name("event")) as hall:
        for number in (1, 2, 3):
            rule(hall, number)
        homes = {
            entry.number: {table for table in (1, 2, 3, 4) if entry.id in {one.id for one in kept(hall, table)}}
            for entry in hall.scorer.rulings.history()
        }
    assert [len(tables) for tables in homes.values()] == [FEWEST_HOMES] * 3
    assert 2 in homes[1]
    assert 3 in homes[3]


def test_a_record_is_sealed_the_same_way_each_time() -> None:
    seal = Seal(NAME, SigningKey.new())
    ruling = b'{"no":"ruling"}'
    assert seal.close((7, ruling), "id-1") == seal.close((7, ruling), "id-1")
    assert seal.open(seal.close((7, ruling), "id-1")) is None


FIRST, SECOND, THIRD = "first-device", "second-device", "third-device"


def decide(hall: Hall, *acts: tuple[str, str]) -> None:
    """Admit devices at table 1, or revoke them, one after the other."""
    for number, (act, device) in enumerate(acts):
        if act == "revoke":
            hall.scorer.live.devices.revoke(1, device, "it was stolen", "Marta", "marta")
        else:
            id_ = f"{hall.folder.name}-{device}-{number}"
            admitted = DeviceAdmitted(id=id_, event=NAME, number=1, table=1, device=device, key=None, at=1)
            hall.scorer.live.devices.record(admitted)
        hall.scorer.step(timeout=0)


def speaking(hall: Hall) -> set[str]:
    """Return the devices that may speak for table 1, without those that always may."""
    return {one.device for one in hall.scorer.live.devices.admissions.all() if one.table == 1} & {
        FIRST,
        SECOND,
        THIRD,
    }


DECIDED: Final = [
    ([("revoke", FIRST)], {SECOND}),
    ([("admit", THIRD)], {FIRST, SECOND, THIRD}),
    ([("admit", THIRD), ("revoke", THIRD)], {FIRST, SECOND}),
    (
        [
            ("revoke", FIRST),
            ("admit", FIRST),
            ("revoke", FIRST),
            ("revoke", SECOND),
        ],
        set(),
    ),
]
"""What was decided after a copy was made, and which devices may speak then."""


@pytest.mark.parametrize(("acts", "left"), DECIDED)
@pytest.mark.parametrize("numbers_taken", [1, 2, 3])
@pytest.mark.parametrize("at_tables", [False, True])
def test_device_records_are_recovered_although_their_numbers_were_reused(
    older: Path, tmp_path: Path, acts: list[tuple[str, str]], left: set[str], numbers_taken: int, *, at_tables: bool
) -> None:
    (tmp_path / "second").mkdir()
    home, event_ = SecondHome(tmp_path / "second", NAME), older.with_name("event")
    with hall_in(older) as hall:
        decide(hall, ("admit", FIRST), ("admit", SECOND))
    shutil.rmtree(event_)
    shutil.copytree(older, event_, ignore=shutil.ignore_patterns("*.lock", "*.witness"))
    with hall_in(event_) as hall, SecondHomeWriter(home, older, print) as writer:
        hall.scorer.live.homes.write_to(writer)
        decide(hall, *acts)
        assert writer.wait()
        assert speaking(hall) == left
        records = {one.id: one for table in (1, 2, 3, 4) for one in kept(hall, table)}
    with hall_in(older) as hall:
        decide(hall, *(("admit", f"other-device-{number}") for number in range(numbers_taken)))
        if at_tables:
            give_back(hall, 2, *records.values())
            assert speaking(hall) == left
    for home_ in (None, None) if at_tables else (home, home, None):
        with hall_in(older, home_) as hall:
            assert speaking(hall) == left


def test_a_changed_ruling_is_repaired_from_the_second_home(older: Path, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    folder, home = older.with_name("event"), SecondHome(tmp_path / "second", NAME)
    with hall_in(folder) as hall, SecondHomeWriter(home, older, print) as writer:
        hall.scorer.live.homes.write_to(writer)
        for number in (1, 2):
            rule(hall, number)
    path = folder / STORE
    whole = path.read_bytes()
    assert whole.count(b'"takes":{"%b":8}' % PLAYER.encode()) == 1
    path.write_bytes(whole.replace(b'"takes":{"%b":8}' % PLAYER.encode(), b'"takes":{"%b":2}' % PLAYER.encode()))
    with hall_in(folder) as hall:
        assert (rulings(hall.journal), sorted(hall.alerts())) == (
            [2],
            [("ruling_altered", None), ("rulings_missing", None)],
        )
    with hall_in(folder, home) as hall:
        assert (rulings(hall.journal), hall.alerts()) == ([2, 1], [("rulings_back", None)])
        assert [entry.number for entry in hall.scorer.rulings.history()] == [1, 2]
    with hall_in(folder) as hall:
        assert hall.alerts() == []


def alter_reasons(folder: Path) -> None:
    """Change a byte of each ruling in the store's file, as a failing disk does."""
    path = folder / STORE
    path.write_bytes(path.read_bytes().replace(b"seen by the arbiter", b"seen by the orbiter"))


def test_facts_that_depend_on_a_missing_ruling_are_kept_and_count_once_it_is_recovered(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "event", [])
    with hall_in(folder) as hall:
        hall.scorer.rulings.give(draft(hall.scorer.state, DealPlayed(played=3, result=None), (1, 1)), HEAD)
        hall.scorer.step(timeout=0)
        hall.hear(*log(1, *steps_to(replace(result(1, 1), deal=3)), *steps(1, 2)))
        at_table, before = kept(hall, 1), contents(hall.scorer.state)
    alter_reasons(folder)
    assert open_stored_event(folder).state.plays_at(1) == 1
    with hall_in(folder) as hall:
        assert (hall.scorer.state.plays_at(1), hall.scorer.state.apart_plays()) == (1, [])
        assert (hall.ear.told("receipt/1")["upto"], hall.ear.told("receipt/1")["gaps"]) == (10, [])
        give_back(hall, 1, *at_table)
        assert contents(hall.scorer.state) == before
    with hall_in(folder) as hall:
        assert (contents(hall.scorer.state), hall.alerts()) == (before, [])


def test_without_the_seating_of_the_final_the_scorer_goes_on_without_its_plays(tmp_path: Path) -> None:
    folder, chance, said = event_folder(tmp_path / "event", [], staged_plan()), Random(2), dict[int, int]()
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal, staged_event())
        room = hall.scorer.state
        hall.hear(*play_rounds(room.planned, (1, 2), chance, said))
        whole = contents(room)
        hall.scorer.rulings.give(draft(room, draft_stage(room, STAGES[1])), HEAD)
        hall.hear(*play_rounds(room.planned, (3,), chance, said))
        assert contents(room) != whole
    alter_reasons(folder)
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal, staged_event())
        assert contents(hall.scorer.state) == whole


def test_recovered_decisions_keep_their_bytes(older: Path) -> None:
    decided: list[DeskDecision] = []
    with hall_in(older.with_name("event")) as hall:
        hall.journal.follow(lambda new, _: decided.extend(new))
        rule(hall, 1)
    assert [(type(one.message), one.body) for one in decided] == [(Ruling, encode(decided[0].message))]
