"""Hands in the players' notation: `made("234m678p23455s", "6s")`."""

from dataclasses import replace
from typing import Any, Final

import msgspec

from broker.cli.riichi import parse_tiles
from broker.rules import Setting, load_riichi
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.hand import RiichiHand, RiichiHandMeld, RiichiSituation
from broker.rules.riichi.value import RiichiHandValue, riichi_value

MONTREAL: Final = load_riichi("riichi-montreal")
TENHOU: Final = load_riichi("riichi-tenhou")
BASIC: Final = load_riichi("riichi-basic")

PLAIN: Final = RiichiSituation(seat_wind="south", round_wind="east", self_drawn=False)


def made(concealed: str, winning_tile: str, *melds: str) -> RiichiHand:
    """Parse a hand. Melds are `chii 234m`, `pon 555z`, `kan 1111m` (open) or `closed 1111m`."""
    laid = []
    for meld in melds:
        kind, tiles = meld.split()
        laid.append(RiichiHandMeld("kan" if kind == "closed" else kind, parse_tiles(tiles), open=kind != "closed"))
    return RiichiHand(parse_tiles(concealed), winning_tile, tuple(laid))


def situation(**how: Any) -> RiichiSituation:  # noqa: ANN401 - fields of a situation
    """Return a situation, by default South winning on a discard in the east round."""
    return replace(PLAIN, **how)


def counted(hand: RiichiHand, profile: RiichiProfile = MONTREAL, **how: Any) -> RiichiHandValue:  # noqa: ANN401 - fields of a situation
    """Return the value of a hand."""
    return riichi_value(hand, situation(**how), profile)


def yaku(found: RiichiHandValue) -> dict[str, int]:
    """Return the han of a value by yaku."""
    return {one.id: one.han for one in found.yaku}


def with_setting(profile: RiichiProfile, part: str, name: str, setting: object) -> RiichiProfile:
    """Return a profile with one setting changed."""
    changed = msgspec.structs.replace(getattr(profile, part), **{name: Setting(setting, "a test's")})
    return msgspec.structs.replace(profile, **{part: changed})
