"""A play that could not be played gives what the profile says, by whose fault it was."""

import pytest

from broker.rules.errors import RuleError
from broker.rules.profile_files import load
from broker.scoring.awards import awards
from tests.broker.rules.variants import seats


def test_the_default_is_0_3_and_minus_3() -> None:
    given = awards({"east": "own", "south": "others", "west": "nobody", "north": "others"}, load().awards)
    assert given == seats(-3, 3, 0, 3)


def test_a_fault_is_told_for_every_seat() -> None:
    with pytest.raises(RuleError) as refused:
        awards({"east": "own"}, load().awards)
    assert refused.value.code == "fault_missing"
