"""What clubs settle differently from hand to hand: the part `session` of a riichi profile."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from broker.rules.profile import Stated

Score = Annotated[int, Meta(ge=0, le=1_000_000, multiple_of=100)]

Rounds = Annotated[int, Meta(ge=0, le=4)]

Renchan = Literal["win", "win_or_tenpai", "until_dislodged", "never"]
"""When the dealer stays. `until_dislodged`: unless only others win, or the own chombo costs the deal."""

AbortReason = Literal["nine_terminals", "four_winds", "four_riichi", "four_kans", "triple_ron"]

PaoYakuman = Literal["daisangen", "daisuushii", "suukantsu"]


class Scores(Struct, frozen=True, forbid_unknown_fields=True):
    """What each begins with, what somebody needs at the end, and which score ends the session at once."""

    start: Stated[Score]
    finish: Stated[Score]
    out: Stated[Literal["negative", "zero_or_less"]]


class Length(Struct, frozen=True, forbid_unknown_fields=True):
    """Rounds that are played in any case, and further ones at most while nobody has what is needed.

    `ends_on`: whether the session may end by a hand that nobody won. `dealer_stops`: whether a dealer who would stay
    after the last hand ends the session by leading it.
    """

    rounds: Stated[Annotated[int, Meta(ge=1, le=4)]]
    extension: Stated[Annotated[int, Meta(ge=0, le=3)]]
    ends_on: Stated[Literal["won_hand", "any_hand"]]
    dealer_stops: Stated[Literal["never", "leading"]]


class Deal(Struct, frozen=True, forbid_unknown_fields=True):
    """When the dealer stays: in the first round, and in those after it."""

    first_round: Stated[Renchan]
    later_rounds: Stated[Renchan]


class SeveralRon(Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of several ron on one tile, and who of two winners gets the counters."""

    several: Stated[Literal["triple_aborts", "all", "nearest"]]
    counters: Stated[Literal["first", "each"]]


class Pao(Struct, frozen=True, forbid_unknown_fields=True):
    """Responsibility: for which yakuman, for how much of the hand, who pays the counters of a ron, for a live kan."""

    yakuman: Stated[tuple[PaoYakuman, ...]]
    covers: Stated[Literal["hand", "yakuman"]]
    counters: Stated[Literal["responsible", "discarder"]]
    live_kan: Stated[bool]


class Draw(Struct, frozen=True, forbid_unknown_fields=True):
    """What those who are not tenpai pay in all; whether nagashi counts; for which reasons a hand is broken off."""

    tenpai: Stated[Annotated[int, Meta(ge=0, le=30_000, multiple_of=600)]]
    nagashi: Stated[bool]
    aborts: Stated[tuple[AbortReason, ...]]


class Faults(Struct, frozen=True, forbid_unknown_fields=True):
    """What faults cost.

    `yakuman_tenpai`: what a chombo costs beside, in reversed mangans, that spoilt a possible yakuman. `win_cancels`:
    the chombo of a hand that somebody won costs nothing. `dealer`: what a dealer's chombo does to the deal; with
    `passes_unless_winning` a dealer whom it would let win the session deals again. `minor`: in deposits.
    """

    yakuman_tenpai: Stated[Annotated[int, Meta(ge=0, le=4)]]
    win_cancels: Stated[bool]
    dealer: Stated[Literal["passes_unless_winning", "passes", "replays"]]
    minor: Stated[Annotated[int, Meta(ge=0, le=10)]]


class End(Struct, frozen=True, forbid_unknown_fields=True):
    """Who gets the deposits that nobody won; whether equal scores share a place or are parted by the first seats."""

    deposits: Stated[Literal["winners", "nobody"]]
    ties: Stated[Literal["shared", "seat_order"]]


class SessionRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How a club plays from hand to hand."""

    scores: Scores
    length: Length
    deal: Deal
    ron: SeveralRon
    pao: Pao
    draw: Draw
    faults: Faults
    end: End
