"""A table that tells without end: capped, with one alert; others are heard, and so is what it tells afterwards."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from broker.protocol import Call, LogMessage
from broker.scorer.quotas import MOST_OF_A_KIND
from broker.store import MOST_REFUSALS, RefusedRow
from broker.store.journal import MOST_BYTES, MOST_BYTES_IN_ALL, MOST_BYTES_OF_TABLE
from tests.broker.scorer.hall import Hall, make_hall, open_journal, put
from tests.broker.scorer.small import event, fact, result, whole_log, whole_play

DEAL = event().bookings[1, 1].deal


def toggles(numbers: Iterable[int]) -> list[LogMessage]:
    """Let table 1 call and take it back, again and again."""
    return [fact(1, seq, Call(round=1, deal=DEAL, open=seq % 2 == 1)) for seq in numbers]


def flood(hall: Hall, count: int) -> None:
    """Let so many toggles arrive, and whole logs of other tables among them."""
    put(hall.scorer, *toggles(range(1, count // 2)))
    put(hall.scorer, *whole_log(2), *whole_log(4))
    put(hall.scorer, *toggles(range(count // 2, count + 1)))
    while hall.scorer._inbox.qsize():
        hall.scorer.step(timeout=0)


def test_toggles_of_a_call_are_capped_with_one_alert_and_other_tables_are_heard(hall: Hall) -> None:
    flood(hall, 700)
    assert len(hall.scorer.live.intake.books[1].taken) == MOST_OF_A_KIND
    assert hall.alerts().count(("too_many_facts", 1)) == 1
    assert [hall.ear.told(f"receipt/{table}")["upto"] for table in (2, 4)] == [len(whole_log(2)), len(whole_log(4))]


@pytest.mark.slow
def test_30600_toggles_take_little_room_on_the_disk(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        flood(hall, 30_600)
        assert {code for code, table in hall.alerts() if table == 1} == {"too_many_facts", "seq_out_of_range"}
        assert journal.height == MOST_OF_A_KIND + len(whole_log(2)) + len(whole_log(4))
        assert len([*journal.refused()]) == MOST_REFUSALS
    assert sum(file.stat().st_size for file in tmp_path.glob("store.sqlite3*")) < 8_000_000


def test_a_table_that_stops_keeps_its_later_facts_nothing_is_missing_and_a_restart_changes_nothing(
    tmp_path: Path,
) -> None:
    last = MOST_OF_A_KIND + 800
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        hall.hear(*toggles(range(1, last)))
        hall.scorer.step(timeout=0)  # as many as one commit holds, and the rest
        hall.hear(*whole_play(1, first=last))
        said = hall.ear.told("receipt/1")
        assert (said["upto"], said["gaps"], hall.scorer.state.plays_at(1)) == (last + 4, [], 1)
        assert [code for code, _ in hall.alerts()] == ["too_many_facts"]
    with open_journal(tmp_path) as journal:
        again = make_hall(tmp_path, journal)
        again.hear(*whole_play(1, 2, first=last + 5))
        said = again.ear.told("receipt/1")
        assert (said["upto"], said["gaps"], again.alerts()) == (last + 9, [], [])
        assert again.scorer.state.plays_at(1) == 2


def test_what_was_passed_over_and_is_taken_after_all_is_no_refusal_any_more(hall: Hall) -> None:
    book = hall.scorer.live.intake.books[1]
    hall.hear(*toggles(range(1, MOST_OF_A_KIND + 2)))
    assert book.passed_over == {MOST_OF_A_KIND + 1}
    hall.hear(fact(1, MOST_OF_A_KIND + 1, result(1)))
    assert (book.passed_over, book.gaps(), book.upto) == (set(), (), MOST_OF_A_KIND + 1)


def test_refusals_of_one_table_take_so_many_bytes_and_no_more_and_those_of_others_are_kept(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        with journal.commit():
            for number in range(MOST_REFUSALS):
                about = {"table": 1, "seq": number + 1, "id": f"rubbish-{number}"}
                journal.refuse(RefusedRow(1, "malformed", "t" * 60_000, b"x" * MOST_BYTES, **about))  # type: ignore[arg-type]  # its fields
            journal.refuse(RefusedRow(1, "malformed", "topic", b"of another", table=2))
        rows = [*journal.refused()]
    assert len(rows) == MOST_REFUSALS + 1
    assert (
        MOST_BYTES_OF_TABLE - MOST_BYTES < sum(len(row.body) for row in rows if row.table == 1) <= MOST_BYTES_OF_TABLE
    )
    assert (max(len(row.topic) for row in rows), rows[-1].body) == (200, b"of another")
    with open_journal(tmp_path) as journal:  # a restart gives no new room
        with journal.commit():
            journal.refuse(RefusedRow(1, "malformed", "topic", b"x" * MOST_BYTES, table=3))
            assert not journal.refuse(
                RefusedRow(1, "malformed", "t", b"x" * MOST_BYTES, table=1, seq=1000, id="rubbish-999")
            )
        assert MOST_BYTES_IN_ALL > MOST_BYTES_OF_TABLE
