"""Journals of earlier programs can be opened; the file beside this one was written by such a program.

A table also plays on from journals of later programs, after an upgrade that did not stay.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from broker.protocol import SEATS, LogMessage, Result, RiichiRecorded, RiichiTakenBack, decode, fact_hash, is_signed_by
from broker.protocol.play_sequence import TableSequence
from kiosk.errors import JournalNewer
from kiosk.journal import TableJournal
from kiosk.table import Phase, riichi_session_of
from kiosk.table.events import NextDealCalled
from tests.kiosk.journals import OURS, core, played
from tests.kiosk.riichi_tables import session_plan
from tests.kiosk.standing import Standing, Time, standing
from tests.kiosk.tables import S, play, sitting_in

BEFORE_SIGNATURES: Final = Path(__file__).parent / "version_4" / "table.sqlite"
"""Two complete plays with all facts unsent, written before facts were signed (f3e3066c)."""


def test_a_table_continues_with_a_journal_from_before_signatures(tmp_path: Path) -> None:
    path = shutil.copy(BEFORE_SIGNATURES, tmp_path)
    with closing(sqlite3.connect(path)) as store:
        told = [decode(LogMessage, body) for (body,) in store.execute("SELECT body FROM outbox ORDER BY seq")]
    journal = TableJournal(Path(path), OURS)
    assert core(journal).state == sitting_in(Phase.FINISHED).table
    unsent = journal.unsent_bodies()
    kept = [decode(LogMessage, body) for body in unsent]
    assert [(one.id, one.seq, one.at, one.fact) for one in kept] == [
        (one.id, one.seq, one.at, one.fact) for one in told
    ]
    assert all(is_signed_by(journal.key.public, body, one.signature) for body, one in zip(unsent, kept, strict=True))
    journal.close()


SIGNED: Final = BEFORE_SIGNATURES.parent / "signed"
"""In the second play, with all facts unsent and signed, written by the program of 25 November 2026 (1cd2f2f4)."""


def test_a_table_plays_on_from_signed_facts_which_stay_as_they_are(tmp_path: Path) -> None:
    folder = shutil.copytree(SIGNED, tmp_path, dirs_exist_ok=True)
    with closing(sqlite3.connect(folder / "table.sqlite")) as store:
        told = [body for (body,) in store.execute("SELECT body FROM outbox ORDER BY seq")]
    with standing(folder) as table:
        assert (table.phase, table.program.state.play) == (Phase.PLAYING, play(2))
        assert table.journal.unsent_bodies()[: len(told)] == tuple(told)
        facts, key = [decode(LogMessage, body) for body in told], table.journal.key.public
        assert all(is_signed_by(key, body, one.signature) for body, one in zip(told, facts, strict=True))
        assert [one.before for one in facts] == [None, *map(fact_hash, told[:-1])]


OPTIONAL: Final = '{"type":"weather_told","at":1,"optional":true,"degrees":21}'
UNKNOWN: Final = '{"type":"tiles_exchanged","at":1,"seats":["east","west"]}'
UNKNOWN_VALUE: Final = '{"type":"tray_checked","at":1,"seat":"east","rows":[],"by":"glove"}'
NOT_ALLOWED: Final = '{"type":"next_deal_called","at":1}'


def write_event(path: Path, event: str) -> list[tuple[bytes]]:
    """Write an event as a newer program does; return all events."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("INSERT INTO happened (wall, event) VALUES (1, ?)", (event.encode(),))
        return store.execute("SELECT event FROM happened ORDER BY number").fetchall()


def kept_aside(path: Path, name: str) -> list[tuple[bytes]]:
    with closing(sqlite3.connect(path)) as store:
        return store.execute(f"SELECT event FROM {name} ORDER BY number").fetchall()  # noqa: S608 - a name of ours


def play_to_its_result(table: Standing) -> None:
    table._restore()
    while not table.is_in(Phase.PLAYING):
        table.press(*SEATS)
    table.time.wait(5 * S)
    table.type("d")
    table.pass_time(9 * S)
    table.press(*SEATS)
    assert table.is_in(Phase.RECORDED)


def test_optional_additions_of_a_newer_program_are_skipped(tmp_path: Path) -> None:
    path = Path(shutil.copy(BEFORE_SIGNATURES, tmp_path))
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE happened SET event = CAST(json_insert(event, '$.felt', 'damp') AS BLOB)")
    write_event(path, OPTIONAL)
    assert played(path) == sitting_in(Phase.FINISHED).table


@pytest.mark.parametrize("newer", [UNKNOWN, UNKNOWN_VALUE, NOT_ALLOWED])
def test_an_unknown_event_that_is_not_optional_is_reported(tmp_path: Path, newer: str) -> None:
    path = tmp_path / "table.sqlite"
    TableJournal(path, OURS).close()
    write_event(path, newer)
    with pytest.raises(JournalNewer) as told:
        played(path)
    assert told.value.code == "journal_newer"


@pytest.mark.parametrize("newer", [UNKNOWN, UNKNOWN_VALUE, NOT_ALLOWED])
def test_a_table_begins_its_play_again_if_a_newer_program_has_continued_it(tmp_path: Path, newer: str) -> None:
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.RECORDED)
        table.type("enter")
        table._restore()
        while not table.is_in(Phase.PLAYING):
            table.press(*SEATS)
        told = table.journal.unsent_bodies()
    written = write_event(tmp_path / "table.sqlite", newer)
    with standing(tmp_path, time) as table:
        assert (table.phase, table.program.state.play) == (Phase.RESTORING, play(2))
        assert table.journal.unsent_bodies() == told
        assert kept_aside(tmp_path / "table.sqlite", "happened_1") == written
        assert table.program._server.state_message().health == {"facts": "journal_newer"}
        play_to_its_result(table)
        assert table.program._server.state_message().health == {}
        results = [one.fact for one in table.journal.unsent() if isinstance(one.fact, Result)]
        assert [(one.round, one.deal) for one in results] == [(1, 1), (2, 2)]
    with standing(tmp_path, time) as table:
        assert table.is_in(Phase.RECORDED)


def play_a_hand(table: Standing) -> None:
    """Play a hand of a session that ends with an empty wall and nobody tenpai."""
    if table.is_in(Phase.RECORDED):
        table.type("enter")
    if table.is_in(Phase.CONFIRMING):
        table.press(*SEATS)
    table.time.wait(5 * S)
    table.type("d")
    table.pass_time(9 * S)
    table.type("enter")
    table.press(*SEATS)
    assert table.is_in(Phase.RECORDED)


def take_back(table: Standing) -> None:
    table.type("u", "enter")
    assert table.is_in(Phase.PLAYING)


def entries_told(table: Standing) -> list[RiichiRecorded]:
    return [one.fact for one in table.journal.unsent() if isinstance(one.fact, RiichiRecorded)]


@pytest.mark.parametrize(
    ("hands", "stands"),
    [
        pytest.param((play_a_hand, play_a_hand), 2, id="two hands"),
        pytest.param((play_a_hand, play_a_hand, take_back), 1, id="the last one taken back"),
        pytest.param((play_a_hand, take_back), 0, id="the only one taken back"),
    ],
)
def test_a_session_continues_where_it_was_when_a_newer_program_is_left(
    tmp_path: Path, hands: tuple[Callable[[Standing], None], ...], stands: int
) -> None:
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.CONFIRMING, session_plan())
        scores = [riichi_session_of(table.program.state).state.scores]
        for hand in hands:
            hand(table)
            if hand is play_a_hand:
                scores.append(riichi_session_of(table.program.state).state.scores)
    write_event(tmp_path / "table.sqlite", UNKNOWN)
    with standing(tmp_path, time) as table:
        session = riichi_session_of(table.program.state)
        assert (table.phase, session.recorded, session.state.scores) == (Phase.CONFIRMING, stands, scores[stands])
        play_a_hand(table)
        assert entries_told(table)[-1].entry == stands + 1
        as_the_scorer_judges = TableSequence([1], frozenset({1}))
        for one in table.journal.unsent():
            as_the_scorer_judges.follow(one.fact)


def test_a_session_waits_for_its_scorer_if_its_standing_is_not_known_here(tmp_path: Path) -> None:
    """Another device has made the earlier entries."""
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.CONFIRMING, session_plan())
        play_a_hand(table)
        last = entries_told(table)[-1]
    other = tmp_path / "other"
    other.mkdir()
    with standing(other, time) as table:
        table.come_to(Phase.CONFIRMING, session_plan(standing=last.standing))
        taken_back = RiichiTakenBack(round=1, deal=1, entry=5)
        table.journal.record(NextDealCalled(at=1), [replace(last, entry=8), taken_back], wall=1)
    with standing(other, time) as table:
        assert table.program.state.session is None
        assert table.program._server.state_message().health == {"facts": "journal_newer"}


def test_the_events_of_each_newer_program_that_is_left_are_kept(tmp_path: Path) -> None:
    time, written = Time(), dict[str, list[tuple[bytes]]]()
    for name in ("happened_1", "happened_2"):
        with standing(tmp_path, time) as table:
            table.come_to(Phase.RESTORING)
        written[name] = write_event(tmp_path / "table.sqlite", UNKNOWN)
    with standing(tmp_path, time) as table:
        assert table.is_in(Phase.RESTORING)
    assert {name: kept_aside(tmp_path / "table.sqlite", name) for name in written} == written
