"""A result that comes for a play which the desk had settled: kept, not counted, and always told."""

import pytest

from broker.contract.facts import Fine
from broker.contract.rulings import Adjusted, AnyDecision, Undo, Void
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.rulings.ruled import HEAD, correct, draft
from tests.broker.scorer.small import OUTCOMES, event, fact, result

PLAY = (1, 1)
ADJUSTED = Adjusted(gives=dict.fromkeys(event().bookings[PLAY].players.values(), "nobody"))
OTHERWISE: list[AnyDecision] = [Void(), ADJUSTED, correct(OUTCOMES[2], None)]


def settle(hall: Hall, decision: AnyDecision) -> str:
    """Rule on the play before its table has told of it; give the ruling's id."""
    entry = hall.scorer.rulings.give(draft(hall.scorer.rulings.room, decision, PLAY), HEAD)
    hall.ear.forget()
    return entry.id


@pytest.mark.parametrize("decision", OTHERWISE)
def test_a_result_of_a_play_that_was_settled_otherwise_is_told_with_the_ruling(
    hall: Hall, decision: AnyDecision
) -> None:
    id_ = settle(hall, decision)
    hall.hear(fact(1, 1, result(1)))
    assert hall.alerts() == [("settled_before", 1)]
    (alert,) = hall.scorer.feed.current.alerts
    assert (alert.values["ruling"], alert.values["author"], alert.values["round"]) == (id_, HEAD.name, 1)


def test_a_result_that_says_what_was_ruled_alerts_nobody(hall: Hall) -> None:
    settle(hall, correct(OUTCOMES[1], None))
    hall.hear(fact(1, 1, result(1, 1, OUTCOMES[1])))
    assert hall.alerts() == []


def test_a_fine_that_the_ruling_does_not_have_is_told(hall: Hall) -> None:
    settle(hall, correct(OUTCOMES[1], None))
    hall.hear(fact(1, 1, result(1, 1, OUTCOMES[1], {"north": Fine(imp=4, reason="false hu")})))
    assert hall.alerts() == [("settled_before", 1), ("fined_at_table", 1)]


def test_a_ruling_that_was_taken_back_before_settles_nothing(hall: Hall) -> None:
    id_ = settle(hall, Void())
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, Undo(ruling=id_)), HEAD)
    hall.ear.forget()
    hall.hear(fact(1, 1, result(1)))
    assert hall.alerts() == []


def test_with_the_ruling_taken_back_the_four_players_result_counts(hall: Hall) -> None:
    id_ = settle(hall, Void())
    hall.hear(fact(1, 1, result(1)))
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, Undo(ruling=id_)), HEAD)
    assert hall.scorer.rulings.room.play(PLAY).points == result(1).points
