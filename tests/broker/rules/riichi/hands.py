"""Hands written as players write them: `made("234m678p23455s", "6s")`."""

from dataclasses import replace
from typing import Any, Final

import msgspec

from broker.riichi.question import typed
from broker.rules.profile import Stated
from broker.rules.riichi.hand import Hand, Meld, Situation
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import load
from broker.rules.riichi.value import Value, value

MONTREAL: Final = load("riichi-montreal")
TENHOU: Final = load("riichi-tenhou")
BASIC: Final = load("riichi-basic")

PLAIN: Final = Situation(seat_wind="south", round_wind="east", self_drawn=False)


def made(concealed: str, winning_tile: str, *melds: str) -> Hand:
    """Make a hand; melds as `chii 234m`, `pon 555z`, `kan 1111m` (open) or `closed 1111m`."""
    laid = []
    for meld in melds:
        kind, tiles = meld.split()
        laid.append(Meld("kan" if kind == "closed" else kind, typed(tiles), open=kind != "closed"))
    return Hand(typed(concealed), winning_tile, tuple(laid))


def situation(**said: Any) -> Situation:  # noqa: ANN401 - what is said of a win
    """Give a situation: South in the east round, on a discard, where nothing else is said."""
    return replace(PLAIN, **said)


def counted(hand: Hand, profile: RiichiProfile = MONTREAL, **said: Any) -> Value:  # noqa: ANN401 - what is said of a win
    """Count a hand."""
    return value(hand, situation(**said), profile)


def yaku(found: Value) -> dict[str, int]:
    """Give the han of a value by yaku."""
    return {one.id: one.han for one in found.yaku}


def with_setting(profile: RiichiProfile, part: str, name: str, setting: object) -> RiichiProfile:
    """Give a profile with one setting changed."""
    changed = msgspec.structs.replace(getattr(profile, part), **{name: Stated(setting, "a test's")})
    return msgspec.structs.replace(profile, **{part: changed})
