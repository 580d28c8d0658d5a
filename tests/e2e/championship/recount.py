"""An independent computation of the event's results from the written rules, without the product's scoring code.

A play scores by OEDMC rules 1 and 2, and is compared with the same seats of the same deal in the same section: the
datum is the mean, and the difference is converted to IMPs. A final carries over part of the earlier IMPs, rounded.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from broker.protocol import ScriptedPlay
from broker.sim.demo_audit import STEPS, points_of

SEATS: Final = ("east", "south", "west", "north")


@dataclass
class Play:
    """One play: its players, its result, and adjustments by arbiters, by player."""

    round: int
    table: int
    deal: int
    section: str
    players: dict[str, str]
    ended: dict[str, Any]
    at_table: dict[str, int]
    """False hu by seat, paid by the player who sat there."""
    ruled: dict[str, int] = field(default_factory=dict)
    """Fines from the desk, by player."""

    @property
    def fines(self) -> dict[str, int]:
        """Return the fines of each player."""
        found = Counter(self.ruled)
        found.update({self.players[seat]: imp for seat, imp in self.at_table.items()})
        return found

    @property
    def points(self) -> dict[str, int]:
        """Return the points of each seat."""
        return points_of(self.ended)


def played(round_: int, table: int, deal: int, section: str, players: Mapping[str, str], ended: ScriptedPlay) -> Play:
    """Return a play that ended as scripted for its table."""
    said = {"win": ended.win, "winners": dict(ended.winners), "discarder": ended.discarder}
    at_table = {str(seat): imp for seat, imp in ended.false_hu.items()}
    return Play(round_, table, deal, section, dict(players), said, at_table)


@dataclass(frozen=True)
class Line:
    """The result of one play for one player."""

    points: int
    datum: Fraction
    imp: int
    """IMPs, with fines deducted."""


def lines_of(plays: Iterable[Play]) -> dict[tuple[int, int, str], Line]:
    """Return the result of each play, by round, table and player."""
    same: dict[tuple[int, str], list[Play]] = defaultdict(list)
    for one in plays:
        same[one.deal, one.section].append(one)
    found = {}
    for compared in same.values():
        for seat in SEATS:
            datum = Fraction(sum(one.points[seat] for one in compared), len(compared))
            for one in compared:
                off = one.points[seat] - datum
                size = sum(abs(off) >= Fraction(2 * step - 1, 2) for step in STEPS)
                who = one.players[seat]
                imp = (size if off > 0 else -size) - one.fines.get(who, 0)
                found[one.round, one.table, who] = Line(one.points[seat], datum, imp)
    return found


@dataclass(frozen=True)
class Standing:
    """One line of the standings."""

    place: int
    imp: int
    fines: int
    plays: int


def standings(plays: Iterable[Play], before: Mapping[str, int]) -> dict[str, Standing]:
    """Return the standings of all players. `before` has the IMPs carried over."""
    listed = [*plays]
    imps, fines, counts = defaultdict[str, int](int, before), defaultdict[str, int](int), defaultdict[str, int](int)
    for (_, _, who), line in lines_of(listed).items():
        imps[who] += line.imp
        counts[who] += 1
    for one in listed:
        for who, imp in one.fines.items():
            fines[who] += imp
    return {
        who: Standing(1 + sum(other > imp for other in imps.values()), imp, fines[who], counts[who])
        for who, imp in imps.items()
    }


def part(imp: int, of: Fraction) -> int:
    """Return a fraction of some IMPs as whole IMPs, rounding halves away from zero."""
    size = (2 * abs(imp * of) + 1) // 2
    return int(size) if imp > 0 else -int(size)


def cut(sections: Mapping[str, Mapping[str, Standing]], each: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the qualifiers with their sections, by rank, and those who tie with the last one but do not qualify."""
    found, left = [], []
    for section, ranked in sections.items():
        order = sorted(ranked, key=lambda who: (ranked[who].place, who))
        last = ranked[order[each - 1]].place
        left += [who for who in order[each:] if ranked[who].place == last]
        found += [(ranked[who].place, -ranked[who].imp, who, section) for who in order[:each]]
    return [(who, section) for _, _, who, section in sorted(found)], left
