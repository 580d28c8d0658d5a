"""Country codes: a country is the same whichever of its codes is used."""

import pytest

from broker.event.players import IOC, ListedPlayer, countries, country_of, hall_of_each
from broker.protocol import Player


@pytest.mark.parametrize(
    ("codes", "country"),
    [(("FR", "FRA"), "FR"), (("DE", "DEU", "GER"), "DE"), (("CH", "CHE", "SUI"), "CH"), (("SK", "SVK"), "SK")],
)
def test_all_codes_of_a_country_give_the_same_country(codes: tuple[str, ...], country: str) -> None:
    assert {country_of(code) for code in codes} == {country}


def test_a_country_maps_to_itself_and_an_unknown_code_is_unchanged() -> None:
    assert {country_of(country_of(code)) for code in countries()} == {country_of(code) for code in countries()}
    assert {len(country_of(code)) for code in countries()} == {2}
    assert (country_of("ZZZ"), country_of("")) == ("ZZZ", "")


def test_all_country_codes_are_known() -> None:
    two = [code for code in countries() if len(code) == 2]
    three = countries().keys() - {*two, *IOC.split()}
    assert (len(two), len(three), len(IOC.split()[::2])) == (250, 249, 84)
    assert {country_of(code) for code in three} == {*two} - {"XK"}


def test_withdrawn_codes_are_not_countries() -> None:
    assert {"YUG", "SCG", "ZAR", "TMP", "DD", "EU", "UN", "QO"} & countries().keys() == set()
    assert country_of("BUR") == "BF"


def test_a_countrys_hall_is_named_by_its_first_code_in_the_list() -> None:
    codes = ("FRA", "GER", "FR", "DE", "")
    listed = [ListedPlayer(Player(id=f"p0{n}", name="Ana"), (code, "", "", "")) for n, code in enumerate(codes)]
    assert [*hall_of_each(listed, "country").values()] == ["FRA", "GER", "FRA", "GER", ""]
