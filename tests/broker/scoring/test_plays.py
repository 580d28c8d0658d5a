"""A play that could not be played gives what the profile says, by whose fault it was."""

import pytest

from broker.rules import RuleError, load_mcr
from broker.scoring import awards_for_unplayed
from tests.broker.rules.variants import seats


def test_the_default_is_0_3_and_minus_3() -> None:
    given = awards_for_unplayed(
        {"east": "own", "south": "others", "west": "nobody", "north": "others"}, load_mcr().awards
    )
    assert given == seats(-3, 3, 0, 3)


def test_a_fault_is_told_for_every_seat() -> None:
    with pytest.raises(RuleError) as refused:
        awards_for_unplayed({"east": "own"}, load_mcr().awards)
    assert refused.value.code == "fault_missing"
