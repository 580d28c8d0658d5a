"""Comparison groups: the plays of one deal in one form, their datum and IMPs (OEDMC, MIL)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from broker.contract.words import SEATS, Seat
from broker.rules.profile import Profile
from broker.scoring.imp import imp
from broker.scoring.plays import ScoredPlay


@dataclass(frozen=True, slots=True)
class Compared:
    """One play with the IMPs of its seats, before fines."""

    play: ScoredPlay
    imp: Mapping[Seat, int]


@dataclass(frozen=True, slots=True)
class Group:
    """The plays that are compared with each other, and the mean of each seat, unrounded."""

    deal: int
    form: str | None
    datum: Mapping[Seat, Fraction]
    plays: tuple[Compared, ...]


def groups(plays: Iterable[ScoredPlay], profile: Profile) -> tuple[Group, ...]:
    """Sort plays into comparison groups, by deal and form, and compare them. Order of arrival does not matter."""
    sorted_plays: dict[tuple[int, str], list[ScoredPlay]] = {}
    for play in sorted(plays, key=lambda play: (play.deal, play.form or "", play.table)):
        sorted_plays.setdefault((play.deal, play.form or ""), []).append(play)
    return tuple(_group(members, profile) for members in sorted_plays.values())


def _group(plays: list[ScoredPlay], profile: Profile) -> Group:
    datum = {seat: Fraction(sum(play.points[seat] for play in plays), len(plays)) for seat in SEATS}
    compared = tuple(
        Compared(play, {seat: imp(play.points[seat] - datum[seat], profile.imp) for seat in SEATS}) for play in plays
    )
    return Group(plays[0].deal, plays[0].form, datum, compared)
