"""Rule profiles: what the sources leave open or settle differently, as data with its provenance.

A profile is a TOML file with one table per setting: `value`, and `source`, where the value comes from. The shipped
profiles are in profiles/.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from broker.protocol import InfractionId, ProfileId

T = TypeVar("T")

Imps = Annotated[int, Meta(ge=-99, le=99)]

HIGHEST_VALUE: Final = 999
"""The highest hand value that a table can enter (`HandValue`)."""


class Setting(Struct, Generic[T], frozen=True, forbid_unknown_fields=True):
    """One setting: its value and where it comes from. A source that starts with `assumption:` is our own reading."""

    value: T
    source: Annotated[str, Meta(min_length=5)]


class McrPaymentRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What a win pays."""

    base: Setting[Annotated[int, Meta(ge=0, le=999)]]
    self_drawn: Setting[Literal["third_rounded_up", "full"]]
    several_hu: Setting[Literal["base_once", "base_each", "nearest"]]
    minimum: Setting[Annotated[int, Meta(ge=1, le=99)]]


class FalseHuRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The fines for a false hu, in IMPs. The arbiter chooses one of them."""

    fines: Setting[Annotated[tuple[Annotated[int, Meta(ge=1, le=99)], ...], Meta(min_length=1)]]


class ImpRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How a difference in points becomes IMPs.

    `scale`: the lower bound of each step, in points. `gap`: to which of two steps a difference between them belongs.
    `method`: with `datum` the difference from the datum is converted; with `cross` the differences from every other
    play are converted and their mean is taken.
    """

    scale: Setting[Annotated[tuple[Annotated[int, Meta(ge=1, le=99_999)], ...], Meta(min_length=1, max_length=99)]]
    gap: Setting[Literal["midpoint", "floor"]]
    method: Setting[Literal["datum", "cross"]]


class DatumRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How the datum is computed. Rounding takes halves away from zero."""

    own_score: Setting[Literal["included", "excluded"]]
    rounding: Setting[Literal["none", "tenth", "whole"]]


class TeamRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What a team's total is compared with: among three teams or more, and in a match of two."""

    reference: Setting[Literal["mean", "zero"]]
    reference_of_two: Setting[Literal["opponent", "mean", "zero"]]


class AwardRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The IMPs awarded to a player for a play that could not be played, depending on whose fault that was."""

    nobody: Setting[Imps]
    others: Setting[Imps]
    own: Setting[Imps]


class SmallGroupRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The smallest group of plays that is compared, and the IMPs each player gets in a smaller one."""

    smallest: Setting[Annotated[int, Meta(ge=2, le=99)]]
    imp: Setting[Imps]


TieBreak = Literal["direct_comparison", "points", "fewest_fines", "previous_standing"]
"""A criterion that breaks ties in total IMPs.

`direct_comparison`: the IMPs won against those of the tied players who sat at the same wind of the same deal. `points`:
the points scored at the tables. `fewest_fines`: the lower sum of fines. `previous_standing`: the place after the
previous session.
"""


class TieRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The tie-breaks, in the order in which they are applied. Players still tied after the last share the place."""

    chain: Setting[Annotated[tuple[TieBreak, ...], Meta(max_length=4)]]


class CarryOverRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The share of a session's total that is carried over.

    It is rounded to whole IMPs, halves away from zero, except with `cross`.
    """

    percent: Setting[Annotated[int, Meta(ge=0, le=100)]]


Step = Annotated[
    str, Meta(pattern=r"^(warning|dead hand|[1-9][0-9]?( or [1-9][0-9]?)* IMP|[1-9][0-9]{0,4} points)$(?!\n)")
]
"""The penalty for one occurrence of an infraction; a catalogue lists them for the first time, the second, and so on."""


class OwnInfraction(Struct, frozen=True, forbid_unknown_fields=True):
    """An infraction in an event's own profile. The last step applies from then on. `name`: by language."""

    value: Annotated[tuple[Step, ...], Meta(min_length=1, max_length=9)]
    source: Annotated[str, Meta(min_length=5)]
    name: dict[str, Annotated[str, Meta(min_length=1, max_length=100)]] = {}


class AppealRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How many minutes after a ruling it may be appealed."""

    minutes: Setting[Annotated[int, Meta(ge=1, le=9999)]]


class ComparisonRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings that the profiles of both rule books share: how plays of one deal are compared and added up."""

    false_hu: FalseHuRules
    imp: ImpRules
    datum: DatumRules
    team: TeamRules
    awards: AwardRules
    small_group: SmallGroupRules
    ties: TieRules
    carry_over: CarryOverRules
    infractions: dict[InfractionId, OwnInfraction] = {}
    """Additions to the shipped catalogue (`infractions.toml`), or replacements of its entries."""
    appeals: AppealRules | None = None

    @property
    def most_points(self) -> int:
        """A bound, in the profile's points, that no seat's win or loss in one play can exceed."""
        raise NotImplementedError


class Profile(ComparisonRules, frozen=True, forbid_unknown_fields=True):
    """One MCR rule set. Its id is stamped on every result."""

    id: ProfileId
    version: Annotated[int, Meta(ge=1)]
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    payments: McrPaymentRules
    claim_window_ms: Setting[Annotated[int, Meta(ge=0, le=60_000)]]

    @property
    def most_points(self) -> int:
        """A bound that no seat's win or loss in one play can exceed."""
        return 3 * (HIGHEST_VALUE + self.payments.base.value)


def setting_text(value: object) -> str:
    """Return a setting's value as a profile's file would have it."""
    return json.dumps(msgspec.to_builtins(value))


def profile_settings(part: Struct, path: str = "") -> Iterator[tuple[str, Setting[object]]]:
    """Yield every setting of a profile, or of a part of one, with its name (`payments.base`)."""
    for setting in fields(part):
        value = getattr(part, setting.name)
        if isinstance(value, Setting):
            yield f"{path}{setting.name}", value
        elif isinstance(value, Struct):
            yield from profile_settings(value, f"{path}{setting.name}.")
