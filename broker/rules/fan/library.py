"""PyMahjongGB, asked only about hands that can be.

It is a compiled module without a wheel for any platform, so it is imported when a hand is counted and not before. It
writes past its arrays for more than four melds, returns values for tiles that no set has, and drops situations that
contradict the hand: `hand`, `situation` and `shape` keep such things from it.
"""

from functools import cache
from typing import Any, Final

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import ids_by_library_name
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.tiles import KINDS

SUITS: Final = {"m": "W", "p": "B", "s": "T"}

HONORS: Final = {"1z": "F1", "2z": "F2", "3z": "F3", "4z": "F4", "5z": "J3", "6z": "J2", "7z": "J1"}
"""East to north, then white, green and red, which the library has in the opposite order."""

MELDS: Final = {"chow": "CHI", "pung": "PENG", "kong": "GANG"}

CONCEALED, CLAIMED = 0, 1
"""Whom a meld was claimed from: nobody, or a player. From whom makes no difference to the value."""


@cache
def module() -> Any:  # noqa: ANN401 - it ships no types
    """Import the library. Raises RuleError `fan_counter_missing`."""
    try:
        import MahjongGB  # noqa: PLC0415 - most commands do without a module that has to be compiled
    except ImportError as error:
        raise RuleError("fan_counter_missing", f"PyMahjongGB is not installed here: {error}") from None
    return MahjongGB


def code_of(tile: str) -> str:
    """Give the library's word for a tile."""
    return HONORS.get(tile) or f"{SUITS[tile[1]]}{tile[0]}"


@cache
def tile_of(code: str) -> str:
    """Give our word for a tile of the library's."""
    return next(tile for tile in KINDS if code_of(tile) == code)


def pack_of(meld: Meld) -> tuple[str, str, int]:
    """Give the library's form of a meld; a chow is named by its middle tile."""
    return MELDS[meld.kind], code_of(sorted(meld.tiles)[1]), CONCEALED if meld.concealed else CLAIMED


def fan_ids(hand: Hand, situation: Situation) -> list[str]:
    """Give the id of each fan that the library counts, one for each time, for the division that is worth most to it.

    It adds Last Tile by itself where the winner's own melds show the three others. Raises RuleError
    `fan_counter_missing` or `fan_counter_failed`.
    """
    try:
        counted = module().MahjongFanCalculator(
            pack=tuple(pack_of(meld) for meld in hand.melds),
            hand=tuple(code_of(tile) for tile in hand.concealed),
            winTile=code_of(hand.winning_tile),
            flowerCount=0,  # played without flowers (MIL)
            isSelfDrawn=situation.self_drawn,
            is4thTile=situation.last_of_kind,
            isAboutKong=situation.kong,
            isWallLast=situation.last_tile,
            seatWind=SEATS.index(situation.seat_wind),
            prevalentWind=SEATS.index(situation.prevalent_wind),
            verbose=True,
        )
        return [ids_by_library_name()[english] for _, times, _, english in counted for _ in range(times)]
    except (TypeError, KeyError) as error:  # what it raises, and a name of another version's
        raise RuleError("fan_counter_failed", f"PyMahjongGB does not count this hand: {error}") from None
