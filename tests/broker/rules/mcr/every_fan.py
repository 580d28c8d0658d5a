"""A hand for each of the 80 fan that can occur without flowers, with its value counted by hand from the book.

Unless stated otherwise, South won it on a discard in the east round. Most change one thing in a hand without any fan:
123m 888p 345p 678s 33z, waiting on both sides of 67s.
"""

from typing import Final, NamedTuple

from broker.rules.mcr import McrHand, McrSituation
from tests.broker.rules.mcr.hands import hand, situation


class Example(NamedTuple):
    """A hand and its value."""

    hand: McrHand
    worth: str
    how: McrSituation


def example(worth: str, concealed: str, winning_tile: str, *melds: str, how: str = "", seat: str = "south") -> Example:
    """Return one example."""
    return Example(hand(concealed, winning_tile, *melds), worth, situation(how, seat=seat))


EVERY_FAN: Final = {
    # 88: Big Four Winds implies All Pungs, the pungs of winds and Big Three Winds.
    "big_four_winds": example(
        "88 Big Four Winds + 6 Half Flush + 1 Single Wait", "444z 5m", "5m", "111z", "222z", "333z"
    ),
    "big_three_dragons": example("88 Big Three Dragons + 1 One Voided Suit", "23m 99p", "4m", "555z", "666z", "777z"),
    # Without green dragons, so that Full Flush is counted too. The four 4s are in two chows and the pair.
    "all_green": example(
        "88 All Green + 24 Full Flush + 2 Tile Hog + 2 All Simples + 1 Pure Double Chow",
        "223344s 4s",
        "4s",
        "666s",
        "888s",
    ),
    "nine_gates": example("88 Nine Gates + 1 Short Straight", "1112345678999m", "3m"),
    "four_kongs": example(
        "88 Four Kongs + 2 Dragon Pung + 1 Self-Drawn", "5m", "5m", "2222p", "7777s", "4444p", "6666z", how="drawn"
    ),
    "seven_shifted_pairs": example("88 Seven Shifted Pairs + 2 All Simples", "2233445566778p", "8p"),
    "thirteen_orphans": example("88 Thirteen Orphans", "19m 19p 19s 1234567z", "1m"),
    # 64
    "all_terminals": example(
        "64 All Terminals + 16 Triple Pung + 1 Single Wait", "999m 9p", "9p", "111m", "111p", "111s"
    ),
    # Seat and prevalent wind are counted in addition. 123m would make it an Outside Hand, 234m does not.
    "little_four_winds": example(
        "64 Little Four Winds + 6 Half Flush + 2 Prevalent Wind + 2 Seat Wind",
        "44z 23m",
        "4m",
        "111z",
        "222z",
        "333z",
    ),
    "little_three_dragons": example(
        "64 Little Three Dragons + 1 One Voided Suit", "77z 23m 456p", "4m", "555z", "666z"
    ),
    "all_honors": example(
        "64 All Honors + 6 Two Dragons Pungs + 1 Single Wait", "666z 1z", "1z", "333z", "444z", "555z"
    ),
    "four_concealed_pungs": example(
        "64 Four Concealed Pungs + 2 All Simples + 1 Single Wait", "222m 555p 777s 333p 8m", "8m"
    ),
    "pure_terminal_chows": example("64 Pure Terminal Chows", "123m 789m 78m 55m", "9m", "123m"),
    # 48
    "quadruple_chow": example(
        "48 Quadruple Chow + 2 All Chows + 2 All Simples + 1 One Voided Suit",
        "234m 23m 88p",
        "4m",
        "234m",
        "234m",
    ),
    "four_pure_shifted_pungs": example(
        "48 Four Pure Shifted Pungs + 1 One Voided Suit + 1 No Honors + 1 Single Wait",
        "555m 9p",
        "9p",
        "222m",
        "333m",
        "444m",
    ),
    # 32
    "four_pure_shifted_chows": example(
        "32 Four Pure Shifted Chows + 2 All Chows + 1 One Voided Suit", "45m 99p", "6m", "123m", "234m", "345m"
    ),
    "three_kongs": example("32 Three Kongs + 1 No Honors", "34m 99p", "5m", "2222m", "5555p", "8888s"),
    "all_terminals_and_honors": example(
        "32 All Terminals and Honors + 1 One Voided Suit + 1 Single Wait", "444z 5z", "5z", "111m", "999p", "333z"
    ),
    # 24
    "seven_pairs": example("24 Seven Pairs", "1133m 5577p 2299s 4z", "4z"),
    "greater_honors_and_knitted_tiles": example("24 Greater Honors and Knitted Tiles", "1234567z 147m 25p 3s", "6s"),
    "all_even_pungs": example("24 All Even Pungs + 1 Single Wait", "888m 2p", "2p", "222m", "444p", "666s"),
    "full_flush": example("24 Full Flush + 1 Pung of Terminals or Honors", "34m 66m", "5m", "123m", "777m", "999m"),
    "pure_triple_chow": example(
        "24 Pure Triple Chow + 1 Pung of Terminals or Honors + 1 No Honors", "45p 999s 22m", "6p", "456p", "456p"
    ),
    "pure_shifted_pungs": example("24 Pure Shifted Pungs + 1 No Honors", "78m 11p", "6m", "333s", "444s", "555s"),
    "upper_tiles": example(
        "24 Upper Tiles + 1 Pure Double Chow + 1 Pung of Terminals or Honors + 1 Edge Wait",
        "89m 77s",
        "7m",
        "789m",
        "888p",
        "999s",
    ),
    "middle_tiles": example("24 Middle Tiles + 1 Pure Double Chow", "56m 44s", "4m", "456m", "555p", "666s"),
    "lower_tiles": example(
        "24 Lower Tiles + 1 Pure Double Chow + 1 Edge Wait", "12m 11s", "3m", "123m", "222p", "333s"
    ),
    # 16
    "pure_straight": example("16 Pure Straight + 1 No Honors", "78s 55m 222p", "9s", "123s", "456s"),
    "three_suited_terminal_chows": example("16 Three-Suited Terminal Chows", "123p 78p 55s", "9p", "123m", "789m"),
    "pure_shifted_chows": example("16 Pure Shifted Chows + 1 No Honors", "34p 88m 777s", "5p", "123p", "234p"),
    # 345m 456s 567p are shifted across the suits. The fourth chow, 456m, combines once more with one of them, 456s.
    "all_fives": example(
        "16 All Fives + 6 Mixed Shifted Chows + 2 All Chows + 1 Mixed Double Chow + 1 Closed Wait",
        "456s 46m 55s",
        "5m",
        "345m",
        "567p",
    ),
    "triple_pung": example("16 Triple Pung", "78m 11z", "9m", "444m", "444p", "444s"),
    "three_concealed_pungs": example("16 Three Concealed Pungs + 1 Single Wait", "222m 666p 888s 4z", "4z", "789p"),
    # 12
    "lesser_honors_and_knitted_tiles": example("12 Lesser Honors and Knitted Tiles", "123456z 147m 258p 3s", "6s"),
    "knitted_straight": example("12 Knitted Straight + 2 All Chows", "147m 258p 36s 88m", "9s", "567p"),
    "upper_four": example(
        "12 Upper Four + 1 Mixed Double Chow + 1 Pung of Terminals or Honors",
        "67p 88m",
        "8p",
        "678m",
        "999p",
        "777s",
    ),
    "lower_four": example("12 Lower Four", "34m 11p", "2m", "123m", "444p", "222s"),
    "big_three_winds": example(
        "12 Big Three Winds + 1 One Voided Suit", "34m 88p", "5m", "222z", "333z", "444z", seat="east"
    ),
    # 8
    "mixed_straight": example(
        "8 Mixed Straight + 1 Pung of Terminals or Honors + 1 No Honors", "78s 33p 999m", "9s", "123m", "456p"
    ),
    "reversible_tiles": example(
        "8 Reversible Tiles + 1 Pung of Terminals or Honors", "45s 55z", "6s", "123p", "888s", "999p"
    ),
    "mixed_triple_chow": example(
        "8 Mixed Triple Chow + 1 Pung of Terminals or Honors + 1 No Honors", "23s 999s 66m", "4s", "234m", "234p"
    ),
    "mixed_shifted_pungs": example("8 Mixed Shifted Pungs + 1 No Honors", "67m 99s", "8m", "222m", "333p", "444s"),
    "chicken_hand": example("8 Chicken Hand", "345p 67s 33z", "8s", "123m", "888p"),
    "last_tile_draw": example("8 Last Tile Draw", "345p 67s 33z", "8s", "123m", "888p", how="drawn last_tile"),
    "last_tile_claim": example("8 Last Tile Claim", "345p 67s 33z", "8s", "123m", "888p", how="last_tile"),
    "out_with_replacement_tile": example(
        "8 Out with Replacement Tile + 1 Melded Kong", "345p 67s 33z", "8s", "123m", "8888p", how="drawn kong"
    ),
    "robbing_the_kong": example("8 Robbing the Kong", "345p 67s 33z", "8s", "123m", "888p", how="kong"),
    "two_concealed_kongs": example("8 Two Concealed Kongs", "67s 33z", "8s", "123m", "(8888p)", "(6666m)"),
    # 6
    "all_pungs": example("6 All Pungs + 1 Pung of Terminals or Honors", "99s 33z", "9s", "222m", "555m", "888p"),
    "half_flush": example("6 Half Flush + 1 Pung of Terminals or Honors", "67m 88899m", "5m", "123m", "444z"),
    "mixed_shifted_chows": example(
        "6 Mixed Shifted Chows + 1 Pung of Terminals or Honors + 1 No Honors", "34s 999m 77p", "5s", "123m", "234p"
    ),
    "all_types": example("6 All Types + 1 Pung of Terminals or Honors", "67s 66z", "8s", "123m", "888p", "333z"),
    "melded_hand": example("6 Melded Hand", "3z", "3z", "123m", "888p", "345p", "678s"),
    "two_dragons_pungs": example("6 Two Dragons Pungs", "67s 55p", "8s", "123m", "555z", "666z"),
    # 4
    "outside_hand": example(
        "4 Outside Hand + 1 Pung of Terminals or Honors + 1 Pung of Terminals or Honors",
        "78s 11s",
        "9s",
        "123m",
        "999p",
        "333z",
    ),
    "fully_concealed_hand": example("4 Fully Concealed Hand", "123m 888p 345p 67s 33z", "8s", how="drawn"),
    "two_melded_kongs": example("4 Two Melded Kongs", "67s 33z", "8s", "123m", "8888p", "6666m"),
    "last_tile": example("4 Last Tile", "345p 67s 33z", "8s", "123m", "888p", how="last_of_kind"),
    # 2
    "dragon_pung": example("2 Dragon Pung", "345p 67s 99p", "8s", "123m", "555z"),
    "prevalent_wind": example("2 Prevalent Wind", "345p 67s 99p", "8s", "123m", "111z"),
    "seat_wind": example("2 Seat Wind", "345p 67s 99p", "8s", "123m", "222z"),
    "concealed_hand": example("2 Concealed Hand", "123m 888p 345p 67s 33z", "8s"),
    "all_chows": example("2 All Chows", "67s 99p", "8s", "123m", "567m", "345p"),
    "tile_hog": example("2 Tile Hog", "45s 33z", "6s", "123m", "888p", "678p"),
    "double_pung": example("2 Double Pung", "67s 33z", "8s", "123m", "888p", "888m"),
    "two_concealed_pungs": example("2 Two Concealed Pungs", "888p 555m 67s 33z", "8s", "123m"),
    "concealed_kong": example("2 Concealed Kong", "345p 67s 33z", "8s", "123m", "(8888p)"),
    "all_simples": example("2 All Simples", "345p 67s 55m", "8s", "234m", "888p"),
    # 1
    "pure_double_chow": example("1 Pure Double Chow", "67s 33z", "8s", "123m", "123m", "888p"),
    "mixed_double_chow": example("1 Mixed Double Chow", "67s 33z", "8s", "123m", "123p", "888p"),
    "short_straight": example("1 Short Straight", "67s 33z", "8s", "123m", "456m", "888p"),
    "two_terminal_chows": example("1 Two Terminal Chows", "67s 33z", "8s", "123m", "789m", "888p"),
    "pung_of_terminals_or_honors": example("1 Pung of Terminals or Honors", "345p 67s 33z", "8s", "123m", "999p"),
    "melded_kong": example("1 Melded Kong", "345p 67s 33z", "8s", "123m", "8888p"),
    "one_voided_suit": example("1 One Voided Suit", "345p 67m 33z", "8m", "123m", "888p"),
    "no_honors": example("1 No Honors", "345p 67s 55m", "8s", "123m", "888p"),
    "edge_wait": example("1 Edge Wait", "345p 12s 33z", "3s", "678m", "888p"),
    "closed_wait": example("1 Closed Wait", "345p 68s 33z", "7s", "123m", "888p"),
    "single_wait": example("1 Single Wait", "345p 678s 3z", "3z", "123m", "888p"),
    "self_drawn": example("1 Self-Drawn", "345p 67s 33z", "8s", "123m", "888p", how="drawn"),
    # In addition to the 81: the Green Book's 6 for one kong of each kind.
    "concealed_kong_and_melded_kong": example(
        "6 Concealed Kong and Melded Kong", "67s 33z", "8s", "123m", "8888p", "(6666m)"
    ),
}
"""Examples by the id of the fan that they illustrate."""
