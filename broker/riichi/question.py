"""What `homologue riichi --json` is asked, and what is typed by hand, as the rules take it."""

import re
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Hand, Meld, Situation
from broker.rules.riichi.points import Win

SEVERAL: Final = re.compile(r"([0-9]+)([a-z])")

Number = Annotated[int, Meta(ge=-999, le=999)]
"""Wide enough that what is under zero gets its own code."""


class MeldQuestion(Struct, forbid_unknown_fields=True):
    """A set laid down."""

    kind: str
    tiles: tuple[str, ...]
    open: bool = True


class _Asked(Struct, forbid_unknown_fields=True):
    """What both kinds of questions may say."""

    self_drawn: bool = False
    honba: Number = 0
    riichi_sticks: Number = 0
    discarder: str | None = None
    rules: str | None = None


class HandQuestion(_Asked, kw_only=True, forbid_unknown_fields=True):
    """A hand and how it won; `concealed` is without the winning tile. A wind that is left out would be a guess."""

    concealed: tuple[str, ...]
    winning_tile: str
    round_wind: str
    seat_wind: str
    melds: tuple[MeldQuestion, ...] = ()
    riichi: Annotated[int, Meta(ge=0, le=2)] = 0
    open_riichi: bool = False
    ippatsu: bool = False
    rinshan: bool = False
    chankan: bool = False
    haitei: bool = False
    houtei: bool = False
    first_turn: bool = False
    after_eight_counters: bool = False
    dora_indicators: tuple[str, ...] = ()
    ura_indicators: tuple[str, ...] = ()


class PointsQuestion(_Asked, kw_only=True, forbid_unknown_fields=True):
    """A value that somebody has counted already."""

    dealer: bool
    han: Number = 0
    fu: Number = 0
    yakuman: Number = 0


def read(asked: dict[str, Any]) -> HandQuestion | PointsQuestion:
    """Read a question: about tiles, or about han and fu. Raises RuleError `malformed`."""
    try:
        if "concealed" in asked or "winning_tile" in asked:
            return msgspec.convert(asked, HandQuestion)
        return msgspec.convert(asked, PointsQuestion)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", str(error)) from None


def hand_of(asked: HandQuestion) -> Hand:
    """Give the tiles. Raises RuleError with the codes of `Hand` and `Meld`."""
    melds = tuple(Meld(meld.kind, meld.tiles, meld.open) for meld in asked.melds)
    return Hand(asked.concealed, asked.winning_tile, melds)


def situation_of(asked: HandQuestion) -> Situation:
    """Give how the hand won. Raises RuleError with the codes of `Situation`, and of a discarder that cannot be."""
    check_discarder(asked, asked.seat_wind)
    return Situation(
        seat_wind=asked.seat_wind,
        round_wind=asked.round_wind,
        self_drawn=asked.self_drawn,
        riichi=asked.riichi,
        open_riichi=asked.open_riichi,
        ippatsu=asked.ippatsu,
        rinshan=asked.rinshan,
        chankan=asked.chankan,
        haitei=asked.haitei,
        houtei=asked.houtei,
        first_turn=asked.first_turn,
        after_eight_counters=asked.after_eight_counters,
        dora_indicators=asked.dora_indicators,
        ura_indicators=asked.ura_indicators,
    )


def win_of(asked: PointsQuestion) -> Win:
    """Give the win. Raises RuleError with the codes of `Win`, and of a discarder that cannot be."""
    check_discarder(asked, "east" if asked.dealer else None)
    return Win(
        asked.han, asked.fu, asked.dealer, asked.self_drawn, asked.yakuman, asked.honba, deposits=asked.riichi_sticks
    )


def check_discarder(asked: HandQuestion | PointsQuestion, winner: str | None) -> None:
    """Raise RuleError `unknown_wind`, `discarder_not_asked` or `discarder_wins`; winds of the two seats."""
    if asked.discarder is None:
        return
    if asked.discarder not in SEATS:
        raise RuleError("unknown_wind", f"{asked.discarder[:20]!r} is no seat wind; there are: {', '.join(SEATS)}")
    if asked.self_drawn:
        raise RuleError("discarder_not_asked", "a self-drawn win has no discarder")
    if asked.discarder == winner:
        raise RuleError("discarder_wins", f"{winner} wins on the own discard")


def typed(text: str) -> tuple[str, ...]:
    """Give the tiles of `234m0p55z`. Raises RuleError `unknown_tile`."""
    if SEVERAL.sub("", text).strip():
        raise RuleError("unknown_tile", f"{text[:40]!r}: digits and then m, p, s or z, as in 234m055p77z")
    return tuple(f"{rank}{suit}" for ranks, suit in SEVERAL.findall(text) for rank in ranks)
