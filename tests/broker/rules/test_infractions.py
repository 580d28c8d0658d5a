"""The catalogue of infractions: names, sources, steps, and the additions of a club."""

import pytest

from broker.i18n import languages
from broker.rules import RuleError, load_mcr, load_rules, mcr_folder, shipped_profiles
from broker.rules.infractions import FALSE_HU, Penalty, appeal_minutes, infractions_of, penalty_of
from broker.rules.profiles import parse_mcr

SHIPPED = (mcr_folder() / "oedmc-2020.toml").read_text(encoding="utf-8")
CLUB_INFRACTIONS = """
[infractions.telephone]
value = ["warning", "2 IMP"]
source = "our club"
name = { en = "Telephone rings", fr = "Téléphone" }

[infractions.late]
value = ["1 IMP"]
source = "our club"

[appeals.minutes]
value = 10
source = "our club"
"""


@pytest.mark.parametrize("profile_id", shipped_profiles())
def test_every_infraction_has_a_name_in_every_language_and_a_known_source(profile_id: str) -> None:
    known = ("OEDMC", "MIL", "MERS", "RCR", "MONTREAL", "assumption: ")
    listed = infractions_of(load_rules(profile_id)).values()
    assert len(listed) >= 8
    assert [one.id for one in listed for language in languages() if language not in one.names] == []
    assert [one.id for one in listed if not one.source.startswith(known)] == []


@pytest.mark.parametrize("profile_id", shipped_profiles())
def test_every_source_is_translated(profile_id: str) -> None:
    listed = infractions_of(load_rules(profile_id)).values()
    others = [language for language in languages() if language != "en"]
    assert [one.source for one in listed for language in others if one.source_in(language) == one.source] == []
    assert [one.source for one in listed if one.source_in("en") != one.source] == []


@pytest.mark.parametrize("profile_id", shipped_profiles())
def test_the_penalty_for_a_false_hu_is_the_fine_that_tables_offer(profile_id: str) -> None:
    rules = load_rules(profile_id)
    assert infractions_of(rules)[FALSE_HU].penalties == (Penalty("fine", rules.false_hu.fines.value),)


@pytest.mark.parametrize(
    ("step", "penalty"),
    [
        ("warning", Penalty("warning")),
        ("dead hand", Penalty("dead_hand")),
        ("4 IMP", Penalty("fine", (4,))),
        ("4 or 8 IMP", Penalty("fine", (4, 8))),
        ("1000 points", Penalty("fine", points=1000)),
    ],
)
def test_each_form_of_a_step_is_parsed(step: str, penalty: Penalty) -> None:
    assert penalty_of(step) == penalty


def test_repeated_infractions_advance_to_the_last_step_and_stay_there() -> None:
    sound = infractions_of(load_mcr("oedmc-2020"))["sound"]
    assert [sound.penalty(earlier) for earlier in range(4)] == [
        Penalty("warning"),
        *(Penalty("fine", (imp,)) for imp in (4, 8, 8)),
    ]


def test_a_club_can_add_infractions_and_replace_shipped_ones() -> None:
    rules = parse_mcr(SHIPPED.replace('id = "oedmc-2020"', 'id = "club"') + CLUB_INFRACTIONS)
    listed = infractions_of(rules)
    names = [listed["telephone"].name(language) for language in ("en", "fr", "zh")]
    assert names == ["Telephone rings", "Téléphone", "Telephone rings"]
    assert (listed["late"].name("fr"), listed["late"].steps) == ("Retard à la table", ("1 IMP",))
    assert "sound" in listed
    assert (appeal_minutes(rules).value, appeal_minutes(load_mcr()).value) == (10, 30)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"2 IMP"', '"2 imp"'), ('["1 IMP"]', "[]"), ("telephone]", "Telephone]"), ("value = 10", "value = 0")],
)
def test_an_invalid_catalogue_is_refused(old: str, new: str) -> None:
    with pytest.raises(RuleError) as refused:
        parse_mcr(SHIPPED + CLUB_INFRACTIONS.replace(old, new))
    assert refused.value.code == "bad_profile"


def test_a_profile_without_own_infractions_equals_the_shipped_profile() -> None:
    assert parse_mcr(SHIPPED) == load_mcr("oedmc-2020")
