"""Scoring written a second time, from the rule book alone: whole numbers, plain loops, nothing of broker.scoring.

A play is a plain mapping: deal, table, form, and by seat: player, points, fine.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.protocol import SEATS, Seat

STEPS = (2, 5, 9, 13, 17, 22, 27, 32, 37, 43, 50, 60, 75, 90, 110, 130, 150, 175, 200, 225, 250, 300, 350, 400)


@dataclass(frozen=True)
class Line:
    """One player in one play."""

    player: str
    points: int
    fine: int = 0


@dataclass(frozen=True)
class Play:
    """One table playing one deal."""

    deal: int
    table: int
    lines: Mapping[Seat, Line]
    form: str = ""


@dataclass
class Sum:
    """What a player or a team has together."""

    imp: int = 0
    fines: int = 0
    plays: int = 0


def imps(total: int, count: int, points: int, *, midpoint: bool = True) -> int:
    """Convert `points` against the mean `total / count` without dividing: everything is taken 2 * count times."""
    difference = 2 * (count * points - total)
    size = 0
    for step in STEPS:
        reached = count * (2 * step - 1) if midpoint else count * 2 * step
        if abs(difference) >= reached:
            size += 1
    return size if difference >= 0 else -size


def imps_of(plays: list[Play], play: Play, seat: Seat, *, midpoint: bool = True) -> int:
    """Compare one seat of a play with the same seat of all plays of the deal in that form, itself included."""
    scores = [p.lines[seat].points for p in plays if (p.deal, p.form) == (play.deal, play.form)]
    return imps(sum(scores), len(scores), play.lines[seat].points, midpoint=midpoint)


def individual(plays: list[Play]) -> dict[str, Sum]:
    """Add up every player's IMPs and take off the fines."""
    sums: dict[str, Sum] = {}
    for play in plays:
        for seat in SEATS:
            line = play.lines[seat]
            mine = sums.setdefault(line.player, Sum())
            mine.imp += imps_of(plays, play, seat) - line.fine
            mine.fines += line.fine
            mine.plays += 1
    return sums


def teams(plays: list[Play], team_of: dict[str, str], *, zero: bool = False) -> dict[str, Sum]:
    """Add the points of a team's four members in a deal, and convert the sum."""
    names = sorted(set(team_of.values()))
    sums = {name: Sum() for name in names}
    for deal in sorted({play.deal for play in plays}):
        lines = [line for play in plays if play.deal == deal for line in play.lines.values()]
        score = {n: sum(line.points for line in lines if team_of[line.player] == n) for n in names}
        for name in names:
            against, count = sum(score.values()), len(names)
            if zero:
                against, count = 0, 1
            elif len(names) == 2:
                against, count = sum(score.values()) - score[name], 1
            fine = sum(line.fine for line in lines if team_of[line.player] == name)
            sums[name].imp += imps(against, count, score[name]) - fine
            sums[name].fines += fine
            sums[name].plays += 1
    return sums


def places(sums: dict[str, Sum]) -> dict[str, int]:
    """Return each one's place: one more than there are better ones."""
    return {name: 1 + sum(other.imp > own.imp for other in sums.values()) for name, own in sums.items()}
