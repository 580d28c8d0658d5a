"""Every shipped profile gives the results of its published examples."""

import pytest

from broker.cli.profile import Examples, failed_examples, read_examples
from broker.rules import RuleError, load_mcr, mcr_folder
from broker.rules import shipped_mcr as profiles


def shipped_examples(profile_id: str) -> Examples:
    return read_examples((mcr_folder() / "examples" / f"{profile_id}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("profile_id", profiles())
def test_every_shipped_profile_has_examples_which_succeed(profile_id: str) -> None:
    examples = shipped_examples(profile_id)
    assert min(len(examples.points), len(examples.imps)) > 0
    assert list(failed_examples(examples, load_mcr(profile_id))) == []


def test_the_examples_of_one_profile_fail_with_another() -> None:
    assert len(list(failed_examples(shipped_examples("oedmc-2020"), load_mcr("mcr")))) == 4
    assert len(list(failed_examples(shipped_examples("zero-sum"), load_mcr("oedmc-2020")))) == 3


def test_only_the_mahjongsoft_profile_passes_all_of_mahjongsofts_examples() -> None:
    examples = shipped_examples("mahjongsoft")
    assert [one.source for one in examples.points] == [
        "the platform's page: HV 9 self-drawn gives +33 and -11",
        "the platform's page: HV 10 self-drawn gives +34 and -12",
        "the platform's record of 2022-06-25: two winners of 12 on East's discard",
    ]
    missed = {name: len(list(failed_examples(examples, load_mcr(name)))) for name in ("mcr", "zero-sum", "mahjongsoft")}
    assert missed == {"mcr": 3, "zero-sum": 3, "mahjongsoft": 0}


@pytest.mark.parametrize("text", ["?", "[[points]]", '[[imps]]\nsource=""\npoints=1\ndatum="x"\nimp=1', "[points]"])
def test_a_file_that_is_not_a_list_of_examples_is_refused(text: str) -> None:
    with pytest.raises(RuleError) as refused:
        read_examples(text)
    assert refused.value.code == "bad_examples"
