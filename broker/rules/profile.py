"""Rule profiles: what the sources leave open or settle differently, as data with its provenance.

A profile is TOML, one table a setting: `value`, and `source`, where it is from. Those that ship are in profiles/.
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


class Stated(Struct, Generic[T], frozen=True, forbid_unknown_fields=True):
    """A value and where it comes from. A source that starts with `assumption:` is our own reading."""

    value: T
    source: Annotated[str, Meta(min_length=5)]


class McrPaymentRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What a win pays."""

    base: Stated[Annotated[int, Meta(ge=0, le=999)]]
    self_drawn: Stated[Literal["third_rounded_up", "full"]]
    several_hu: Stated[Literal["base_once", "base_each", "nearest"]]
    minimum: Stated[Annotated[int, Meta(ge=1, le=99)]]


class FalseHuRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What a false hu costs, in IMP; the arbiter chooses one of them."""

    fines: Stated[Annotated[tuple[Annotated[int, Meta(ge=1, le=99)], ...], Meta(min_length=1)]]


class ImpRules(Struct, frozen=True, forbid_unknown_fields=True):
    """From a difference in points to IMPs.

    `scale`: the lower bound of each step in points; `gap`: where between two steps a fraction belongs; `method`: the
    difference from the datum is converted (`datum`), or that from each other play, and the mean taken (`cross`).
    """

    scale: Stated[Annotated[tuple[Annotated[int, Meta(ge=1, le=99_999)], ...], Meta(min_length=1, max_length=99)]]
    gap: Stated[Literal["midpoint", "floor"]]
    method: Stated[Literal["datum", "cross"]]


class DatumRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How the mean is taken; halves are rounded away from zero."""

    own_score: Stated[Literal["included", "excluded"]]
    rounding: Stated[Literal["none", "tenth", "whole"]]


class TeamRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What a team's total is compared with: among three teams or more, and in a match of two."""

    reference: Stated[Literal["mean", "zero"]]
    reference_of_two: Stated[Literal["opponent", "mean", "zero"]]


class AwardRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What a player gets in IMP for a play that could not be played, by whose fault it was."""

    nobody: Stated[Imps]
    others: Stated[Imps]
    own: Stated[Imps]


class SmallGroupRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The fewest plays that are compared with each other, and what each player gets in IMP where there are fewer."""

    smallest: Stated[Annotated[int, Meta(ge=2, le=99)]]
    imp: Stated[Imps]


TieBreak = Literal["direct_comparison", "points", "fewest_fines", "previous_standing"]
"""What may part equal totals.

`direct_comparison`: the IMPs won against those of the tied who sat at the same wind of the same deal; `points`: the
points at the tables; `fewest_fines`; `previous_standing`: the standing after the session before.
"""


class TieRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What parts equal totals, one after the other; who is still equal then shares the place."""

    chain: Stated[Annotated[tuple[TieBreak, ...], Meta(max_length=4)]]


class CarryOverRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a session's total that counts in the next; whole IMPs, halves away from zero, but with `cross`."""

    percent: Stated[Annotated[int, Meta(ge=0, le=100)]]


Step = Annotated[
    str, Meta(pattern=r"^(warning|dead hand|[1-9][0-9]?( or [1-9][0-9]?)* IMP|[1-9][0-9]{0,4} points)$(?!\n)")
]
"""What an infraction costs the first time, the second, and so on."""


class OwnInfraction(Struct, frozen=True, forbid_unknown_fields=True):
    """An infraction as a profile of one's own has it; the last step holds from then on. `name`: by language."""

    value: Annotated[tuple[Step, ...], Meta(min_length=1, max_length=9)]
    source: Annotated[str, Meta(min_length=5)]
    name: dict[str, Annotated[str, Meta(min_length=1, max_length=100)]] = {}


class AppealRules(Struct, frozen=True, forbid_unknown_fields=True):
    """For how many minutes after a ruling may be appealed against it."""

    minutes: Stated[Annotated[int, Meta(ge=1, le=9999)]]


class ComparisonRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the profiles of both rule books say of how plays of one deal are compared and added up."""

    false_hu: FalseHuRules
    imp: ImpRules
    datum: DatumRules
    team: TeamRules
    awards: AwardRules
    small_group: SmallGroupRules
    ties: TieRules
    carry_over: CarryOverRules
    infractions: dict[InfractionId, OwnInfraction] = {}
    """Beside those that ship (`infractions.toml`), or in their place."""
    appeals: AppealRules | None = None

    @property
    def most_points(self) -> int:
        """More than any seat can win or lose in one play, in the profile's points."""
        raise NotImplementedError


class Profile(ComparisonRules, frozen=True, forbid_unknown_fields=True):
    """One rule set; its id is stamped on every result."""

    id: ProfileId
    version: Annotated[int, Meta(ge=1)]
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    payments: McrPaymentRules
    claim_window_ms: Stated[Annotated[int, Meta(ge=0, le=60_000)]]

    @property
    def most_points(self) -> int:
        """More than any seat can win or lose in one play."""
        return 3 * (HIGHEST_VALUE + self.payments.base.value)


def setting_text(value: object) -> str:
    """Write the value of a setting as it would stand in a profile's file."""
    return json.dumps(msgspec.to_builtins(value))


def profile_settings(part: Struct, way: str = "") -> Iterator[tuple[str, Stated[object]]]:
    """Return every setting of a profile, or of a part of one, with its name (`payments.base`)."""
    for setting in fields(part):
        value = getattr(part, setting.name)
        if isinstance(value, Stated):
            yield f"{way}{setting.name}", value
        elif isinstance(value, Struct):
            yield from profile_settings(value, f"{way}{setting.name}.")
