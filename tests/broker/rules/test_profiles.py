"""Shipped profiles load and name the source of each value. Mistakes are reported with their place."""

from importlib.resources import files
from pathlib import Path

import pytest

from broker.rules import DEFAULT_MCR, Profile, RuleError, load_mcr, load_of_same_book, profile_settings, shipped_mcr
from broker.rules.profiles import parse_mcr

SHIPPED = (files("broker.rules") / "profiles" / f"{DEFAULT_MCR}.toml").read_text(encoding="utf-8")

SCALE = (2, 5, 9, 13, 17, 22, 27, 32, 37, 43, 50, 60, 75, 90, 110, 130, 150, 175, 200, 225, 250, 300, 350, 400)


def refusal(text: str) -> str:
    """Return the message with which a profile is refused."""
    with pytest.raises(RuleError) as refused:
        parse_mcr(text)
    assert refused.value.code == "bad_profile"
    return refused.value.text


def with_line(old: str, new: str) -> str:
    """Return the shipped profile with one text replaced."""
    assert SHIPPED.count(old) == 1
    return SHIPPED.replace(old, new)


@pytest.mark.parametrize("profile_id", shipped_mcr())
def test_every_shipped_profile_loads_under_its_own_name(profile_id: str) -> None:
    assert load_mcr(profile_id).id == profile_id


def test_the_default_is_shipped() -> None:
    assert DEFAULT_MCR in shipped_mcr()
    assert load_mcr() == load_mcr("oedmc-2020")


@pytest.mark.parametrize("profile_id", shipped_mcr())
def test_every_value_names_a_known_source(profile_id: str) -> None:
    known = ("OEDMC", "MIL", "MCR", "RULES", "SITE", "RECORD", "assumption: ")
    settings = dict(profile_settings(load_mcr(profile_id)))
    assert len(settings) == 20
    assert [way for way, value in settings.items() if not value.source.startswith(known)] == []


def test_the_scale_has_the_steps_of_the_rule_book() -> None:
    assert load_mcr("oedmc-2020").imp.scale.value == SCALE
    assert load_mcr("oedmc-2020").imp.gap.value == "midpoint"


def test_the_organisers_page_lists_the_steps_of_the_scale() -> None:
    page = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
    cells = {line.split(" | ")[0]: line.strip("| ").split(" | ")[1:] for line in page.splitlines()}
    assert [int(cell) for cell in cells["| from"]] == list(SCALE)
    assert [int(cell) for cell in cells["| IMP"]] == list(range(1, len(SCALE) + 1))


def test_values_without_a_source_are_labelled_as_assumptions() -> None:
    labelled = {
        way for way, value in profile_settings(load_mcr("oedmc-2020")) if value.source.startswith("assumption: ")
    }
    assert labelled == {
        "claim_window_ms",
        "imp.scale",
        "imp.gap",
        "team.reference",
        "team.reference_of_two",
        "awards.nobody",
        "awards.others",
        "awards.own",
        "small_group.smallest",
        "small_group.imp",
    }


def test_the_default_profile_has_these_values() -> None:
    profile: Profile = load_mcr("oedmc-2020")
    assert (profile.payments.base.value, profile.payments.minimum.value) == (8, 8)
    assert (profile.payments.self_drawn.value, profile.payments.several_hu.value) == ("third_rounded_up", "base_once")
    assert profile.false_hu.fines.value == (4, 8)
    assert profile.claim_window_ms.value == 3000
    assert (profile.datum.own_score.value, profile.datum.rounding.value) == ("included", "none")
    assert profile.imp.method.value == "datum"
    assert (profile.team.reference.value, profile.team.reference_of_two.value) == ("mean", "opponent")
    assert (profile.awards.nobody.value, profile.awards.others.value, profile.awards.own.value) == (0, 3, -3)
    assert (profile.small_group.smallest.value, profile.small_group.imp.value) == (2, 0)
    assert profile.ties.chain.value == ()
    assert profile.carry_over.percent.value == 100


@pytest.mark.parametrize("profile_id", ["", "mcr-1890", "../oedmc-2020", "oedmc-2020.toml", "OEDMC-2020", "é\x00"])
def test_an_unknown_profile_is_refused_with_the_list_of_shipped_ones(profile_id: str) -> None:
    with pytest.raises(RuleError) as refused:
        load_mcr(profile_id)
    assert refused.value.code == "unknown_profile"
    assert refused.value.text == f"no profile {profile_id!r}; available: {', '.join(shipped_mcr())}"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('id = "oedmc-2020"', 'id = "OEDMC 2020"', "id"),
        ('id = "oedmc-2020"', 'id = "oedmc-2020\\n"', "id"),
        ("version = 1", "version = 0", "version"),
        ("version = 1", 'version = "1"', "version"),
        ('title = "OEDMC 2020"', 'title = ""', "title"),
        ('title = "OEDMC 2020"', "", "title: is missing"),
        ('title = "OEDMC 2020"', 'title = "OEDMC 2020"\ncolour = "red"', "colour: is no setting"),
        ("[payments.base]\nvalue = 8", "[payments.base]\nvalue = -1", "payments.base.value"),
        ("[payments.base]\nvalue = 8", "[payments.base]\nvalue = 8.0", "payments.base.value"),
        ("[payments.base]\nvalue = 8", "[payments.base]\nvalue = true", "payments.base.value"),
        ("[payments.base]\nvalue = 8", "[payments.base]\nvalue = nan", "payments.base.value"),
        ("[payments.base]\nvalue = 8", "[payments.base]", "payments.base"),
        ("[payments.minimum]\nvalue = 8", "[payments.minimum]\nvalue = 0", "payments.minimum.value"),
        ('value = "third_rounded_up"', 'value = "half"', "payments.self_drawn.value"),
        ('value = "base_once"', 'value = "all"', "payments.several_hu.value"),
        ("value = [4, 8]", "value = []", "false_hu.fines.value"),
        ("value = [4, 8]", "value = [4, -8]", "false_hu.fines.value[1]"),
        ("value = 3000", "value = 60001", "claim_window_ms.value"),
        ('value = "midpoint"', 'value = "middle"', "imp.gap.value"),
        ('value = "included"', 'value = "half"', "datum.own_score.value"),
        ('value = "none"', 'value = "nearest"', "datum.rounding.value"),
        ('value = "mean"', 'value = "median"', "team.reference.value"),
        ("[claim_window_ms]", "[claim_window]", "claim_window: is no setting; 'claim_window_ms' is meant?"),
        ("[imp.gap]", "[imp.gaps]", "imp.gaps: is no setting; 'gap' is meant?"),
    ],
    ids=lambda part: part.replace("\n", " ")[-30:],
)
def test_a_mistake_is_reported_with_its_place(old: str, new: str, place: str) -> None:
    assert place in refusal(with_line(old, new))


@pytest.mark.parametrize(
    ("scale", "place"),
    [
        ("[]", "imp.scale.value"),
        ("[0, 5]", "imp.scale.value[0]"),
        ("[2, 5.5]", "imp.scale.value[1]"),
        ("[2, 5, 5]", "imp.scale"),
        ("[2, 9, 5]", "imp.scale"),
    ],
)
def test_a_scale_must_start_at_1_or_more_and_rise(scale: str, place: str) -> None:
    shipped_line = f"value = [{', '.join(map(str, SCALE))}]"
    assert place in refusal(with_line(shipped_line, f"value = {scale}"))


def test_a_value_without_its_source_is_refused() -> None:
    line = 'source = "OEDMC example: the datum 33.8 is used as it is"'
    assert "datum.rounding" in refusal(with_line(line, ""))
    assert "datum.rounding.source" in refusal(with_line(line, 'source = "?"'))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id",
        "id = 1",
        "[[[",
        'id = "a"\nid = "b"',
        "\x00",
        "version = " + "9" * 5000,
        "version = " + "[" * 5000,
        'id = "\ud800"',
    ],
    ids=lambda text: ascii(text[:15]),
)
def test_text_that_is_not_a_profile_is_refused(text: str) -> None:
    assert refusal(text) != ""


def test_a_riichi_profile_is_refused_as_riichi_and_not_as_unknown() -> None:
    with pytest.raises(
        RuleError, match=r"^'riichi-basic' is of riichi; available: mahjongsoft, mcr, oedmc-2020, zero-sum$"
    ):
        load_mcr("riichi-basic")
    with pytest.raises(RuleError, match=r"^'riichi-basic' is of another rule book; available: mahjongsoft"):
        load_of_same_book(load_mcr("mcr"), "riichi-basic")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("value = 3000", 'value = "x"', 'claim_window_ms.value: found "x"; allowed: a whole number from 0 to 60000'),
        ("value = 3000", "value = {a = 1}", 'found {"a": 1}; allowed: a whole number from 0 to 60000'),
        ('value = "midpoint"', 'value = "middle"', 'imp.gap.value: found "middle"; allowed: "floor" or "midpoint"'),
        (
            "value = [4, 8]",
            "value = 4",
            "found 4; allowed: a list of at least 1 entries, each a whole number from 1 to 99",
        ),
        ("[imp.gap]\nvalue", "[imp]\ngap = 3\n[imp.gapp]\nvalue", "imp.gap: found 3; allowed: a table with `value` "),
        ('id = "oedmc-2020"', f'id = "{"O" * 80}"', f'id: found "{"O" * 59}…; allowed: a text like [a-z0-9]'),
        ('title = "OEDMC 2020"', 'title = ""', 'title: found ""; allowed: a text of 1 to 100 characters'),
    ],
)
def test_every_mistake_reports_what_was_found_and_what_is_allowed(old: str, new: str, expected: str) -> None:
    assert expected in refusal(with_line(old, new))
