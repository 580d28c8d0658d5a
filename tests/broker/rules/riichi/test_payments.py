"""Payments of wins in a session, from MONTREAL and RIICHI-POINTS."""

from dataclasses import replace

import pytest

from broker.rules.riichi import RiichiProfile, Ron, SessionWin, Tsumo, settle_event
from tests.broker.rules.riichi.session_steps import BASIC, BEGIN, MONTREAL, TENHOU, ron, settled, tsumo

COUNTED = replace(BEGIN, counters=2)
PAO = SessionWin(1, yakuman=("daisangen",), responsible=3)


def test_the_dealer_s_ron_of_30_fu_and_2_han_is_2900() -> None:
    assert settled(ron(0, 2, han=2, fu=30)).deltas == (2900, 0, -2900, 0)


def test_a_drawn_hand_of_50_fu_and_3_han_is_3200_from_the_dealer_and_1600_from_the_others() -> None:
    assert settled(tsumo(1, han=3, fu=50)).deltas == (-3200, 6400, -1600, -1600)


def test_a_counter_costs_the_discarder_300_or_each_player_100() -> None:
    assert settled(ron(1, 2), COUNTED).deltas == (0, 4500, -4500, 0)
    assert settled(tsumo(1), COUNTED).deltas == (-2200, 4600, -1200, -1200)


def test_the_winner_takes_the_deposits_and_gets_the_own_one_back() -> None:
    state = replace(BEGIN, deposits=2)
    result = settled(replace(ron(1, 2), riichi=(1, 3)), state)
    assert result.deltas == (0, 3900 + 2000 + 1000, -3900, -1000)
    assert result.state.deposits == 0


def test_of_two_winners_the_first_in_turn_order_gets_counters_and_deposits() -> None:
    state = replace(BEGIN, counters=1, deposits=1)
    both = Ron(loser=2, wins=(SessionWin(1, 1, 30), SessionWin(3, 3, 30)))
    assert settled(both, state).deltas == (0, 1000, -1000 - 3900 - 300, 3900 + 300 + 1000)


def test_a_double_ron_is_paid_and_a_triple_ron_aborts_the_hand() -> None:
    two, three = (Ron(loser=3, wins=tuple(SessionWin(player, 3, 30) for player in range(count))) for count in (2, 3))
    assert settled(two).deltas == (5800, 3900, 0, -9700)
    refused = settled(replace(three, riichi=(0,)))
    assert refused.deltas == (-1000, 0, 0, 0)
    assert (refused.state.dealer, refused.state.counters, refused.state.deposits) == (0, 1, 1)


def test_under_the_basic_rules_only_the_nearest_in_turn_order_wins() -> None:
    wins = tuple(SessionWin(player, 3, 30) for player in (0, 1, 3))
    assert settle_event(BEGIN, Ron(loser=2, wins=wins), BASIC).deltas == (0, 0, -3900, 3900)


def test_the_responsible_player_pays_a_self_drawn_yakuman_and_its_counters() -> None:
    assert settled(Tsumo(win=PAO), COUNTED).deltas == (0, 32600, 0, -32600)


def test_the_responsible_player_pays_half_of_a_ron_and_all_its_counters() -> None:
    assert settled(Ron(loser=2, wins=(PAO,)), COUNTED).deltas == (0, 32600, -16000, -16600)
    assert settled(Ron(loser=3, wins=(PAO,)), COUNTED).deltas == (0, 32600, 0, -32600)


def test_the_responsible_player_also_pays_a_yakuman_of_the_dealer() -> None:
    win = replace(PAO, winner=0, yakuman=("daisuushii",))
    assert settled(Tsumo(win=win)).deltas == (96000, 0, 0, -96000)
    assert settled(Ron(loser=1, wins=(win,))).deltas == (96000, -48000, 0, -48000)


@pytest.mark.parametrize(
    ("rules", "deltas"),
    [(MONTREAL, (0, 64000, 0, -64000)), (TENHOU, (-16000, 64000, -8000, -40000))],
    ids=["montreal", "tenhou"],
)
def test_pao_covers_the_whole_hand_or_only_the_fed_yakuman(rules: RiichiProfile, deltas: tuple[int, ...]) -> None:
    win = replace(PAO, yakuman=("daisangen", "tsuuiisou"))
    assert settle_event(BEGIN, Tsumo(win=win), rules).deltas == deltas


def test_on_tenhou_a_ron_with_two_yakuman_splits_only_the_fed_one() -> None:
    win = replace(PAO, yakuman=("daisangen", "tsuuiisou"))
    assert settle_event(BEGIN, Ron(loser=2, wins=(win,)), TENHOU).deltas == (0, 64000, -48000, -16000)


def test_the_discarder_of_the_kan_tile_pays_a_win_on_the_replacement() -> None:
    live = replace(tsumo(1, han=3, fu=40), kan_from=2)
    assert settled(live, COUNTED).deltas == (0, 2600 + 1300 + 1300 + 600, -5800, 0)
    assert settle_event(COUNTED, live, TENHOU).deltas == (-2800, 5800, -1500, -1500)


def test_double_yakuman_are_doubled_and_added_but_counted_yakuman_are_not() -> None:
    def ron_of(*names: str, han: int | None = None) -> int:
        return settled(Ron(loser=2, wins=(SessionWin(1, han, yakuman=names),))).deltas[1]

    assert ron_of("daisangen") == 32000
    assert ron_of("Dai Suushii") == 64000
    assert ron_of("suuankou_tanki", "tsuuiisou") == 96000
    assert ron_of("kazoe", "daisangen") == 32000
    assert ron_of(han=13) == ron_of(han=26) == ron_of("kazoe") == 32000


def test_a_number_of_yakuman_overrides_their_names() -> None:
    assert settled(Ron(loser=2, wins=(SessionWin(1, yakuman=("daisangen",), yakuman_count=3),))).deltas[1] == 96000


@pytest.mark.parametrize("name", ["renhou", "shiisanputa"])
def test_renhou_and_the_disjoint_hand_are_worth_a_mangan(name: str) -> None:
    assert settled(Ron(loser=2, wins=(SessionWin(1, yaku=(name,)),))).deltas[1] == 8000
    assert settled(Ron(loser=2, wins=(SessionWin(1, yakuman=(name,)),))).deltas[1] == 8000
    assert settled(Ron(loser=2, wins=(SessionWin(1, 6, 30, yaku=(name,)),))).deltas[1] == 12000


def test_the_win_after_eight_counters_is_a_yakuman_for_any_winner() -> None:
    eight = replace(BEGIN, counters=8)
    assert settled(ron(1, 2, han=1), eight).deltas == (0, 34400, -34400, 0)
    assert settled(tsumo(0, han=1), eight).deltas == (50400, -16800, -16800, -16800)
    assert settled(ron(1, 2, han=1), replace(eight, counters=7)).deltas == (0, 3100, -3100, 0)
    declined = Ron(loser=2, wins=(SessionWin(1, 1, 30, after_eight_counters=False),))
    assert settled(declined, eight).deltas == (0, 3400, -3400, 0)
    assert settle_event(eight, ron(1, 2, han=1), TENHOU).deltas == (0, 3400, -3400, 0)


def test_paarenchan_is_added_to_other_yakuman_but_not_to_a_counted_one() -> None:
    eight = replace(BEGIN, counters=8)
    for names, total in [(("daisangen",), 66400), (("paarenchan",), 34400), (("kazoe",), 34400)]:
        assert settled(Ron(loser=2, wins=(SessionWin(1, yakuman=names),)), eight).deltas[1] == total


def test_a_win_cancels_a_chombo_of_the_same_hand() -> None:
    assert settled(replace(ron(1, 2), chombo=(3,))) == settled(ron(1, 2))
