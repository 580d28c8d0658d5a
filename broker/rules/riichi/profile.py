"""Riichi profiles: what the sources leave open or settle differently, as data with its provenance.

TOML as for MCR (`broker.rules.profile`): one table per setting, with `value` and `source`.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from broker.protocol import ProfileId
from broker.rules.profile import ComparisonRules, Setting

StartScore = Annotated[int, Meta(ge=0, le=1_000_000, multiple_of=100)]

Rounds = Annotated[int, Meta(ge=0, le=4)]

Renchan = Literal["win", "win_or_tenpai", "until_dislodged", "never"]
"""When the dealer stays. `until_dislodged`: unless only others win, or the dealer's own chombo costs the deal."""

AbortReason = Literal["nine_terminals", "four_winds", "four_riichi", "four_kans", "triple_ron"]

PaoYakuman = Literal["daisangen", "daisuushii", "suukantsu"]


class ScoreRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The starting score, the score needed to finish, and the score that ends the session at once."""

    start: Setting[StartScore]
    finish: Setting[StartScore]
    out: Setting[Literal["negative", "zero_or_less"]]


class LengthRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The rounds that are always played, and the most further ones while nobody has the score to finish.

    `ends_on`: whether the session may also end with a hand that nobody won. `dealer_stops`: whether a dealer who would
    stay after the last hand ends the session by being in the lead.
    """

    rounds: Setting[Annotated[int, Meta(ge=1, le=4)]]
    extension: Setting[Annotated[int, Meta(ge=0, le=3)]]
    ends_on: Setting[Literal["won_hand", "any_hand"]]
    dealer_stops: Setting[Literal["never", "leading"]]


class DealerRules(Struct, frozen=True, forbid_unknown_fields=True):
    """When the dealer stays: in the first round, and in later ones."""

    first_round: Setting[Renchan]
    later_rounds: Setting[Renchan]


class RonRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What happens if several declare ron on one tile, and which of two winners gets the counters."""

    several: Setting[Literal["triple_aborts", "all", "nearest"]]
    counters: Setting[Literal["first", "each"]]


class PaoRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Responsibility (pao): for which yakuman, for what part of the hand, for a ron's counters, and for a live kan."""

    yakuman: Setting[tuple[PaoYakuman, ...]]
    covers: Setting[Literal["hand", "yakuman"]]
    counters: Setting[Literal["responsible", "discarder"]]
    live_kan: Setting[bool]


class DrawRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The total paid by players who are not tenpai, whether nagashi counts, and the reasons that abort a hand."""

    tenpai: Setting[Annotated[int, Meta(ge=0, le=30_000, multiple_of=600)]]
    nagashi: Setting[bool]
    aborts: Setting[tuple[AbortReason, ...]]


class FaultRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The cost of faults.

    `yakuman_tenpai`: reversed mangans paid in addition for a chombo that spoilt a possible yakuman. `win_cancels`:
    whether a chombo costs nothing if somebody won the hand. `dealer`: what a dealer's chombo does to the deal; under
    `passes_unless_winning` a dealer who would then still win the session deals again. `minor`: in deposits.
    """

    yakuman_tenpai: Setting[Annotated[int, Meta(ge=0, le=4)]]
    win_cancels: Setting[bool]
    dealer: Setting[Literal["passes_unless_winning", "passes", "replays"]]
    minor: Setting[Annotated[int, Meta(ge=0, le=10)]]


class EndRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Who gets unclaimed deposits, and whether equal scores share a place or are ordered by seat."""

    deposits: Setting[Literal["winners", "nobody"]]
    ties: Setting[Literal["shared", "seat_order"]]


class SessionRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How a club plays from hand to hand."""

    scores: ScoreRules
    length: LengthRules
    deal: DealerRules
    ron: RonRules
    pao: PaoRules
    draw: DrawRules
    faults: FaultRules
    end: EndRules


Milliseconds = Annotated[int, Meta(ge=0, le=60_000)]


class PlayRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How a hand is played.

    `kuikae`: whether a caller may at once discard a tile that would have completed the same set. `riichi_tiles_left`:
    the least number of tiles in the live wall for riichi. `priority_ms`: time from the discard in which a pon or kan
    goes before a chii; after it the earliest call wins. `ron_ms`: time in which a ron goes before all other calls.
    `open_kan_dora`: when an open kan's indicator is turned; that of a concealed kan is turned at once. `rinshan_dora`:
    whether a win on the replacement tile counts an indicator that is still to be turned. `orphans_rob`: whether
    thirteen orphans may rob a concealed kan.
    """

    kuikae: Setting[Literal["allowed", "same_tile", "forbidden"]]
    riichi_tiles_left: Setting[Annotated[int, Meta(ge=0, le=20)]]
    priority_ms: Setting[Milliseconds]
    ron_ms: Setting[Milliseconds]
    open_kan_dora: Setting[Literal["at_once", "with_discard"]]
    rinshan_dora: Setting[bool]
    orphans_rob: Setting[bool]


DoubleYakuman = Literal["kokushi_thirteen_wait", "suuankou_tanki", "junsei_chuuren", "daisuushii"]
"""Yakuman that some rule sets count twice."""


class HandRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Which yaku exist and what they are worth.

    `red_fives`: one five of each suit is red and counts as dora; otherwise red fives are ordinary fives. `renhou`,
    `shiisanputa` (thirteen kinds, one of them twice, no two within one sequence, as drawn on the first turn): a mangan
    unless the hand is worth more by itself, or a yakuman. `daisharin`: 22334455667788. `paarenchan`: the win after
    eight counters. `several_yakuman`: whether they are added, or only the highest counts.
    """

    open_tanyao: Setting[bool]
    red_fives: Setting[bool]
    open_riichi: Setting[bool]
    renhou: Setting[Literal["none", "mangan", "yakuman"]]
    shiisanputa: Setting[Literal["none", "mangan", "yakuman"]]
    daisharin: Setting[Literal["none", "dots", "any_suit"]]
    paarenchan: Setting[Literal["none", "with_yaku", "any_hand"]]
    double_yakuman: Setting[tuple[DoubleYakuman, ...]]
    several_yakuman: Setting[Literal["added", "highest"]]


class FuRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How fu are counted where sources differ.

    `double_wind_pair`: for a pair of the wind that is both the round's and the seat's. `replacement_tile`: for winning
    on the tile drawn after a kan, instead of the 2 for tsumo. `open_pinfu`: the total of an open hand without any other
    fu that wins on a discard.
    """

    double_wind_pair: Setting[Literal[2, 4]]
    replacement_tile: Setting[Literal[0, 2]]
    open_pinfu: Setting[Literal[20, 30]]


class PointRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How han and fu become points.

    `kiriage`: 4 han 30 fu and 3 han 60 fu are rounded up to a mangan. `counted_yakuman`: the limit of 13 han and more
    without a yakuman. `counter`: what one counter adds in all; where three players pay, each adds a third.
    """

    kiriage: Setting[bool]
    counted_yakuman: Setting[Literal["yakuman", "sanbaiman"]]
    counter: Setting[Annotated[int, Meta(ge=0, le=3000, multiple_of=300)]]
    deposit: Setting[Annotated[int, Meta(ge=0, le=10_000, multiple_of=100)]]


class RiichiProfile(ComparisonRules, frozen=True, forbid_unknown_fields=True):
    """One riichi rule set. Its id is stamped on every result."""

    id: ProfileId
    version: Annotated[int, Meta(ge=1)]
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    hand: HandRules
    fu: FuRules
    points: PointRules
    session: SessionRules
    play: PlayRules

    @property
    def most_points(self) -> int:
        """A bound, in hundreds, on what a seat can win or lose in a play: two dealer's hands of six yakuman each."""
        return 2 * 6 * 480
