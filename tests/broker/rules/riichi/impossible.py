"""Impossible hands and situations with the codes of their refusals, for tests of the rules and the command."""

from typing import Any, Final

CLOSED: Final = ("234m678p2345578s", "6s")
CALLED: Final = ("678p2345578s", "6s", "chii 234m")
KAN: Final = ("678p2345578s", "6s", "closed 8888m")

TILES: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (("234m678p234557s", "6s"), "wrong_tile_count"),
    (("234m678p23455788s", "6s"), "wrong_tile_count"),
    (("234m678p2345578s", "6s", "pon 555z"), "wrong_tile_count"),
    (("", "6s", "pon 555z", "pon 666z", "pon 777z", "pon 111z"), "wrong_tile_count"),
    (("222234m678p2278s", "2m"), "five_of_a_tile"),
    (("0555m678p22378s1z", "5m"), "five_of_a_tile"),
    (("55m22378s", "6s", "pon 055m", "chii 567p"), "five_of_a_tile"),
    (("678p2345578s", "6s", "chii 234z"), "not_a_meld"),
    (("678p2345578s", "6s", "chii 235m"), "not_a_meld"),
    (("678p2345578s", "6s", "chii 891m"), "not_a_meld"),
    (("678p2345578s", "6s", "chii 23m4p"), "not_a_meld"),
    (("678p2345578s", "6s", "pon 2345m"), "not_a_meld"),
    (("678p2345578s", "6s", "kan 222m"), "not_a_meld"),
    (("678p2345578s", "6s", "quad 2222m"), "not_a_meld"),
    (("234m678p2345578s", "8z"), "unknown_tile"),
    (("234m678p2345578s", "0z"), "unknown_tile"),
    (("234m678p2345578s", ""), "unknown_tile"),
    (("234m678p2345578s", "1z"), "not_winning"),
    (("1122m3344p55667s", "8s"), "not_winning"),
    (("1111m3344p55667s", "7s"), "not_winning"),
    (("678p2345578s", "1z", "chii 234m"), "not_winning"),
    (("678p2355789s", "4s", "chii 234m"), "no_yaku"),
)
"""Hands that cannot win, with the code."""

SITUATIONS: Final[tuple[tuple[tuple[str, ...], dict[str, Any], str], ...]] = (
    (CALLED, {"riichi": 1}, "riichi_with_open_hand"),
    (CALLED, {"riichi": 2}, "riichi_with_open_hand"),
    (CLOSED, {"ippatsu": True}, "ippatsu_without_riichi"),
    (CLOSED, {"open_riichi": True}, "open_riichi_without_riichi"),
    (CLOSED, {"haitei": True}, "haitei_on_discard"),
    (CLOSED, {"houtei": True, "self_drawn": True}, "houtei_self_drawn"),
    (KAN, {"haitei": True, "rinshan": True, "self_drawn": True}, "haitei_with_rinshan"),
    (CLOSED, {"houtei": True, "chankan": True}, "houtei_with_chankan"),
    (KAN, {"rinshan": True}, "rinshan_on_discard"),
    (CLOSED, {"rinshan": True, "self_drawn": True}, "replacement_without_kong"),
    (KAN, {"rinshan": True, "self_drawn": True, "riichi": 1, "ippatsu": True}, "ippatsu_with_rinshan"),
    (CLOSED, {"chankan": True, "self_drawn": True}, "chankan_self_drawn"),
    (("234m678p2345566s", "6s"), {"chankan": True}, "kong_not_robbed"),
    (CLOSED, {"chankan": True, "dora_indicators": ("6s",)}, "kong_not_robbed"),
    (KAN, {"first_turn": True, "self_drawn": True}, "not_first_turn"),
    (CLOSED, {"first_turn": True, "self_drawn": True, "riichi": 2}, "not_first_turn"),
    (CLOSED, {"first_turn": True, "self_drawn": True, "haitei": True}, "not_first_turn"),
    (CLOSED, {"first_turn": True, "seat_wind": "east"}, "not_first_turn"),
    (CLOSED, {"dora_indicators": ("1m",) * 6}, "too_many_indicators"),
    (CLOSED, {"riichi": 1, "ura_indicators": ("1m",) * 6}, "too_many_indicators"),
    (CLOSED, {"riichi": 1, "dora_indicators": ("1m",), "ura_indicators": ("9m", "9p")}, "too_many_indicators"),
    (CLOSED, {"dora_indicators": ("8z",)}, "unknown_tile"),
    (CLOSED, {"ura_indicators": ("0z",)}, "unknown_tile"),
    (CLOSED, {"dora_indicators": ("5s", "5s", "0s")}, "five_of_a_tile"),
    (CLOSED, {"seat_wind": "up"}, "unknown_wind"),
    (CLOSED, {"round_wind": "red"}, "unknown_wind"),
)
"""Situations that contradict the hand or themselves, with the code."""
