"""A ruling made at a table is always told at the desk."""

from msgspec.structs import replace

from broker.contract.facts import Fine, Ruled
from broker.contract.rulings import Deadline, Void
from tests.broker.scorer.hall import NOW, Hall
from tests.broker.scorer.rulings.ruled import HEAD, draft
from tests.broker.scorer.small import OUTCOMES, event, fact, result

VOID = Ruled(
    round=1, deal=event().bookings[1, 1].deal, decision=Void(), author="Tao", role="table_arbiter", reason="tiles fell"
)


def test_each_ruling_made_at_a_table_is_an_alert_that_says_what_who_and_why(hall: Hall) -> None:
    hall.hear(fact(1, 1, result(1)), fact(1, 2, VOID), fact(1, 3, replace(VOID, reason="again")))
    assert hall.alerts() == [("ruled_at_table", 1)] * 2
    told = hall.ear.told("alert")["text"]
    assert [word in told for word in ("void", f"deal {VOID.deal}", "Tao", "again")] == [True] * 4


def test_a_fine_that_a_result_brings_is_an_alert_that_says_whose_how_much_who_and_why(hall: Hall) -> None:
    fine = Fine(imp=8, reason="the hand was not valid", author="Tao")
    hall.hear(fact(1, 1, result(1, 1, OUTCOMES[1], {"north": fine})))
    assert hall.alerts() == [("fined_at_table", 1)]
    (alert,) = hall.scorer.feed.current.alerts
    north = event().players[event().bookings[1, 1].players["north"]].name
    told = alert.values["fines"], alert.values["author"], alert.values["reason"]
    assert told == (f"{north} 8 IMP", "Tao", "the hand was not valid")


def test_one_that_comes_after_the_correction_period_is_told_as_that_too(hall: Hall) -> None:
    hall.hear(fact(1, 1, result(1)))
    hall.scorer.rulings.give(draft(hall.scorer._room, Deadline(at=NOW)), HEAD)
    hall.ear.forget()
    hall.scorer._clock = lambda: NOW + 1
    hall.hear(fact(1, 2, VOID))
    assert sorted(hall.alerts()) == [("ruled_after_end", 1), ("ruled_at_table", 1)]
