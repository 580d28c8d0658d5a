"""The shipped riichi profiles, and refusals of invalid ones."""

from importlib.resources import files

import pytest

from broker.rules import DEFAULT_RIICHI, RuleError, load_riichi, parse_riichi, profile_settings, shipped_riichi

MONTREAL = (files("broker.rules.riichi") / "profiles" / f"{DEFAULT_RIICHI}.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("profile_id", shipped_riichi())
def test_every_shipped_profile_loads_under_its_full_and_short_name(profile_id: str) -> None:
    assert load_riichi(profile_id).id == profile_id
    assert load_riichi(profile_id.removeprefix("riichi-")) == load_riichi(profile_id)


@pytest.mark.parametrize("profile_id", shipped_riichi())
def test_every_value_has_a_source(profile_id: str) -> None:
    assert [name for name, setting in profile_settings(load_riichi(profile_id)) if len(setting.source) < 10] == []


def test_the_shipped_profiles_are_basic_montreal_and_tenhou() -> None:
    assert shipped_riichi() == ("riichi-basic", "riichi-montreal", "riichi-tenhou")


@pytest.mark.parametrize("profile_id", ["", "oedmc-2020", "riichi-", "../mcr", "riichi-riichi-montreal"])
def test_an_unknown_profile_is_refused(profile_id: str) -> None:
    with pytest.raises(RuleError) as refused:
        load_riichi(profile_id)
    assert refused.value.code == "unknown_profile"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[fu.double_wind_pair]\nvalue = 4", "[fu.double_wind_pair]\nvalue = 3", "fu.double_wind_pair.value"),
        ("[points.kiriage]", "[points.kiraige]", "'kiriage' is meant"),
        ('value = "any_suit"', 'value = "bamboo"', "hand.daisharin.value"),
        ('"daisuushii"]', '"tenhou"]', "hand.double_yakuman.value"),
    ],
)
def test_a_mistake_is_reported_with_its_place(old: str, new: str, expected: str) -> None:
    assert MONTREAL.count(old) == 1
    with pytest.raises(RuleError) as refused:
        parse_riichi(MONTREAL.replace(old, new))
    assert refused.value.code == "bad_profile"
    assert expected in refused.value.text
