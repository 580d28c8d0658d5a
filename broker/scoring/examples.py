"""Worked examples of a profile: outcomes with their points, and points with their IMPs, each from a source."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from broker.errors import reason
from broker.protocol import HandValue, Points, Seat, WinKind
from broker.rules import Outcome, Profile, RuleError, mcr_folder, seat_points, to_imp

Exact = Annotated[str, Meta(pattern=r"^-?[0-9]{1,9}(\.[0-9]{1,9}|/[1-9][0-9]{0,8})?$(?!\n)")]


class PointsExample(Struct, frozen=True, forbid_unknown_fields=True):
    """How a play ended, and what each seat scores."""

    source: str
    win: WinKind
    points: dict[Seat, Points]
    winners: dict[Seat, HandValue] = field(default_factory=dict)
    discarder: Seat | None = None


class ImpExample(Struct, frozen=True, forbid_unknown_fields=True):
    """Points and datum of one seat, and what their difference is worth."""

    source: str
    points: Points
    datum: Exact
    imp: int


class Examples(Struct, frozen=True, forbid_unknown_fields=True):
    """All examples of one profile."""

    points: tuple[PointsExample, ...] = ()
    imps: tuple[ImpExample, ...] = ()


def read_examples(text: str) -> Examples:
    """Read examples from TOML. Raises RuleError `bad_examples`."""
    try:
        return msgspec.toml.decode(text, type=Examples)
    except (ValueError, RecursionError) as error:  # ValueError: also of msgspec
        raise RuleError("bad_examples", reason(error)) from None


def shipped_examples(profile_id: str) -> Examples:
    """Return the examples of a profile that ships."""
    return read_examples((mcr_folder() / "examples" / f"{profile_id}.toml").read_text(encoding="utf-8"))


def failed_examples(examples: Examples, profile: Profile) -> Iterator[str]:
    """Say of each example that does not come out what comes out instead."""
    for one in examples.points:
        try:
            found: object = seat_points(Outcome(one.win, one.winners, one.discarder), profile.payments)
        except RuleError as refusal:
            found = f"{refusal.code}: {refusal.text}"
        if found != one.points:
            yield f"{one.source}: should be {one.points}, is {found}"
    for worked in examples.imps:
        size = to_imp(worked.points - Fraction(worked.datum), profile.imp)
        if size != worked.imp:
            yield f"{worked.source}: should be {worked.imp} IMP, is {size}"
