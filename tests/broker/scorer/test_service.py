"""The scorer at work: it commits, then acknowledges, then publishes, and publishes nothing that is not stored."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import OperationalError

from broker.errors import BadEvent, StoreBroken
from broker.event import Event
from broker.protocol import ArbiterPin, Fine, Message, Player, Receipt
from broker.scorer import DashboardView
from broker.scorer.service import MOST_AT_ONCE, PendingCall
from broker.store import SqliteJournal
from tests.broker.scorer.hall import Hall, make_hall, open_journal, put
from tests.broker.scorer.small import (
    NAME,
    OUTCOMES,
    deals,
    event,
    fact,
    plan,
    registry,
    restored,
    result,
    sent,
    state,
    whole_event,
    whole_log,
    whole_play,
)

FIRST, *REST, RESULT = whole_play(1)


def test_a_result_is_committed_then_acknowledged_then_published(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = hall.journal.commit

    @contextmanager
    def telling() -> Iterator[None]:
        with commit():
            yield
        hall.ear.story.append("committed")

    monkeypatch.setattr(hall.journal, "commit", telling)
    hall.hear(FIRST, *REST)
    hall.ear.forget()
    hall.hear(RESULT)
    assert hall.ear.story == [
        "committed",
        "acknowledged",
        "hm/cup/receipt/1",
        "hm/cup/assignment/1",
        "hm/cup/traveller/1",
        "hm/cup/standings",
    ]


class FullDisk:
    """Stands in for a connection to SQLite: everything works except the commit."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def exec_driver_sql(self, statement: str) -> CursorResult[Any]:
        """Fail as SQLite does when the disk is full."""
        if statement == "COMMIT":
            raise OperationalError(statement, None, sqlite3.OperationalError("database or disk is full"))
        return self._connection.exec_driver_sql(statement)


def test_nothing_is_acknowledged_or_published_when_the_commit_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        hall.hear(FIRST)
        hall.ear.forget()
        before = hall.scorer.feed.current
        monkeypatch.setattr(journal, "_connection", FullDisk(journal._connection))
        with pytest.raises(StoreBroken):
            hall.hear(RESULT)
        assert hall.ear.story == []
        assert hall.scorer.feed.current is before
    with open_journal(tmp_path) as journal:
        assert list(journal.messages()) == [FIRST]


def test_a_scorer_that_cannot_store_ends_and_leaves_the_broker(
    hall: Hall, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_connection", FullDisk(journal._connection))
    put(hall.scorer, FIRST, ear=hall.ear)
    with pytest.raises(StoreBroken):
        hall.scorer.run(threading.Event())
    assert hall.ear.story == ["stopped"]


def test_a_scorer_that_is_stopped_leaves_the_broker(hall: Hall) -> None:
    stop = threading.Event()
    stop.set()
    hall.scorer.run(stop)
    assert hall.ear.story == ["stopped"]


def test_a_step_without_messages_changes_nothing(hall: Hall) -> None:
    before = hall.scorer.feed.current
    hall.scorer.step(timeout=0)
    assert hall.scorer.feed.current is before


def test_a_resent_fact_is_acknowledged_and_gets_a_receipt(hall: Hall) -> None:
    hall.hear(FIRST)
    hall.ear.forget()
    hall.hear(FIRST)
    assert hall.ear.story == ["acknowledged", "hm/cup/receipt/1"]
    assert hall.journal.height == 1


def test_a_refused_fact_is_acknowledged_stored_separately_and_reported(hall: Hall) -> None:
    wrong = fact(1, 1, replace(result(1), profile="mcr"))
    hall.hear(wrong)
    assert hall.ear.story == ["acknowledged", "hm/cup/receipt/1", "hm/cup/alert"]
    assert hall.ear.told("receipt/1")["refused"] == [{"seq": 1, "id": wrong.id, "code": "wrong_profile"}]
    (row,) = hall.journal.refused()
    assert (row.code, row.topic, row.body, row.table, row.seq, row.id) == (
        "wrong_profile",
        *sent(wrong),
        1,
        1,
        wrong.id,
    )
    assert (hall.journal.height, hall.scorer.feed.current.plays_in) == (0, 0)


@pytest.mark.parametrize(
    ("topic", "payload", "code"),
    [
        ("hm/cup/table/1/log", b"\xff?", "malformed"),
        ("hm/cup/table/1/log", b"x" * 24_000, "too_large"),
        ("", b"", "unknown_topic"),
        ("hm/cup/table/1/state", b"", "malformed"),
    ],
)
def test_rubbish_is_acknowledged_and_stored_separately(hall: Hall, topic: str, payload: bytes, code: str) -> None:
    hall.arrive(topic, payload)
    assert hall.ear.story == ["acknowledged", "hm/cup/alert"]
    (row,) = hall.journal.refused()
    assert (row.code, row.topic, row.table) == (code, topic, 1 if topic else None)
    assert payload.startswith(row.body)


def test_a_bad_message_does_not_affect_others_in_its_batch(hall: Hall) -> None:
    hall.hear(FIRST, fact(1, 2, result(2)), fact(2, 1, restored(2)))
    assert list(hall.journal.messages()) == [FIRST, fact(2, 1, restored(2))]


def test_messages_beyond_one_commit_are_handled_in_the_next(hall: Hall) -> None:
    put(hall.scorer, *[FIRST] * (MOST_AT_ONCE + 1), ear=hall.ear)
    hall.scorer.step(timeout=0)
    assert hall.ear.story.count("acknowledged") == MOST_AT_ONCE
    hall.scorer.step(timeout=0)
    assert hall.ear.story.count("acknowledged") == MOST_AT_ONCE + 1


def test_everything_retained_is_published_again_on_every_connection(hall: Hall) -> None:
    hall.hear(*whole_log(1))
    hall.ear.forget()
    hall.connect(up=False)
    assert (hall.ear.story, hall.scorer.feed.current.connected) == ([], False)
    hall.connect(up=True)
    assert hall.scorer.feed.current.connected
    assert sorted(hall.ear.story) == sorted(
        [
            f"hm/cup/{kind}/{table}"
            for kind in ("receipt", "assignment", "pin", "served", "kept")
            for table in range(1, 5)
        ]
        + [f"hm/cup/{kind}/{deal}" for kind in ("traveller", "public/deal") for deal in range(1, 5)]
        + ["hm/cup/standings", "hm/cup/public/places"]
    )
    assert {retain for _, _, retain in hall.ear.said} == {True}


def test_many_deals_are_published_again_in_slices_while_connected(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.scorer.publisher.SLICE_S", 0.0)

    def deals() -> list[str]:
        return [topic for topic in hall.ear.story if "/traveller/" in topic]

    hall.connect(up=True)
    begun = deals()
    hall.connect(up=False)
    hall.scorer.step(timeout=0)
    assert deals() == begun != []
    hall.ear.forget()
    hall.connect(up=True)
    for _ in range(5):
        hall.scorer.step(timeout=0)
    assert sorted(deals()) == [f"hm/cup/traveller/{deal}" for deal in range(1, 5)]


def test_a_restarted_scorer_publishes_what_the_first_one_did(tmp_path: Path) -> None:
    heard: list[tuple[list[Message], DashboardView]] = []
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        hall.hear(*whole_event())
    for _ in range(2):
        with open_journal(tmp_path) as journal:
            hall = make_hall(tmp_path, journal, seconds=lambda: 100.0)  # long messages are published in slices
            hall.connect(up=True)
            said = [
                replace(
                    message, id="00000000", **({"signature": None} if isinstance(message, Receipt | ArbiterPin) else {})
                )
                for message in hall.ear.heard("")
            ]
            heard.append((said, hall.scorer.feed.current))
    assert heard[0] == heard[1]
    assert (heard[0][1].final, heard[0][1].plays_in) == (False, 16)


def test_every_message_of_the_scorer_is_accepted_by_its_readers(hall: Hall) -> None:
    hall.connect(up=True)
    hall.hear(*whole_event(), fact(1, 1, restored(1), at=5), state(1), state(1, device="kiosk-0002"))
    said = hall.ear.heard("")
    assert {type(message).__name__ for message in said} == {
        "ScorerState",
        "Kept",
        "Receipt",
        "Assignment",
        "Served",
        "ArbiterPin",
        "Traveller",
        "Standings",
        "Alert",
        "PublicTraveller",
        "PublicStandings",
    }
    assert {message.event for message in said} == {NAME}
    assert len({message.id for message in said}) == len(said)


def test_a_play_with_a_result_is_named_in_the_assignment(hall: Hall) -> None:
    hall.hear(*whole_log(2))
    assert [one["round"] for one in hall.ear.told("assignment/2")["plays"]] == [1, 2, 3, 4]
    assert hall.ear.told("assignment/2")["recorded"] == [1, 2, 3, 4]


def test_a_traveller_has_all_plays_of_a_deal_and_whether_it_is_complete(hall: Hall) -> None:
    hall.hear(*whole_log(1))
    first = hall.ear.told("traveller/1")
    assert (first["complete"], first["expected"], len(first["plays"])) == (False, 4, 1)
    hall.hear(*whole_event())
    last = hall.ear.told("traveller/1")
    assert (last["complete"], [play["table"] for play in last["plays"]]) == (True, [1, 2, 3, 4])


def test_a_traveller_has_imps_and_fines_separately(hall: Hall) -> None:
    fined = result(1, fines={"south": Fine(imp=8, reason="false hu")})
    other = next(table for table in (2, 3, 4) for r in (2, 3, 4) if event().bookings[table, r].deal == fined.deal)
    round_ = next(r for r in (2, 3, 4) if event().bookings[other, r].deal == fined.deal)
    hall.hear(*whole_play(1, 1, OUTCOMES[1], fined.fines), *whole_play(other, round_, OUTCOMES[0], forward=True))
    plays = {play["table"]: play["seats"]["south"] for play in hall.ear.told(f"traveller/{fined.deal}")["plays"]}
    # -8 and 0 points: the datum is -4, which is worth 1 to each side.
    assert (plays[1]["imp"], plays[1]["fine"], plays[other]["imp"], plays[other]["fine"]) == (-1, 8, 1, 0)
    standing = {row["player"]: (row["imp"], row["fines"]) for row in hall.ear.told("standings")["rows"]}
    assert standing[fined.players["south"]] == (-9, 8)


def test_standings_count_the_plays_and_are_not_final_by_themselves(hall: Hall) -> None:
    *before, last = whole_event()
    hall.hear(*before)
    assert (hall.ear.told("standings")["final"], hall.ear.told("standings")["plays_in"]) == (False, 15)
    hall.hear(last)
    told = hall.ear.told("standings")
    assert (told["final"], told["plays_in"], told["plays_expected"], len(told["rows"])) == (False, 16, 16, 16)


def test_the_standings_file_is_kept_up_to_date(hall: Hall) -> None:
    file = hall.folder / "standings.csv"
    assert len(file.read_text().splitlines()) == 17
    before = file.read_bytes()
    hall.hear(*whole_event())
    assert file.read_bytes() != before
    assert file.read_text().splitlines()[1].startswith("1,")


def without_table_4() -> Event:
    return Event(replace(plan(), plays=tuple(play for play in plan().plays if play.table != 4)), deals(), registry())


def without_the_last_player() -> Event:
    """Return the plan with p17 instead of p16."""
    players = (*plan().players[:-1], Player(id="p17", name="Player 17"))
    plays = tuple(
        replace(play, players={seat: "p17" if player == "p16" else player for seat, player in play.players.items()})
        for play in plan().plays
    )
    return Event(replace(plan(), players=players, plays=plays), deals(), registry())


@pytest.mark.parametrize("changed", [without_table_4, without_the_last_player])
def test_a_plan_that_does_not_fit_the_store_is_refused_at_the_start(
    tmp_path: Path, journal: SqliteJournal, changed: Callable[[], Event]
) -> None:
    make_hall(tmp_path, journal).hear(*whole_event())
    with pytest.raises(BadEvent, match="which does not fit the plan"):
        make_hall(tmp_path, journal, changed())


def test_the_version_of_the_view_increases_with_every_step(hall: Hall) -> None:
    versions = [hall.scorer.feed.current.version]
    for message in whole_log(1):
        hall.hear(message)
        versions.append(hall.scorer.feed.current.version)
    assert versions == list(range(len(whole_log(1)) + 1))


def test_an_answered_request_and_everything_before_it_are_in_the_view(hall: Hall) -> None:
    seen = list[int]()
    asked = PendingCall(lambda: None)
    asked.answer.add_done_callback(lambda _: seen.append(hall.scorer.feed.current.plays_in))
    put(hall.scorer, *whole_play(1))
    hall.scorer._inbox.put(asked)
    hall.scorer.step(timeout=0)
    assert seen == [1]


ALL_OF_A_TABLE = [f"hm/cup/{one}/1" for one in ("receipt", "assignment", "kept", "pin", "served")]


def test_a_table_that_connects_gets_everything_retained_for_it(hall: Hall) -> None:
    """A broker may lose messages that are published while a device subscribes."""
    for hello in (state(1), state(1), state(1, start=2), state(1, lifecycle="lost"), state(1, start=2, count=2)):
        hall.ear.forget()
        hall.hear(hello)
        told = [topic for topic in hall.ear.story if topic != "acknowledged"]
        gone = hello.lifecycle == "lost"
        assert told == ([] if gone else ALL_OF_A_TABLE), hello


def test_a_table_with_a_new_state_gets_nothing_it_already_has(hall: Hall) -> None:
    hall.hear(state(1))
    hall.ear.forget()
    hall.hear(state(1, seq=1, count=2))
    assert hall.ear.story == ["acknowledged"]
