"""Codes of countries: each country is one, by whichever of its codes it is listed."""

import pytest
from babel.core import get_global

from broker.event.countries import COUNTRY_CODES, ISO_3, country_of
from broker.event.players import ListedPlayer, hall_of_each
from broker.protocol import Player


@pytest.mark.parametrize(
    ("codes", "country"),
    [(("FR", "FRA"), "FR"), (("DE", "DEU", "GER"), "DE"), (("CH", "CHE", "SUI"), "CH"), (("SK", "SVK"), "SK")],
)
def test_all_codes_of_a_country_are_one_country(codes: tuple[str, ...], country: str) -> None:
    assert {country_of(code) for code in codes} == {country}


def test_every_code_has_a_country_that_is_itself_and_what_is_none_stays() -> None:
    assert {country_of(country_of(code)) for code in COUNTRY_CODES} == {country_of(code) for code in COUNTRY_CODES}
    assert {len(country_of(code)) for code in COUNTRY_CODES} == {2}
    assert (country_of("ZZZ"), country_of("")) == ("ZZZ", "")


def test_codes_of_three_letters_are_of_the_countries_that_unicode_s_data_say() -> None:
    known = get_global("territory_aliases")
    assert {code: [country_of(code)] for code in ISO_3.split()} == {code: known[code] for code in ISO_3.split()}


def test_a_country_has_one_hall_by_the_code_that_stands_first() -> None:
    codes = ("FRA", "GER", "FR", "DE", "")
    listed = [ListedPlayer(Player(id=f"p0{n}", name="Ana"), (code, "", "", "")) for n, code in enumerate(codes)]
    assert [*hall_of_each(listed, "country").values()] == ["FRA", "GER", "FRA", "GER", ""]
