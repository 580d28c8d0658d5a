"""The value of a riichi hand: yaku by yaku, and properties."""

from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules import RuleError, load_riichi, shipped_riichi
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.fu import hand_readings, has_yaku
from broker.rules.riichi.hand import RiichiHand, RiichiSituation
from broker.rules.riichi.points import base_of
from broker.rules.riichi.value import RiichiHandValue, riichi_value, value_and_payments
from tests.benchmarks.riichi.agreement import verdicts
from tests.benchmarks.riichi.hands import winning_hand
from tests.broker.rules.riichi.hands import BASIC, MONTREAL, TENHOU, counted, made, situation, with_setting, yaku

PINFU: Final = made("234m678p2345578s", "6s")
"""Pinfu and tanyao on 6s."""

OPEN: Final = made("456p78s55s", "9s", "chii 123m", "pon 444m")
"""An open hand without any yaku."""

TRIPLETS: Final = made("222p555p333m1299s", "3s")
"""Three concealed triplets."""

WHEELS: Final = {suit: made(f"223344556677{suit}8{suit}", f"8{suit}") for suit in "mps"}
"""Seven pairs from 2 to 8."""

THIRTEEN: Final = made("19m19p19s1234567z", "7z")

FOUR_TRIPLETS: Final = made("222p555p333m999s1z", "1z")

COUNTED: Final = made("1234567899923m", "1m")
"""Pinfu, two identical sequences, the straight and one suit: 10 han."""

DISJOINT: Final = made("147m258p369s1234z", "1m")


def refused(hand: RiichiHand, profile: RiichiProfile = MONTREAL, **how: Any) -> str:  # noqa: ANN401 - fields of a situation
    """Return the code with which a hand is refused."""
    with pytest.raises(RuleError) as problem:
        counted(hand, profile, **how)
    return problem.value.code


@pytest.mark.parametrize(
    ("hand", "how", "expected"),
    [
        (PINFU, {"riichi": 1}, {"riichi": 1, "pinfu": 1, "tanyao": 1}),
        (PINFU, {"riichi": 2, "ippatsu": True}, {"double_riichi": 2, "ippatsu": 1, "pinfu": 1, "tanyao": 1}),
        (PINFU, {"self_drawn": True, "haitei": True}, {"menzen_tsumo": 1, "pinfu": 1, "tanyao": 1, "haitei": 1}),
        (made("234m678p2345578s", "6s"), {"chankan": True}, {"pinfu": 1, "tanyao": 1, "chankan": 1}),
        (made("112233m456p78s99s", "6s"), {}, {"pinfu": 1, "iipeikou": 1}),
        (made("112233m445566p9s", "9s"), {}, {"ryanpeikou": 3}),
        (made("1199m3355p7788s4z", "4z"), {}, {"chiitoitsu": 2}),
        (made("123456789m23p55s", "1p"), {}, {"pinfu": 1, "ittsu": 2}),
        (OPEN, {"houtei": True}, {"houtei": 1}),
        (made("23499m34s", "2s", "chii 234p", "chii 678s"), {}, {"sanshoku_doujun": 1}),
        (made("11z23s", "1s", "chii 789m", "chii 123p", "pon 999p"), {}, {"chanta": 1}),
        (made("99s12m", "3m", "chii 789m", "chii 123p", "pon 999p"), {}, {"junchan": 2}),
        (made("22p99m", "9m", "pon 333m", "pon 777s", "pon 888p"), {}, {"toitoi": 2}),
        (TRIPLETS, {"riichi": 1}, {"riichi": 1, "sanankou": 2}),
        (made("99m45s", "6s", "kan 2222m", "kan 3333p", "kan 8888s"), {}, {"sankantsu": 2}),
        (made("99m45s", "6s", "pon 222m", "pon 222p", "pon 222s"), {}, {"sanshoku_doukou": 2}),
        (made("99m45s", "6s", "pon 222z", "chii 123p", "chii 789m"), {}, {"seat_wind_south": 1}),
        (made("23456m44z", "7m", "pon 999m", "chii 123m"), {}, {"honitsu": 2}),
        (made("23455m78m", "9m", "chii 123m", "pon 999m"), {}, {"chinitsu": 5}),
        (
            made("99m11z", "1z", "pon 111m", "pon 999p", "pon 999s"),
            {},
            {"round_wind_east": 1, "toitoi": 2, "honroutou": 2},
        ),
        (
            made("77z45s", "6s", "pon 555z", "pon 666z", "chii 123m"),
            {},
            {"yakuhai_white": 1, "yakuhai_green": 1, "shousangen": 2},
        ),
        (
            made("99m45s", "6s", "pon 111z", "chii 123p", "chii 789m"),
            {"seat_wind": "east"},
            {"seat_wind_east": 1, "round_wind_east": 1},
        ),
    ],
)
def test_each_yaku_is_counted(hand: RiichiHand, how: dict[str, Any], expected: dict[str, int]) -> None:
    assert yaku(counted(hand, **how)) == expected


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        (THIRTEEN, {"kokushi_thirteen_wait": 2}),
        (made("119m19p19s123456z", "7z"), {"kokushi": 1}),
        (made("2233p555p333m999s", "2p"), {"suuankou": 1}),
        (FOUR_TRIPLETS, {"suuankou_tanki": 2}),
        (made("11m23p", "1p", "pon 555z", "pon 666z", "pon 777z"), {"daisangen": 1}),
        (made("44z23p", "1p", "pon 111z", "pon 222z", "pon 333z"), {"shousuushii": 1}),
        (made("44z11p", "4z", "pon 111z", "pon 222z", "pon 333z"), {"daisuushii": 2}),
        (made("1122334455667z", "7z"), {"tsuuiisou": 1}),
        (made("66888s66z", "6s", "chii 234s", "chii 234s"), {"ryuuiisou": 1}),
        (made("2233444666888s", "2s"), {"ryuuiisou": 1, "suuankou": 1}),
        (made("99m11p", "9m", "pon 111m", "pon 999p", "pon 999s"), {"chinroutou": 1}),
        (made("1112345678999m", "5m"), {"junsei_chuuren": 2}),
        (made("1112345567999m", "8m"), {"chuuren": 1}),
        (made("5m", "5m", "kan 1111m", "kan 2222p", "kan 9999s", "kan 4444z"), {"suukantsu": 1}),
        (WHEELS["s"], {"daisharin": 1}),
    ],
)
def test_each_yakuman_is_counted_and_double_yakuman_count_twice(hand: RiichiHand, expected: dict[str, int]) -> None:
    self_drawn = "suuankou" in expected
    found = counted(hand, self_drawn=self_drawn, seat_wind="west")
    assert {one.id: one.yakuman for one in found.yaku} == expected
    assert (found.yakuman, found.han) == (sum(expected.values()), 13 * sum(expected.values()))


def test_several_yakuman_are_counted_as_the_profile_says() -> None:
    # Big four winds, all honours and four concealed triplets, self-drawn on a two-pair wait.
    hand = made("1122233344455z", "1z")
    found = [counted(hand, one, self_drawn=True).yakuman for one in (MONTREAL, TENHOU, BASIC)]
    assert found == [4, 3, 1]


def test_thirteen_han_without_a_yakuman_are_a_counted_yakuman() -> None:
    found, paid = value_and_payments(COUNTED, situation(riichi=2, ippatsu=True), MONTREAL)
    assert (found.han, found.yakuman, paid.limit, paid.base) == (13, 0, "counted_yakuman", 8000)


def test_a_yakuman_is_counted_without_other_yaku_and_dora() -> None:
    assert yaku(counted(THIRTEEN, dora_indicators=("6z",))) == {"kokushi_thirteen_wait": 26}


def test_open_tanyao_is_an_option() -> None:
    hand = made("23466m34s", "2s", "chii 345p", "chii 678s")
    assert yaku(counted(hand)) == {"tanyao": 1}
    assert refused(hand, with_setting(MONTREAL, "hand", "open_tanyao", False)) == "no_yaku"  # noqa: FBT003 - the setting


@pytest.mark.parametrize(
    ("suit", "profile", "expected"),
    [("m", MONTREAL, 1), ("p", MONTREAL, 1), ("s", MONTREAL, 1), ("p", TENHOU, 0), ("p", BASIC, 0)],
)
def test_the_wheel_is_a_yakuman_in_all_suits_in_montreal(suit: str, profile: RiichiProfile, expected: int) -> None:
    assert counted(WHEELS[suit], profile).yakuman == expected


@pytest.mark.parametrize(("suit", "expected"), [("m", 0), ("p", 1), ("s", 0)])
def test_the_wheel_may_be_restricted_to_dots(suit: str, expected: int) -> None:
    assert counted(WHEELS[suit], with_setting(MONTREAL, "hand", "daisharin", "dots")).yakuman == expected


def test_open_riichi_has_one_han_more_than_riichi() -> None:
    assert yaku(counted(PINFU, riichi=1, open_riichi=True)) == {"open_riichi": 2, "pinfu": 1, "tanyao": 1}
    assert yaku(counted(PINFU, riichi=2, open_riichi=True)) == {"double_open_riichi": 3, "pinfu": 1, "tanyao": 1}


def test_renhou_is_a_mangan_whatever_its_yaku() -> None:
    found, paid = value_and_payments(PINFU, situation(first_turn=True), MONTREAL)
    assert (yaku(found), paid.discarder_pays) == ({"renhou": 5}, 8000)


def test_a_hand_without_other_yaku_can_win_by_renhou() -> None:
    assert yaku(counted(made("123m456p78923s77z", "1s"), first_turn=True)) == {"renhou": 5}


def test_renhou_is_not_counted_if_the_other_yaku_are_worth_more() -> None:
    found = yaku(counted(made("2233445566778m", "8m"), TENHOU, first_turn=True))
    assert found == yaku(counted(made("2233445566778m", "8m"), TENHOU))


@pytest.mark.parametrize(("setting", "expected"), [("none", {"pinfu": 1, "tanyao": 1}), ("yakuman", {"renhou": 13})])
def test_renhou_is_an_option(setting: str, expected: dict[str, int]) -> None:
    assert yaku(counted(PINFU, with_setting(MONTREAL, "hand", "renhou", setting), first_turn=True)) == expected


@pytest.mark.parametrize(("seat", "expected"), [("east", "tenhou"), ("south", "chiihou"), ("north", "chiihou")])
def test_a_win_on_the_first_draw_is_a_yakuman(seat: str, expected: str) -> None:
    assert yaku(counted(PINFU, first_turn=True, self_drawn=True, seat_wind=seat)) == {expected: 13}


def test_the_yakuman_of_the_first_draw_is_added_to_others() -> None:
    assert counted(THIRTEEN, first_turn=True, self_drawn=True).yakuman == 3


def test_the_disjoint_hand_is_a_mangan_on_the_first_draw() -> None:
    found, paid = value_and_payments(DISJOINT, situation(first_turn=True, self_drawn=True), MONTREAL)
    assert (yaku(found), paid.dealer_pays, paid.each_non_dealer_pays) == ({"shiisanputa": 5}, 4000, 2000)


@pytest.mark.parametrize(
    ("hand", "how"),
    [
        (DISJOINT, {"self_drawn": True}),
        (DISJOINT, {"first_turn": True}),
        (made("146m258p369s1234z", "1m"), {"first_turn": True, "self_drawn": True}),
        (made("147m258p369s1234z", "5z"), {"first_turn": True, "self_drawn": True}),
        (made("147m258p369s1123z", "1m"), {"first_turn": True, "self_drawn": True}),
    ],
)
def test_the_disjoint_hand_needs_one_pair_no_related_tiles_and_the_first_draw(
    hand: RiichiHand, how: dict[str, Any]
) -> None:
    assert refused(hand, **how) == "not_winning"


def test_the_disjoint_hand_does_not_win_on_tenhou() -> None:
    assert refused(DISJOINT, TENHOU, first_turn=True, self_drawn=True) == "not_winning"


def test_the_win_after_eight_counters_is_a_yakuman_if_it_has_a_yaku() -> None:
    assert yaku(counted(PINFU, after_eight_counters=True)) == {"paarenchan": 13}
    assert refused(OPEN, after_eight_counters=True) == "no_yaku"
    assert yaku(counted(PINFU, TENHOU, after_eight_counters=True)) == {"pinfu": 1, "tanyao": 1}


def test_the_win_after_eight_counters_may_be_allowed_without_a_yaku() -> None:
    any_hand = with_setting(MONTREAL, "hand", "paarenchan", "any_hand")
    assert yaku(counted(OPEN, any_hand, after_eight_counters=True)) == {"paarenchan": 13}


def test_the_disjoint_hand_may_be_a_yakuman_and_may_win_after_eight_counters() -> None:
    yakuman = with_setting(MONTREAL, "hand", "shiisanputa", "yakuman")
    assert yaku(counted(DISJOINT, yakuman, first_turn=True, self_drawn=True)) == {"shiisanputa": 13}
    found = counted(DISJOINT, first_turn=True, self_drawn=True, after_eight_counters=True)
    assert yaku(found) == {"paarenchan": 13}


def test_eight_counters_need_a_yaku_even_in_the_first_turn() -> None:
    without = with_setting(MONTREAL, "hand", "renhou", "none")
    hand = made("123m456p78923s77z", "1s")
    assert refused(hand, without, first_turn=True, after_eight_counters=True) == "no_yaku"
    assert yaku(counted(hand, first_turn=True, after_eight_counters=True)) == {"paarenchan": 13}


def test_a_hand_without_yaku_cannot_win_whatever_its_dora() -> None:
    assert refused(OPEN, dora_indicators=("3m",)) == "no_yaku"


def test_each_indicator_counts_its_dora_and_riichi_adds_the_ura_dora() -> None:
    found = counted(PINFU, riichi=1, dora_indicators=("1m", "4s"), ura_indicators=("1m",))
    assert yaku(found) == {"riichi": 1, "pinfu": 1, "tanyao": 1, "dora": 3, "ura_dora": 1}
    assert "ura_dora" not in yaku(counted(PINFU, ura_indicators=("1m",)))


@pytest.mark.parametrize(
    ("indicator", "hand"),
    [
        ("9m", made("11m234567p789p34s", "2s")),
        ("9s", made("11s234567p789p34m", "2m")),
        ("4z", made("11z234567p789p34s", "2s")),
        ("7z", made("55z234567p789p34s", "2s")),
    ],
)
def test_the_dora_of_the_last_tile_of_a_sequence_is_the_first(indicator: str, hand: RiichiHand) -> None:
    assert yaku(counted(hand, riichi=1, dora_indicators=(indicator,)))["dora"] == 2


def test_a_red_five_is_a_dora_on_tenhou_and_a_five_in_montreal() -> None:
    hand = made("234m678p2340578s", "6s")
    assert yaku(counted(hand, TENHOU)) == {"pinfu": 1, "tanyao": 1, "red_five": 1}
    assert yaku(counted(hand, MONTREAL)) == {"pinfu": 1, "tanyao": 1}


def test_a_red_five_counts_in_a_meld_and_as_the_winning_tile() -> None:
    hand = made("23466m34s", "0s", "chii 340p", "chii 678s")
    assert yaku(counted(hand, TENHOU)) == {"tanyao": 1, "red_five": 2}


def test_readings_are_compared_separately_if_the_replacement_tile_has_no_fu() -> None:
    # 111222333m are three triplets or three sequences. The library would choose with fu for the replacement tile.
    found = counted(made("111222333m9p", "9p", "kan 8888s"), self_drawn=True, rinshan=True)
    assert yaku(found) == {"rinshan_kaihou": 1, "toitoi": 2, "sanankou": 2}


def test_a_red_five_counts_in_separately_compared_readings() -> None:
    without = with_setting(TENHOU, "fu", "replacement_tile", 0)
    found = counted(made("444055666m9p", "9p", "kan 8888s"), without, self_drawn=True, rinshan=True)
    assert yaku(found) == {"rinshan_kaihou": 1, "toitoi": 2, "sanankou": 2, "red_five": 1}


@st.composite
def wins(draw: st.DrawFn) -> tuple[RiichiHand, RiichiSituation]:
    """Draw a winning hand and its situation."""
    return winning_hand(Random(draw(st.integers(0, 2**32))))


def found(hand: RiichiHand, how: RiichiSituation) -> RiichiHandValue | None:
    """Return the value of a hand, or None without a yaku."""
    try:
        return riichi_value(hand, how, MONTREAL)
    except RuleError as problem:
        if problem.code != "no_yaku":
            raise
        return None


@pytest.mark.parametrize("profile_id", shipped_riichi())
def test_our_fu_agree_with_the_library(profile_id: str) -> None:
    # `python -m tests.benchmarks.riichi.agreement 1000000` is the long version.
    counts, different = verdicts(load_riichi(profile_id), 250, seed=8)
    assert different == []
    assert counts["agree"] > 100
    assert set(counts) <= {"agree", "no_yaku", "yakuman", "agree but for the option"}
    assert "agree but for the option" not in counts or profile_id == MONTREAL.id


@given(wins())
def test_the_order_of_tiles_and_melds_does_not_matter(win: tuple[RiichiHand, RiichiSituation]) -> None:
    hand, how = win
    turned = RiichiHand(hand.concealed[::-1], hand.winning_tile, hand.melds[::-1])
    one, other = found(hand, how), found(turned, how)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.yaku, one.fu and one.fu.sum) == (other.yaku, other.fu and other.fu.sum)


@given(wins())
def test_the_fu_are_those_of_a_reading_that_has_the_yaku(win: tuple[RiichiHand, RiichiSituation]) -> None:
    hand, how = win
    counted = found(hand, how)
    if counted is not None and not counted.yakuman:
        yaku = {one.id for one in counted.yaku}
        assert any(has_yaku(one, yaku, how) for one in hand_readings(hand, self_drawn=how.self_drawn))


@given(wins())
def test_dora_never_lower_the_value_of_a_hand(win: tuple[RiichiHand, RiichiSituation]) -> None:
    hand, how = win
    bare = found(hand, replace(how, dora_indicators=()))
    if bare is not None:
        more = found(hand, how)
        assert more is not None
        bases = [base_of(one.win(how), MONTREAL.points)[0] for one in (bare, more)]
        assert bases == sorted(bases)


@given(wins())
def test_riichi_never_lowers_the_value_of_a_closed_hand(win: tuple[RiichiHand, RiichiSituation]) -> None:
    hand, how = win
    if not hand.open and not how.riichi:
        silent, declared = found(hand, how), found(hand, replace(how, riichi=1))
        assert declared is not None
        least = base_of(silent.win(how), TENHOU.points)[0] if silent else 0
        assert base_of(declared.win(how), TENHOU.points)[0] >= least
