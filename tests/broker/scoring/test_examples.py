"""Every profile that ships comes out as its published examples say."""

import pytest

from broker.rules.errors import RuleError
from broker.rules.profile_files import load
from broker.rules.profile_files import shipped as profiles
from broker.scoring.examples import failures, read, shipped


@pytest.mark.parametrize("profile_id", profiles())
def test_a_profile_that_ships_has_examples_and_they_come_out(profile_id: str) -> None:
    examples = shipped(profile_id)
    assert min(len(examples.points), len(examples.imps)) > 0
    assert list(failures(examples, load(profile_id))) == []


def test_the_examples_of_one_profile_are_not_those_of_another() -> None:
    assert len(list(failures(shipped("oedmc-2020"), load("mcr")))) == 4
    assert len(list(failures(shipped("mahjongsoft"), load("oedmc-2020")))) == 3


@pytest.mark.parametrize("text", ["?", "[[points]]", '[[imps]]\nsource=""\npoints=1\ndatum="x"\nimp=1', "[points]"])
def test_what_is_no_list_of_examples_is_refused(text: str) -> None:
    with pytest.raises(RuleError) as refused:
        read(text)
    assert refused.value.code == "bad_examples"
