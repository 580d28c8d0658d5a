"""What is said of a riichi session: what happened in a hand, and where the session stands."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from broker.contract.words import Count, Seat, Wind

HandKind = Literal["ron", "tsumo", "draw", "abort", "chombo", "minor_fault", "end"]
"""How a hand ended; a minor fault ends none, and `end` is the end of the session."""

AbortReason = Literal["nine_terminals", "four_winds", "four_riichi", "four_kans", "triple_ron"]

Score = Annotated[int, Meta(ge=-1_000_000, le=1_000_000, description="points")]

Seats = Annotated[tuple[Seat, ...], Meta(max_length=4)]


class RiichiWin(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one winner's hand is worth: han, with fu under 5 han; or so many yakuman."""

    han: Annotated[int, Meta(ge=0, le=99)] = 0
    fu: Annotated[int, Meta(ge=0, le=999)] = 0
    yakuman: Annotated[int, Meta(ge=0, le=6)] = 0
    responsible: Seat | None = None
    """Who fed the set that made the yakuman certain (pao)."""


class RiichiEvent(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What happened in a hand. `riichi`: who has laid a deposit in it."""

    kind: HandKind
    wins: dict[Seat, RiichiWin] = {}
    loser: Seat | None = None
    tenpai: Seats = ()
    nagashi: Seats = ()
    reason: AbortReason | None = None
    offenders: Seats = ()
    dependent: Seats = ()
    """Offenders whose fault followed from another's, who do not pay."""
    yakuman_tenpai: Seats = ()
    """Whose hands a fault spoilt that could still have become a yakuman."""
    kan_from: Seat | None = None
    """Whose discard was made a kan, when a tsumo wins on its replacement."""
    riichi: Seats = ()


class RiichiStanding(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a session stands before a hand, the first of which is 1."""

    hand: Annotated[int, Meta(ge=1, le=9999)]
    round_wind: Wind
    dealer: Seat
    counters: Count
    deposits: Count
    scores: dict[Seat, Score]
    over: bool = False
