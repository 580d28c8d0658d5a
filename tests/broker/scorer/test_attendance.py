"""Which arbiter goes to which call, and who has seen which alert.

The first one counts, and a restart forgets nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.errors import CallAttended
from broker.protocol import Call, LogMessage
from broker.scorer import AlertView, TableView
from broker.scorer.alerts import Attendance
from broker.scorer.service import PendingCall
from broker.scorer.view import Attending
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import event, fact, restored, state

ANNE, BO = ("anne", "Anne Roy"), ("bo", "Bo Lin")


@contextmanager
def open_hall(folder: Path) -> Iterator[Hall]:
    """Start a scorer on the store in a folder, and stop it afterwards."""
    with open_journal(folder) as journal:
        yield make_hall(folder, journal)


def call(seq: int, at: int = NOW, *, is_open: bool = True) -> LogMessage:
    return fact(1, seq, Call(round=1, deal=event().bookings[1, 1].deal, open=is_open), at=at)


def ask(hall: Hall, work: Callable[[Attendance], object]) -> None:
    """Have work done as the desk does."""
    asked = PendingCall(lambda: work(hall.scorer.live.attendance))
    hall.scorer._inbox.put(asked)
    hall.scorer.step(timeout=0)
    asked.answer.result(0)


def card(hall: Hall) -> TableView:
    return hall.scorer.feed.current.tables[0]


def go(hall: Hall, who: tuple[str, str], seen: int = 0) -> None:
    ask(hall, lambda attended: attended.attend(1, card(hall).calling_since, seen, *who))


def alert(hall: Hall, code: str = "unverified") -> AlertView:
    return next(one for one in hall.scorer.feed.current.alerts if one.code == code)


def test_everybody_sees_who_goes_to_a_call_but_the_table_only_that_somebody_comes(hall: Hall) -> None:
    hall.hear(state(1, calling=True), call(1))
    assert (card(hall).attended, hall.ear.told("served/1")["arbiter_coming"]) == (None, False)
    go(hall, ANNE)
    assert card(hall).attended == Attending(*ANNE, NOW)
    assert hall.ear.told("served/1")["arbiter_coming"]
    assert not any(b"Anne" in body or b"anne" in body for _, body, _ in hall.ear.said)


def test_of_two_who_press_at_once_the_first_goes_and_the_second_may_take_over_knowingly(hall: Hall) -> None:
    hall.hear(state(1, calling=True), call(1))
    go(hall, ANNE)
    with pytest.raises(CallAttended, match="Anne Roy"):
        go(hall, BO)
    go(hall, ANNE)  # pressing twice changes nothing
    assert card(hall).attended == Attending(*ANNE, NOW)
    go(hall, BO, seen=NOW)
    assert card(hall).attended == Attending(*BO, NOW + 1)
    with pytest.raises(CallAttended, match="Bo Lin"):
        ask(hall, lambda attended: attended.leave(1, card(hall).calling_since, NOW, ANNE[0]))


def test_only_the_arbiter_who_goes_can_say_that_they_no_longer_do(hall: Hall) -> None:
    hall.hear(state(1, calling=True), call(1))
    go(hall, ANNE)
    with pytest.raises(CallAttended):
        ask(hall, lambda attended: attended.leave(1, card(hall).calling_since, NOW, BO[0]))
    for _ in range(2):
        ask(hall, lambda attended: attended.leave(1, card(hall).calling_since, NOW, ANNE[0]))
    assert (card(hall).attended, hall.ear.told("served/1")["arbiter_coming"]) == (None, False)


def test_attendance_ends_with_its_call_and_a_later_call_has_nobody(hall: Hall) -> None:
    hall.hear(state(1, calling=True), call(1))
    hall.clock.read = lambda: NOW + 90
    go(hall, ANNE)
    hall.hear(state(1, count=2), call(2, NOW + 50, is_open=False))  # its clock is behind
    assert card(hall).attended is None
    hall.hear(state(1, count=3, calling=True), call(3, NOW + 60))
    assert (card(hall).calling, card(hall).attended) == (True, None)
    assert not hall.ear.told("served/1")["arbiter_coming"]
    go(hall, BO)
    assert card(hall).attended is not None


def test_a_table_that_calls_again_at_once_hears_that_nobody_comes_yet(hall: Hall) -> None:
    hall.hear(state(1, calling=True), call(1))
    go(hall, ANNE)
    hall.clock.read = lambda: NOW + 90
    hall.hear(call(2, NOW + 1, is_open=False), call(3, NOW + 2))
    assert (card(hall).attended, hall.ear.told("served/1")["arbiter_coming"]) == (None, False)


def test_a_call_known_only_from_the_state_can_be_attended(hall: Hall) -> None:
    hall.hear(state(1, calling=True))
    go(hall, ANNE)
    assert card(hall).attended == Attending(*ANNE, NOW)
    hall.hear(call(1))
    assert card(hall).attended == Attending(*ANNE, NOW)


def test_a_later_call_has_nobody_whichever_call_was_known_only_from_the_state(hall: Hall) -> None:
    hall.hear(state(1, calling=True), call(1))
    go(hall, ANNE)
    hall.hear(state(1, count=2), call(2, is_open=False))
    hall.hear(state(1, count=3, calling=True))
    assert (card(hall).calling, card(hall).attended) == (True, None)
    go(hall, BO)
    assert card(hall).attended == Attending(*BO, NOW)
    hall.hear(call(3), call(4, is_open=False), call(5))  # all at the same time, by the corrected clock
    assert (card(hall).calling, card(hall).attended) == (True, None)


def test_a_seen_alert_stays_seen_until_it_recurs(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1, verified=False)))
    first = alert(hall)
    ask(hall, lambda attended: attended.mark_seen(first, *ANNE))
    ask(hall, lambda attended: attended.mark_seen(first, *BO))
    assert alert(hall).seen == Attending(*ANNE, NOW)
    hall.clock.read = lambda: NOW + 60_000
    hall.hear(fact(1, 2, restored(1, verified=False)))
    assert [one.seen is None for one in hall.scorer.feed.current.alerts] == [True, False]
    ask(hall, lambda attended: attended.mark_unseen(first))
    assert alert(hall).seen is None


def test_an_alert_that_recurs_before_the_button_is_pressed_stays_unseen(hall: Hall) -> None:
    attended = hall.scorer.live.attendance
    old, new = (AlertView(at, "table_lost", 1, "gone") for at in (NOW, NOW + 1))
    attended.mark_seen(old, *ANNE)
    assert [one.seen is None for one in attended.alerts((new, old))] == [True, False]


def test_a_restarted_scorer_knows_who_goes_and_what_was_seen(tmp_path: Path) -> None:
    with open_hall(tmp_path) as hall:
        hall.hear(state(1, calling=True), fact(1, 1, restored(1, verified=False)), call(2))
        go(hall, ANNE)
        seen = alert(hall)
        ask(hall, lambda attended: attended.mark_seen(seen, *BO))
        with hall.journal.commit():
            hall.journal.set_value("goes/2", "nonsense")
    with open_hall(tmp_path) as again:
        again.hear(state(1, calling=True))
        assert card(again).attended == Attending(*ANNE, NOW)
        assert replace(alert(again), at=seen.at) == replace(seen, seen=Attending(*BO, NOW))
