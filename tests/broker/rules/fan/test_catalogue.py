"""The 81 fan, their values and names."""

from collections import Counter
from pathlib import Path

import pytest

from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import LANGUAGES, Language, entries, ids_by_library_name, name, place, the_81, value
from broker.rules.fan.library import module

BESIDE = "concealed_kong_and_melded_kong"


def test_there_are_81_fan_and_one_value_beside_them() -> None:
    assert len(the_81()) == 81
    assert [fan_id for fan_id in entries() if fan_id not in the_81()] == [BESIDE]


def test_each_class_has_as_many_fan_as_in_the_green_book() -> None:
    by_class = Counter(fan.fan for fan in the_81().values())
    assert by_class == {88: 7, 64: 6, 48: 2, 32: 3, 24: 9, 16: 6, 12: 5, 8: 10, 6: 6, 4: 4, 2: 10, 1: 13}


def test_the_fan_are_in_the_order_of_their_values() -> None:
    values = [fan.fan for fan in the_81().values()]
    assert values == sorted(values, reverse=True)
    assert [place(fan_id) for fan_id in entries()] == list(range(82))


def test_only_two_values_differ_in_1998() -> None:
    differing = {fan_id: (value(fan_id, "green-book"), value(fan_id, "1998")) for fan_id in entries()}
    assert {fan_id: both for fan_id, both in differing.items() if both[0] != both[1]} == {
        "two_concealed_kongs": (8, 6),
        BESIDE: (6, 5),
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_fan_have_one_name_in_a_language(language: Language) -> None:
    names = [name(fan_id, language) for fan_id in entries()]
    assert len(set(names)) == 82
    assert [told for told in names if told != told.strip() or not told] == []


@pytest.mark.parametrize("fan_id", list(entries()))
def test_an_id_is_made_from_the_english_name(fan_id: str) -> None:
    assert fan_id == name(fan_id).lower().replace("-", "_").replace(" ", "_")


def test_each_name_of_the_library_is_that_of_one_entry() -> None:
    assert sorted(ids_by_library_name().values()) == sorted(entries())
    compiled = Path(module().__file__).read_bytes()
    assert [told for told in ids_by_library_name() if told.encode() + b"\0" not in compiled] == []


def test_the_names_of_the_situations_are_the_referee_s() -> None:
    ids = ["last_tile_draw", "last_tile_claim", "out_with_replacement_tile", "robbing_the_kong"]
    assert [name(fan_id) for fan_id in ids] == [
        "Last Tile Draw",
        "Last Tile Claim",
        "Out with Replacement Tile",
        "Robbing the Kong",
    ]


def test_oedmc_s_words_for_the_last_tile_are_the_french_names() -> None:
    assert name("last_tile_draw", "fr") == "Dernière tuile tirée"
    assert name("last_tile_claim", "fr") == "Dernière tuile jetée"


def test_a_book_that_there_is_not_is_refused() -> None:
    with pytest.raises(RuleError) as refused:
        value("seven_pairs", "2006")  # type: ignore[arg-type] # a book that there is not
    assert (refused.value.code, refused.value.text) == (
        "unknown_ruleset",
        "no ruleset '2006'; there are: green-book, 1998",
    )
