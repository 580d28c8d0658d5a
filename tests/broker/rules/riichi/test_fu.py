"""Fu item by item, from RIICHI-POINTS, "Compter les fus", and two rules of MONTREAL."""

from typing import Any

import pytest

from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.hand import RiichiHand
from tests.broker.rules.riichi.hands import BASIC, MONTREAL, TENHOU, counted, made, yaku


def items(hand: RiichiHand, profile: RiichiProfile = MONTREAL, **how: Any) -> dict[str, int]:  # noqa: ANN401 - fields of a situation
    """Return the fu of a hand by reason. Equal reasons are added up."""
    fu = counted(hand, profile, **how).fu
    assert fu is not None
    found: dict[str, int] = {}
    for item in fu.items:
        found[item.id] = found.get(item.id, 0) + item.fu
    return found


def sum_and_rounded(hand: RiichiHand, profile: RiichiProfile = MONTREAL, **how: Any) -> tuple[int, int]:  # noqa: ANN401 - fields of a situation
    """Return the fu of a hand before and after rounding."""
    fu = counted(hand, profile, **how).fu
    assert fu is not None
    return fu.sum, fu.rounded


@pytest.mark.parametrize(
    ("meld", "item", "fu"),
    [
        ("pon 222m", "open_pon", 2),
        ("pon 111m", "open_pon_of_orphans", 4),
        ("pon 444z", "open_pon_of_orphans", 4),
        ("kan 8888m", "open_kan", 8),
        ("kan 9999m", "open_kan_of_orphans", 16),
        ("closed 2222m", "closed_kan", 16),
        ("closed 1111z", "closed_kan_of_orphans", 32),
    ],
)
def test_each_kind_of_meld_has_its_fu(meld: str, item: str, fu: int) -> None:
    found = items(made("456p78s33s", "9s", meld, "pon 555z"))
    found["open_pon_of_orphans"] -= 4  # of the dragons, which are there for a yaku
    assert found[item] == fu


@pytest.mark.parametrize(
    ("concealed", "item", "fu"),
    [("333m", "closed_pon", 4), ("999m", "closed_pon_of_orphans", 8), ("555z", "closed_pon_of_orphans", 8)],
)
def test_a_concealed_triplet_has_twice_the_fu_of_an_open_one(concealed: str, item: str, fu: int) -> None:
    assert items(made(f"{concealed}234567p23s88s", "1s"), riichi=1)[item] == fu


def test_a_triplet_completed_on_a_discard_counts_as_open() -> None:
    hand = made("3388m234567p234s", "3m")
    assert items(hand, riichi=1) == {"winning": 20, "concealed_ron": 10, "open_pon": 2}
    assert items(hand, riichi=1, self_drawn=True) == {"winning": 20, "closed_pon": 4, "tsumo": 2}


@pytest.mark.parametrize(
    ("pair", "how", "item", "fu"),
    [
        ("55z", {}, "dragon_pair", 2),
        ("22z", {}, "seat_wind_pair", 2),
        ("11z", {}, "round_wind_pair", 2),
        ("11z", {"seat_wind": "east"}, "double_wind_pair", 4),
    ],
)
def test_a_pair_of_dragons_or_value_winds_has_fu(pair: str, how: dict[str, Any], item: str, fu: int) -> None:
    found = items(made(f"{pair}234m567p23s678s", "4s"), riichi=1, **how)
    assert found == {"winning": 20, "concealed_ron": 10, item: fu}


def test_a_double_wind_pair_has_2_fu_under_the_basic_rules() -> None:
    hand = made("11z234m567p23s678s", "4s")
    assert items(hand, BASIC, riichi=1, seat_wind="east")["double_wind_pair"] == 2


def test_a_guest_wind_pair_has_no_fu() -> None:
    assert items(made("33z234m567p23s678s", "4s"), riichi=1) == {"winning": 20, "concealed_ron": 10}


@pytest.mark.parametrize(
    ("concealed", "tile", "wait"),
    [
        ("12s", "3s", "edge_wait"),
        ("89s", "7s", "edge_wait"),
        ("46s", "5s", "closed_wait"),
    ],
)
def test_an_edge_or_closed_wait_has_2_fu(concealed: str, tile: str, wait: str) -> None:
    found = items(made(f"{concealed}234m567p99m678m", tile), riichi=1)
    assert found == {"winning": 20, "concealed_ron": 10, wait: 2}


def test_a_pair_wait_has_2_fu() -> None:
    assert items(made("234m567p678m345p4s", "4s"), riichi=1)["pair_wait"] == 2


@pytest.mark.parametrize(("concealed", "tile"), [("23s", "1s"), ("23s", "4s"), ("78s", "9s"), ("78s", "6s")])
def test_a_two_sided_wait_has_no_fu(concealed: str, tile: str) -> None:
    assert items(made(f"{concealed}234m567p99m678m", tile), riichi=1) == {"winning": 20, "concealed_ron": 10}


def test_pinfu_is_20_fu_self_drawn_and_30_on_a_discard() -> None:
    # RIICHI-POINTS, "Astuces"
    hand = made("23s234m567p99m678m", "4s")
    assert sum_and_rounded(hand, self_drawn=True) == (20, 20)
    assert sum_and_rounded(hand) == (30, 30)


def test_self_drawing_has_2_fu_without_pinfu() -> None:
    assert items(made("13s234m567p99m678m", "2s"), self_drawn=True) == {"winning": 20, "closed_wait": 2, "tsumo": 2}


def test_an_open_hand_without_other_fu_has_30_on_a_discard() -> None:
    found = items(made("23s567p66m678m", "4s", "chii 234m"))
    assert found == {"winning": 20, "open_pinfu": 10}


def test_an_open_hand_without_other_fu_has_30_self_drawn_by_rounding() -> None:
    assert sum_and_rounded(made("23s567p66m678m", "4s", "chii 234m"), self_drawn=True) == (22, 30)


def test_seven_pairs_are_25_and_never_rounded() -> None:
    assert sum_and_rounded(made("1122m3344p5566s7z", "7z"), self_drawn=True) == (25, 25)


def test_fu_are_rounded_up_to_the_next_ten() -> None:
    assert sum_and_rounded(made("333m234567p1388s", "2s"), riichi=1) == (36, 40)


def test_the_replacement_tile_has_no_fu_in_montreal_and_2_elsewhere() -> None:
    # MONTREAL: 0 fu for the replacement tile. 20 + 8 + 2 = 30, and with 2 more, 32 is rounded up to 40.
    hand = made("23499m13s", "2s", "kan 8888p", "chii 567p")
    assert [sum_and_rounded(hand, one, self_drawn=True, rinshan=True) for one in (MONTREAL, TENHOU)] == [
        (30, 30),
        (32, 40),
    ]


def test_the_most_valuable_reading_is_counted() -> None:
    # 4s completes either the sequence 456 or the pair. Pinfu with 30 fu is worth more than 40 fu without.
    found = counted(made("4456s234m567p678m", "4s"), riichi=1)
    assert found.fu is not None
    assert (yaku(found), found.fu.rounded) == ({"riichi": 1, "pinfu": 1, "tanyao": 1}, 30)


def test_without_pinfu_the_reading_with_the_most_fu_is_counted() -> None:
    # Open, so there is no pinfu. The 2 fu of the pair wait are counted.
    found = items(made("4456s567p678m", "4s", "chii 234m"), self_drawn=True)
    assert found == {"winning": 20, "pair_wait": 2, "tsumo": 2}
