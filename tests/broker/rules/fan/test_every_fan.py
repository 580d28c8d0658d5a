"""Each fan that can occur is counted, in a hand whose value was reckoned by hand."""

import pytest

from broker.rules.fan.catalogue import entries
from broker.rules.fan.count import count
from tests.broker.rules.fan.every import EVERY_FAN
from tests.broker.rules.fan.hands import ids, worth


@pytest.mark.parametrize("fan_id", EVERY_FAN)
def test_a_hand_is_worth_what_the_book_says(fan_id: str) -> None:
    row = EVERY_FAN[fan_id]
    assert worth(row.hand, row.how) == row.worth
    assert fan_id in ids(count(row.hand, row.how))


def test_there_is_a_hand_for_every_fan_but_the_flowers() -> None:
    assert list(EVERY_FAN) == [fan_id for fan_id in entries() if fan_id != "flower_tiles"]
