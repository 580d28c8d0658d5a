"""Paper result sheets are checked against plan and rules."""

import pytest

from broker.rules import RuleError
from broker.rulings.paper import KeyedSheet, sheet_of
from tests.broker.scorer.small import event


def test_the_refusal_of_a_fine_quotes_it_as_a_number() -> None:
    sheet = KeyedSheet(
        round=1, table=3, deal=event().bookings[3, 1].deal, win="draw", winners={}, fines={"east": 7, "south": 5}
    )
    with pytest.raises(RuleError) as refused:
        sheet_of(sheet, event())
    assert (refused.value.code, refused.value.text) == ("fine_not_in_profile", "the rules have no fine of 5 IMP")
