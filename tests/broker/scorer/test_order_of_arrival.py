"""Whatever the order in which messages arrive, and however often: the room ends the same."""

from collections.abc import Iterable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.messages import LogMessage
from broker.scorer.intake import Intake
from broker.scorer.room import Room
from broker.scorer.service import Scorer
from broker.scorer.view import as_json
from tests.broker.scorer.hall import open_journal, put
from tests.broker.scorer.small import OTHER_FORM, event, fact, restored, sent, whole_event
from tests.examples import COSTLY

TOLD = whole_event()


@st.composite
def arrivals(draw: st.DrawFn) -> list[LogMessage]:
    """Give all messages of the event in any order, some of them twice or more."""
    chance: Random = draw(st.randoms(use_true_random=True))
    resent = chance.choices(TOLD, k=draw(st.integers(0, 60)))
    arriving = [*TOLD, *resent]
    chance.shuffle(arriving)
    return arriving


def heard(messages: Iterable[LogMessage]) -> tuple[Intake, Room]:
    intake, room = Intake(event(), []), Room(event())
    for message in messages:
        verdict = intake.judge(*sent(message))
        assert verdict.code is None
        if verdict.new:
            intake.take(message)
            room.apply(message)
    return intake, room


def summary(intake: Intake, room: Room) -> object:
    """Give all that is told from a room."""
    books = {table: (book.upto, book.gaps(), book.refused, book.taken) for table, book in intake.books.items()}
    return books, room.groups(), list(room.standings()), room.final, [room.complete(deal) for deal in event().expected]


STRAIGHT_INTAKE, STRAIGHT_ROOM = heard(TOLD)
STRAIGHT = summary(STRAIGHT_INTAKE, STRAIGHT_ROOM)


def test_the_event_of_these_tests_is_whole() -> None:
    intake, room = heard(TOLD)
    assert room.final
    assert [book.gaps() for book in intake.books.values()] == [()] * 4
    assert len(room.groups()) == 5  # four deals, one of them in two forms


@given(arrivals())
def test_the_room_ends_the_same_in_any_order(arriving: list[LogMessage]) -> None:
    assert summary(*heard(arriving)) == STRAIGHT


@given(arrivals())
def test_a_room_is_what_its_journal_says_at_any_moment(arriving: list[LogMessage]) -> None:
    half = arriving[: len(arriving) // 2]
    intake, room = heard(half)
    journal = [message for book in intake.books.values() for message in book.taken.values()]
    again = Room(event())
    for message in journal:
        again.apply(message)
    assert summary(Intake(event(), journal), again) == summary(intake, room)


@given(arrivals(), st.lists(st.integers(1, 30), min_size=1, max_size=8))
@COSTLY
def test_a_scorer_ends_the_same_in_any_order_and_in_any_batches(arriving: list[LogMessage], sizes: list[int]) -> None:
    with TemporaryDirectory() as folder, open_journal(Path(folder)) as journal:
        scorer = Scorer(event(), journal, Path(folder), lambda: 0)
        waiting = list(arriving)
        while waiting:
            for size in sizes:
                batch, waiting = waiting[:size], waiting[size:]
                put(scorer, *batch)
                scorer.step(timeout=0)
        assert summary(scorer._intake, scorer._room) == STRAIGHT
        assert journal.height == len(TOLD)
        assert list(journal.refused()) == []
        again = Scorer(event(), journal, Path(folder), lambda: 0)
        assert summary(again._intake, again._room) == STRAIGHT


def test_what_is_said_of_the_tiles_after_the_result_changes_no_imp() -> None:
    late = fact(1, 99, restored(1, 1, OTHER_FORM))
    _, room = heard([*TOLD, late])
    assert room.groups() == STRAIGHT_ROOM.groups()


@given(arrivals(), st.integers(8, 60))
@COSTLY
def test_what_is_shown_after_each_batch_is_what_a_scorer_shows_that_starts_there(
    arriving: list[LogMessage], size: int
) -> None:
    with TemporaryDirectory() as name, open_journal(Path(name)) as journal:
        scorer = Scorer(event(), journal, Path(name), lambda: 0)
        for begin in range(0, len(arriving), size):
            put(scorer, *arriving[begin : begin + size])
            scorer.step(timeout=0)
            again = Scorer(event(), journal, Path(name), lambda: 0)
            shown, anew = (as_json(replace(one.feed.current, version=0, alerts=())) for one in (scorer, again))
            assert shown == anew
