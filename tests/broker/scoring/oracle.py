"""An independent implementation of scoring from the rule book, with integers and plain loops."""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.protocol import SEATS, Seat

STEPS = (2, 5, 9, 13, 17, 22, 27, 32, 37, 43, 50, 60, 75, 90, 110, 130, 150, 175, 200, 225, 250, 300, 350, 400)


@dataclass(frozen=True)
class Line:
    """A player's result in one play."""

    player: str
    points: int
    fine: int = 0


@dataclass(frozen=True)
class Play:
    """A deal played at one table."""

    deal: int
    table: int
    lines: Mapping[Seat, Line]
    form: str = ""


@dataclass
class Sum:
    """The totals of a player or a team."""

    imp: int = 0
    fines: int = 0
    plays: int = 0


def imps(total: int, count: int, points: int, *, midpoint: bool = True) -> int:
    """Return the IMPs of `points` against the mean `total / count`, multiplied by 2 * count to avoid division."""
    difference = 2 * (count * points - total)
    size = 0
    for step in STEPS:
        reached = count * (2 * step - 1) if midpoint else count * 2 * step
        if abs(difference) >= reached:
            size += 1
    return size if difference >= 0 else -size


def imps_of(plays: list[Play], play: Play, seat: Seat, *, midpoint: bool = True) -> int:
    """Return the IMPs of a seat against the same seat in all plays of the deal in that form, including itself."""
    scores = [p.lines[seat].points for p in plays if (p.deal, p.form) == (play.deal, play.form)]
    return imps(sum(scores), len(scores), play.lines[seat].points, midpoint=midpoint)


def individual(plays: list[Play]) -> dict[str, Sum]:
    """Return each player's total IMPs less the fines."""
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
    """Return each team's totals. The points of its members in a deal are added and converted once."""
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
    """Return each place, which is one more than the number of better totals."""
    return {name: 1 + sum(other.imp > own.imp for other in sums.values()) for name, own in sums.items()}
