"""Codes of countries: each country is one, by whichever of its codes it is listed."""

import pytest

from broker.event.players import IOC, ListedPlayer, countries, country_of, hall_of_each
from broker.protocol import Player


@pytest.mark.parametrize(
    ("codes", "country"),
    [(("FR", "FRA"), "FR"), (("DE", "DEU", "GER"), "DE"), (("CH", "CHE", "SUI"), "CH"), (("SK", "SVK"), "SK")],
)
def test_all_codes_of_a_country_are_one_country(codes: tuple[str, ...], country: str) -> None:
    assert {country_of(code) for code in codes} == {country}


def test_every_code_has_a_country_that_is_itself_and_what_is_none_stays() -> None:
    assert {country_of(country_of(code)) for code in countries()} == {country_of(code) for code in countries()}
    assert {len(country_of(code)) for code in countries()} == {2}
    assert (country_of("ZZZ"), country_of("")) == ("ZZZ", "")


def test_the_codes_of_countries_are_as_many_as_there_are() -> None:
    two = [code for code in countries() if len(code) == 2]
    three = countries().keys() - {*two, *IOC.split()}
    assert (len(two), len(three), len(IOC.split()[::2])) == (250, 249, 84)
    assert {country_of(code) for code in three} == {*two} - {"XK"}


def test_codes_that_are_not_used_any_more_are_no_countries() -> None:
    assert {"YUG", "SCG", "ZAR", "TMP", "DD", "EU", "UN", "QO"} & countries().keys() == set()
    assert country_of("BUR") == "BF"


def test_a_country_has_one_hall_by_the_code_that_stands_first() -> None:
    codes = ("FRA", "GER", "FR", "DE", "")
    listed = [ListedPlayer(Player(id=f"p0{n}", name="Ana"), (code, "", "", "")) for n, code in enumerate(codes)]
    assert [*hall_of_each(listed, "country").values()] == ["FRA", "GER", "FRA", "GER", ""]
