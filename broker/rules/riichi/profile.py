"""Riichi profiles: what the sources leave open or settle differently, as data with its provenance.

TOML as for the other rule book (`broker.rules.profile`): one table a setting, with `value` and `source`.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from broker.contract.words import ProfileId
from broker.rules.profile import Awards, CarryOver, Datum, FalseHu, Imp, SmallGroup, Stated, Team, Ties
from broker.rules.riichi.referee.settings import PlayRules
from broker.rules.riichi.session.settings import SessionRules

DoubleYakuman = Literal["kokushi_thirteen_wait", "suuankou_tanki", "junsei_chuuren", "daisuushii"]
"""Yakuman that some rule sets count twice."""


class HandRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Which yaku there are and what they are worth.

    `red_fives`: one five of each suit is red and counts as dora; else a red five is a five. `renhou`, `shiisanputa`: a
    mangan unless the hand is worth more by itself, or a yakuman. `paarenchan`: the win after eight counters.
    `several_yakuman`: whether they are added, or the highest counts.
    """

    open_tanyao: Stated[bool]
    red_fives: Stated[bool]
    open_riichi: Stated[bool]
    renhou: Stated[Literal["none", "mangan", "yakuman"]]
    shiisanputa: Stated[Literal["none", "mangan", "yakuman"]]
    daisharin: Stated[Literal["none", "dots", "any_suit"]]
    paarenchan: Stated[Literal["none", "with_yaku", "any_hand"]]
    double_yakuman: Stated[tuple[DoubleYakuman, ...]]
    several_yakuman: Stated[Literal["added", "highest"]]


class FuRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What is counted in fu where sources differ.

    `double_wind_pair`: a pair of the wind that is both the round's and the seat's. `replacement_tile`: for winning on
    the tile drawn after a kan, in place of the 2 for tsumo. `open_pinfu`: what an open hand without any other fu
    has when it wins on a discard.
    """

    double_wind_pair: Stated[Literal[2, 4]]
    replacement_tile: Stated[Literal[0, 2]]
    open_pinfu: Stated[Literal[20, 30]]


class PointRules(Struct, frozen=True, forbid_unknown_fields=True):
    """From han and fu to points.

    `kiriage`: 4 han 30 fu and 3 han 60 fu are rounded up to a mangan. `counted_yakuman`: what 13 han and more are
    without a yakuman. `counter`: what one counter adds in all; a third of it from each where three pay.
    """

    kiriage: Stated[bool]
    counted_yakuman: Stated[Literal["yakuman", "sanbaiman"]]
    counter: Stated[Annotated[int, Meta(ge=0, le=3000, multiple_of=300)]]
    deposit: Stated[Annotated[int, Meta(ge=0, le=10_000, multiple_of=100)]]


class RiichiProfile(Struct, frozen=True, forbid_unknown_fields=True):
    """One riichi rule set; its id is stamped on every result."""

    id: ProfileId
    version: Annotated[int, Meta(ge=1)]
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    hand: HandRules
    fu: FuRules
    points: PointRules
    session: SessionRules
    play: PlayRules
    false_hu: FalseHu
    imp: Imp
    datum: Datum
    team: Team
    awards: Awards
    small_group: SmallGroup
    ties: Ties
    carry_over: CarryOver

    @property
    def most_points(self) -> int:
        """More than any seat can win or lose in one play, in hundreds: two dealers' hands of six yakuman each."""
        return 2 * 6 * 480
