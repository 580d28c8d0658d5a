"""Comparison groups: the plays of one deal, section and form, their datum and IMPs (OEDMC, MIL)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np

from broker.contract.words import SEATS, Seat
from broker.rules.profile import Comparison
from broker.scoring.datum import differences, mean, reference
from broker.scoring.imp import Whole, cross, imps
from broker.scoring.plays import GroupKey, ScoredPlay, by_seat

Exact = int | Fraction
"""IMPs; a fraction only where a profile asks for the mean of several comparisons."""


class Compared(NamedTuple):
    """One play with the IMPs of its seats, before fines and awards."""

    play: ScoredPlay
    imp: Mapping[Seat, Exact]


@dataclass(frozen=True)
class Group:
    """The plays that are compared with each other, by table. `points` is (plays, seats)."""

    members: tuple[ScoredPlay, ...]
    points: Whole = field(compare=False)
    profile: Comparison

    @property
    def deal(self) -> int:
        """Number of the deal."""
        return self.members[0].deal

    @property
    def form(self) -> str | None:
        """Hash of how the tiles lay."""
        return self.members[0].form

    @property
    def section(self) -> str | None:
        """The part of the field."""
        return self.members[0].section

    @property
    def small(self) -> bool:
        """Whether these are too few to be compared."""
        return len(self.members) < self.profile.small_group.smallest.value

    @cached_property
    def datum(self) -> dict[Seat, Fraction]:
        """The mean of each seat over all plays of the group, rounded as the profile says.

        Where own scores are excluded each play has a datum of its own: `own_data`.
        """
        means = mean(self.points.sum(axis=0), len(self.members), self.profile.datum)
        return {seat: Fraction(total, means.over) for seat, total in zip(SEATS, means.sums.tolist(), strict=True)}

    def own_data(self) -> list[dict[Seat, Fraction]]:
        """Give each play's own datum, without its own score. Needs two plays."""
        means = reference(self.points, self.profile.datum)
        rows = np.broadcast_to(means.sums, self.points.shape).tolist()
        return [{seat: Fraction(total, means.over) for seat, total in zip(SEATS, row, strict=True)} for row in rows]

    @cached_property
    def imps(self) -> Whole:
        """IMPs times `over`, of the shape (plays, seats)."""
        if self.small:
            return np.full_like(self.points, self.profile.small_group.imp.value)
        if self.profile.imp.method.value == "cross":
            return np.stack([cross(seat, self.profile.imp) for seat in self.points.T], axis=1)
        return imps(*differences(self.points, self.profile.datum), self.profile.imp)

    @property
    def apart(self) -> bool:
        """Whether each play has a datum of its own."""
        settings = self.profile
        excluded = settings.datum.own_score.value == "excluded" and settings.imp.method.value == "datum"
        return excluded and not self.small

    @property
    def over(self) -> int:
        """What `imps` are to be divided by: 1, or the number of comparisons of which they are the mean."""
        crossed = self.profile.imp.method.value == "cross" and not self.small
        return len(self.members) - 1 if crossed else 1

    @property
    def plays(self) -> tuple[Compared, ...]:
        """Each play with its IMPs."""
        over = self.over
        return tuple(
            Compared(play, {seat: exact(value, over) for seat, value in zip(SEATS, row, strict=True)})
            for play, row in zip(self.members, self.imps.tolist(), strict=True)
        )


def exact(numerator: int, over: int) -> Exact:
    """Give a quotient, as a whole number where it is one."""
    quotient = Fraction(numerator, over) if over > 1 else numerator
    return int(quotient) if quotient == int(quotient) else quotient


def groups(plays: Iterable[ScoredPlay], profile: Comparison) -> tuple[Group, ...]:
    """Sort plays into comparison groups and compare them; in what order they come does not matter."""
    return tuple(group(members, profile) for _, members in sorted(by_group(plays).items(), key=itemgetter(0)))


def by_group(plays: Iterable[ScoredPlay]) -> dict[GroupKey, list[ScoredPlay]]:
    """Sort plays into their groups. Those without points belong to none."""
    by_key: dict[GroupKey, list[ScoredPlay]] = {}
    for play in plays:
        if play.points is not None:
            by_key.setdefault(play.group, []).append(play)
    return by_key


def group(plays: Iterable[ScoredPlay], profile: Comparison) -> Group:
    """Compare plays that have points, all of one group."""
    members = tuple(sorted(plays, key=attrgetter("table")))
    scored = [play.points for play in members if play.points is not None]
    return Group(members, table(chain.from_iterable(map(by_seat, scored)), len(scored)), profile)


def table(values: Iterable[int], plays: int) -> Whole:
    """Give whole numbers, four a play, as an array of the shape (plays, seats)."""
    return np.fromiter(values, np.int64, plays * len(SEATS)).reshape(plays, len(SEATS))
