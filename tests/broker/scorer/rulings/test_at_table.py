"""A ruling made at a table is always told at the desk."""

from msgspec.structs import replace

from broker.contract.facts import Ruled
from broker.contract.rulings import Deadline, Void
from tests.broker.scorer.hall import NOW, Hall
from tests.broker.scorer.rulings.ruled import HEAD, draft
from tests.broker.scorer.small import event, fact, result

VOID = Ruled(
    round=1, deal=event().bookings[1, 1].deal, decision=Void(), author="Tao", role="table_arbiter", reason="tiles fell"
)


def test_each_ruling_made_at_a_table_is_an_alert_that_says_what_who_and_why(hall: Hall) -> None:
    hall.hear(fact(1, 1, result(1)), fact(1, 2, VOID), fact(1, 3, replace(VOID, reason="again")))
    assert hall.alerts() == [("ruled_at_table", 1)] * 2
    told = hall.ear.told("alert")["text"]
    assert [word in told for word in ("void", f"deal {VOID.deal}", "Tao", "again")] == [True] * 4


def test_one_that_comes_after_the_correction_period_is_told_as_that_too(hall: Hall) -> None:
    hall.hear(fact(1, 1, result(1)))
    hall.scorer.rulings.give(draft(hall.scorer._room, Deadline(at=NOW)), HEAD)
    hall.ear.forget()
    hall.scorer._clock = lambda: NOW + 1
    hall.hear(fact(1, 2, VOID))
    assert sorted(hall.alerts()) == [("ruled_after_end", 1), ("ruled_at_table", 1)]
