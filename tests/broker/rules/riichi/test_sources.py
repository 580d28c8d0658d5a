"""Examples and laws of the three sources that no other test covers, each with its sentence."""

from dataclasses import replace
from itertools import product
from random import Random
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules import RuleError, Setting
from broker.rules.riichi import PaidWin, RiichiPayments, riichi_payments
from broker.rules.riichi.fu import hand_readings, is_pinfu
from broker.rules.riichi.points import MANGAN
from broker.rules.riichi.value import riichi_value
from tests.benchmarks.riichi.hands import winning_hand
from tests.broker.rules.riichi.hands import BASIC, MONTREAL, TENHOU, counted, made, yaku
from tests.broker.rules.riichi.referee_steps import OPEN, holding, play, refusal
from tests.broker.rules.riichi.session_steps import BEGIN, ron, settled

FU: Final = (20, 25, *range(30, 120, 10))


def paid(han: int, fu: int, *, dealer: bool = False, self_drawn: bool = False) -> RiichiPayments:
    """Return what han and fu pay."""
    return riichi_payments(PaidWin(han, fu, dealer, self_drawn), MONTREAL.points)


# ---- RIICHI-POINTS -----------------------------------------------------------------------------


def test_doubling_the_fu_equals_one_more_han() -> None:
    # The text: la ligne 40 fus est identique à celle à 20 fus, décalée d'une colonne; 25 et 50, 30 et 60, 40 et 80
    for low, han, dealer, own in product((20, 25, 30, 40), (1, 2, 3), (False, True), (False, True)):
        one = paid(han + 1, low, dealer=dealer, self_drawn=own)
        assert one == paid(han, 2 * low, dealer=dealer, self_drawn=own), (low, han, dealer, own)


def test_the_dealer_pays_for_a_drawn_hand_what_a_discarder_pays_for_one_han_less() -> None:
    # The text: la valeur payée par le dealer est toujours [celle du] joueur ayant donné la tuile [avec] un han de moins
    for han, fu in product((2, 3, 4), FU):
        drawn = paid(han, fu, self_drawn=True)
        if drawn.base < MANGAN:  # a limit does not change
            assert drawn.dealer_pays == paid(han - 1, fu).discarder_pays, (han, fu)


def test_each_player_pays_a_dealer_what_the_dealer_would_pay() -> None:
    # The text: la valeur payée par chaque joueur est égale à la valeur qu'aurait payée le dealer
    for han, fu in product((1, 2, 3, 4, 5, 6, 8, 11, 13), FU):
        to_dealer = paid(han, fu, dealer=True, self_drawn=True).each_other_pays
        assert to_dealer == paid(han, fu, self_drawn=True).dealer_pays, (han, fu)


@pytest.mark.parametrize(("han", "fu", "base"), [(2, 30, 480), (3, 50, 1600)])
def test_the_base_is_fu_doubled_twice_and_once_for_each_han(han: int, fu: int, base: int) -> None:
    # The text: 30x2x2x2x2 = 480, 50x2x2x2x2x2 = 1600
    assert paid(han, fu).base == base == fu * 2 ** (2 + han)


def test_with_rounding_up_four_han_are_a_mangan_except_with_20_or_25_fu() -> None:
    # The text: la majorité des mains de 4 hans valent mangan. Les seules exceptions sont [pinfu pioché] et chii toitsu
    rounding = msgspec.structs.replace(MONTREAL.points, kiriage=Setting(True, "a test's"))  # noqa: FBT003 - the value
    limits = {fu: riichi_payments(PaidWin(4, fu, dealer=False, self_drawn=True), rounding).limit for fu in FU}
    assert limits == {fu: None if fu in (20, 25) else "mangan" for fu in FU}


@given(st.integers(0, 2**32))
def test_only_a_self_drawn_pinfu_has_20_fu_and_pinfu_on_a_discard_has_30(seed: int) -> None:
    # The text: pinfu vaudra 20 fus [piochée], 30 fus [volée] ... les mains à 20 fus [ne sont que] dans ce cas
    hand, how = winning_hand(Random(seed))
    try:
        found = riichi_value(hand, how, MONTREAL)
    except RuleError:
        return
    if found.fu is None or found.yakuman:
        return
    pinfu = "pinfu" in yaku(found)
    assert (found.fu.rounded == 20) == (pinfu and how.self_drawn)
    assert not pinfu or how.self_drawn or found.fu.rounded == 30
    assert not pinfu or any(is_pinfu(one, how) for one in hand_readings(hand, self_drawn=how.self_drawn))


# ---- RIICHI-PLAY -------------------------------------------------------------------------------


def test_a_pon_of_the_player_opposite_skips_the_fourth_player() -> None:
    # The text: 1 de bambou, A appelle un pon ... 13 tuiles ... au tour [de] B ... D a été privé de son tour
    start = replace(holding(OPEN, "east", "11s123m456p789m55z"), turn="west")  # A, B, C, D: east to north
    board = play(start, "draw west", "discard west 1s", "pon east")
    east = board.player("east")
    assert (len(east.concealed or ()), east.melds[0].tiles) == (11, ("1s",) * 3)
    board = play(board, "discard east 5z", "no_call")
    assert (len(board.player("east").concealed or ()) + 3, board.turn) == (13, "south")
    assert refusal(board, "draw north") == "not_your_turn"


@pytest.mark.parametrize(("used", "stolen"), [("2s3s", "1s"), ("2s3s", "4s")])
def test_a_profile_may_forbid_discarding_the_tile_that_would_complete_the_chii(used: str, stolen: str) -> None:
    # note B: "je vole le 1 de bambou pour un chii 1-2-3 ... un 4 pour 2-3-4, il me sera impossible de défausser mon 1"
    for rules, code in ((TENHOU, "kuikae"), (MONTREAL, ""), (BASIC, "")):
        start = holding(OPEN, "south", "123s456m789p1155z")
        board = play(start, "draw east", f"discard east {stolen}", f"chii south {used}", rules=rules)
        assert refusal(board, "discard south 1s", rules) == code


def test_a_hand_with_two_pairs_waits_for_either_of_them() -> None:
    # The text: tire un 2 de caractère ... défausse un dragon rouge ... en attente d'un 1 de bambou ou d'un vent d'Est
    start = holding(OPEN, "east", "13m456p789p11s11z7z")
    board = play(start, "draw east 2m", "discard east 7z", "no_call", "draw south", "discard south 1z")
    assert board.player("east").waits() == ("1s", "1z")
    assert play(board, "ron east").over == "win"
    assert settled(ron(0, 1), BEGIN).deltas == (5800, -5800, 0, 0)  # la totalité du paiement


def test_a_player_who_discarded_a_winning_tile_wins_only_by_drawing() -> None:
    # The text: Il n'est pas possible de terminer sur un ron s'il est en attente d'une tuile qu'il a déjà défaussée
    start = holding(OPEN, "east", "123m456p789p11s11z")
    board = play(start, "draw east 1z", "discard east 1z", "no_call", "draw south", "discard south 1s")
    assert refusal(board, "ron east") == "furiten"


def test_a_ron_can_complete_any_group_with_a_discard_of_any_player() -> None:
    # The text: toutes les tuiles défaussées [de tous], pour compléter un chii, un pon, un kan ou même une paire
    for concealed, tile in (("234m678p2345578s", "6s"), ("234m678p22678s55z", "5z"), ("234m678p234678s5z", "5z")):
        board = play(holding(OPEN, "east", concealed), *["draw east 9m", "discard east 9m", "no_call", "draw south"])
        assert play(board, f"discard south {tile}", "ron east").over == "win"
        north = play(board, "discard south 9m", "no_call", "draw west", "discard west 9m", "no_call", "draw north")
        assert play(north, f"discard north {tile}", "ron east").over == "win"


# ---- MONTREAL ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("concealed", "tile"), [("223344s666s888s6z", "6z"), ("2223334446688s", "8s")])
def test_the_green_hand_counts_with_and_without_the_dragon(concealed: str, tile: str) -> None:
    # The text: ryuuiisou (la main verte, avec ou sans dragon)
    assert "ryuuiisou" in yaku(counted(made(concealed, tile)))


def test_the_replacement_tile_is_never_the_last_tile_and_counts_one_han() -> None:
    # The text: seul le yaku rinshan peut être compté pour 1 han, la tuile elle-même ne pouvant jamais être haitei
    found = yaku(counted(made("678p2345578s", "6s", "closed 8888m"), self_drawn=True, rinshan=True))
    assert found["rinshan_kaihou"] == 1
    assert "haitei" not in found


def test_a_robbed_concealed_kan_gives_thirteen_orphans_their_yakuman() -> None:
    # The text: kokushi musou (incluant la dérogation du kan caché)
    found = counted(made("19m19p19s1123456z", "7z"), chankan=True)
    assert [one.id for one in found.yaku if one.yakuman] == ["kokushi"]
