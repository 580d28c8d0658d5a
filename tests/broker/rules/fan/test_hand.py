"""No hand that cannot be is ever made."""

import pytest

from broker.rules.errors import RuleError
from broker.rules.fan.hand import Hand, Meld, Situation
from tests.broker.rules.fan.hands import meld, tiles


def refusal(kind: str, held: str, *, concealed: bool = False) -> tuple[str, str]:
    """Give the code and the text with which a meld is refused."""
    with pytest.raises(RuleError) as refused:
        Meld(kind, tiles(held), concealed=concealed)
    return refused.value.code, refused.value.text


@pytest.mark.parametrize("held", ["123m", "312p", "789s", "879s"])
def test_three_consecutive_tiles_of_a_suit_are_a_chow_in_any_order(held: str) -> None:
    assert Meld("chow", tiles(held)).tiles == tiles(held)


@pytest.mark.parametrize("held", ["124m", "122m", "111m", "12m 3p", "8m 9m 1p", "123z", "567z", "9m 1p 2p", "9s 1z 2z"])
def test_other_three_tiles_are_no_chow(held: str) -> None:
    assert refusal("chow", held) == ("not_a_meld", f"not three consecutive tiles of a suit: {' '.join(tiles(held))}")


@pytest.mark.parametrize(
    ("kind", "held"), [("pung", "112m"), ("pung", "1m 1p 1s"), ("kong", "1112z"), ("pung", "123m")]
)
def test_the_tiles_of_pung_and_kong_are_alike(kind: str, held: str) -> None:
    assert refusal(kind, held) == ("not_a_meld", f"the tiles of a {kind} are alike: {' '.join(tiles(held))}")


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        ("pung", "1111m"),
        ("pung", "11m"),
        ("kong", "111m"),
        ("kong", "11111m"),
        ("chow", "1234m"),
        ("chow", ""),
        ("chii", "123m"),
        ("", "111m"),
        ("Pung", "111m"),
        ("pair", "11m"),
    ],
)
def test_a_kind_has_its_number_of_tiles(kind: str, held: str) -> None:
    shown = " ".join(tiles(held)[:5])
    assert refusal(kind, held) == ("not_a_meld", f"{len(tiles(held))} tiles are no {kind!r}: {shown}")


@pytest.mark.parametrize(("kind", "held"), [("chow", "123m"), ("pung", "111m")])
def test_only_a_kong_is_laid_down_concealed(kind: str, held: str) -> None:
    code, text = refusal(kind, held, concealed=True)
    assert (code, text) == ("concealed_meld", f"a concealed {kind} is not laid down: {' '.join(tiles(held))}")
    assert Meld("kong", tiles("1111m"), concealed=True).concealed


@pytest.mark.parametrize(
    "tile", ["0m", "10m", "8z", "0z", "1f", "E", "", "1M", "m1", "1m ", " 1m", "1", "m", "一万", "1m1m"]
)
def test_a_tile_that_does_not_exist_is_refused_wherever_it_is(tile: str) -> None:
    held = tiles("123m 888p 345p 67s 33z")
    for make in (
        lambda: Hand((*held[1:], tile), "8s"),
        lambda: Hand(held, tile),
        lambda: Meld("pung", (tile,) * 3),
        lambda: Meld("chow", ("1m", "2m", tile)),
    ):
        with pytest.raises(RuleError) as refused:
            make()
        assert refused.value.code == "unknown_tile"
        assert refused.value.text == f"{tile!r} is no tile: 1m..9m, 1p..9p, 1s..9s, 1z..7z"


@pytest.mark.parametrize(
    ("concealed", "melds"),
    [
        ("123m 888p 345p 678s 33z", []),
        ("123m 888p 345p 67s 3z", []),
        ("123m 888p 345p 67s 33z", ["999m"]),
        ("123m 888p 345p 67s 33z", ["9999m"]),
        ("345p 67s 33z", ["9999m"]),
        ("", ["123m", "888p", "345p", "678s"]),
        ("33z", ["123m", "888p", "345p", "678s"]),
        ("3z", ["123m", "888p", "345p", "678s", "999m"]),
        ("", []),
        ("123m" * 50, []),
    ],
)
def test_a_hand_has_13_concealed_tiles_and_three_less_for_each_meld(concealed: str, melds: list[str]) -> None:
    with pytest.raises(RuleError) as refused:
        Hand(tiles(concealed), "3z", tuple(meld(text) for text in melds))
    assert refused.value.code == "wrong_tile_count"
    assert refused.value.text.startswith(f"{len(tiles(concealed))} concealed tiles and {len(melds)} melds: ")


@pytest.mark.parametrize(
    ("concealed", "winning_tile", "melds"),
    [
        ("11111m 888p 345p 67s", "8s", []),
        ("1111m 888p 345p 67s 3z", "1m", []),
        ("345p 67s 33z", "8p", ["123m", "8888p"]),
        ("456p 67s 33z", "7p", ["777p", "678p"]),
    ],
)
def test_there_are_four_of_a_tile_and_no_fifth(concealed: str, winning_tile: str, melds: list[str]) -> None:
    with pytest.raises(RuleError) as refused:
        Hand(tiles(concealed), winning_tile, tuple(meld(text) for text in melds))
    assert refused.value.code == "five_of_a_tile"
    assert refused.value.text.endswith(" is there 5 times; a set has 4")


@pytest.mark.parametrize(
    ("seat", "prevalent", "which"), [("up", "east", "seat"), ("east", "E", "prevalent"), ("", "", "seat")]
)
def test_there_are_four_winds(seat: str, prevalent: str, which: str) -> None:
    with pytest.raises(RuleError) as refused:
        Situation(self_drawn=True, seat_wind=seat, prevalent_wind=prevalent)
    wrong = seat if which == "seat" else prevalent
    assert (refused.value.code, refused.value.text) == (
        "unknown_wind",
        f"{wrong!r} is no {which} wind; there are: east, south, west, north",
    )
