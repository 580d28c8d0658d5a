"""Rule profiles: what the sources leave open or settle differently, as data with its provenance."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from broker.contract.words import ProfileId
from broker.rules.errors import RuleError

DEFAULT: Final = "oedmc-2020"

T = TypeVar("T")


class Stated(Struct, Generic[T], frozen=True, forbid_unknown_fields=True):
    """A value and where it comes from. A source that starts with `assumption:` is our own reading."""

    value: T
    source: Annotated[str, Meta(min_length=5)]


class Payments(Struct, frozen=True, forbid_unknown_fields=True):
    """What a win pays."""

    base: Stated[Annotated[int, Meta(ge=0, le=999)]]
    self_drawn: Stated[Literal["third_rounded_up", "full"]]
    several_hu: Stated[Literal["base_once", "base_each", "nearest"]]
    minimum: Stated[Annotated[int, Meta(ge=1, le=99)]]


class FalseHu(Struct, frozen=True, forbid_unknown_fields=True):
    """What a false hu costs, in IMP; the arbiter chooses one of them."""

    fines: Stated[Annotated[tuple[Annotated[int, Meta(ge=1, le=99)], ...], Meta(min_length=1)]]


class Imp(Struct, frozen=True, forbid_unknown_fields=True):
    """The scale: the lower bound of each step in points, and where between two steps a fraction belongs."""

    scale: Stated[Annotated[tuple[Annotated[int, Meta(ge=1)], ...], Meta(min_length=1)]]
    gap: Stated[Literal["midpoint", "floor"]]


class Datum(Struct, frozen=True, forbid_unknown_fields=True):
    """How the mean is taken."""

    own_score: Stated[Literal["included"]]
    rounding: Stated[Literal["none"]]


class Team(Struct, frozen=True, forbid_unknown_fields=True):
    """What a team's total is compared with."""

    reference: Stated[Literal["mean", "zero"]]


class Profile(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule set; its id is stamped on every result."""

    id: ProfileId
    version: Annotated[int, Meta(ge=1)]
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    payments: Payments
    false_hu: FalseHu
    claim_window_ms: Stated[Annotated[int, Meta(ge=0, le=60_000)]]
    imp: Imp
    datum: Datum
    team: Team


def parse(text: str) -> Profile:
    """Read a profile from TOML. Raises RuleError `bad_profile`."""
    try:
        profile = msgspec.toml.decode(text, type=Profile)
    except (ValueError, RecursionError) as error:  # ValueError: also of msgspec, and a number of thousands of digits
        raise RuleError("bad_profile", str(error)) from None
    scale = profile.imp.scale.value
    if list(scale) != sorted(set(scale)):
        raise RuleError("bad_profile", "imp.scale: each step must start above the one before")
    return profile


def shipped() -> tuple[str, ...]:
    """Give the ids of the profiles that come with the product."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml")))


@cache
def load(profile_id: str = DEFAULT) -> Profile:
    """Give a shipped profile. Raises RuleError `unknown_profile`."""
    if profile_id not in shipped():
        raise RuleError("unknown_profile", f"no profile {profile_id!r}; there are: {', '.join(shipped())}")
    return parse((_folder() / f"{profile_id}.toml").read_text(encoding="utf-8"))


def _folder() -> Traversable:
    return files("broker.rules") / "profiles"
