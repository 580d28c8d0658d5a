"""Rules and counts of a movement, computed in the simplest way, for comparison with the product."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from broker.event.movement import MovementPlay
from broker.protocol import SEATS


def is_sound(plays: Sequence[MovementPlay], copies: int = 1) -> bool:
    """Return whether a movement breaks no rule, by comparing all pairs of plays."""
    place: Counter[tuple[int, int]] = Counter()
    when = []
    for play in plays:
        when.append((play.round, place[play.round, play.table]))
        place[play.round, play.table] += 1
    at_once = Counter((moment, play.deal) for moment, play in zip(when, plays, strict=True))
    return (
        all(len(set(play.players.values())) == 4 == len(play.players) for play in plays)
        and max(at_once.values()) <= copies
        and all(_bear_each_other(one, other) for one, other in combinations(plays, 2))
    )


def _bear_each_other(one: MovementPlay, other: MovementPlay) -> bool:
    shared = {*one.players.values()} & {*other.players.values()}
    if (one.round, one.table) == (other.round, other.table):
        return one.deal != other.deal and dict(one.players) == dict(other.players)
    if one.round == other.round and shared:
        return False
    return one.deal != other.deal or (one.table != other.table and not shared)


def times_met(plays: Sequence[MovementPlay], one: int | str, other: int | str) -> int:
    """Count the rounds in which two players sit at one table."""
    return len({p.round for p in plays if {one, other} <= {*p.players.values()}})


def compared(plays: Sequence[MovementPlay], one: int | str, other: int | str) -> int:
    """Count how often two players have the same seat of a deal; deals of the same two rounds count once."""
    return len(
        {
            (p.round, q.round)
            for p in plays
            for q in plays
            for seat in SEATS
            if p.deal == q.deal and p is not q and p.players[seat] == one and q.players[seat] == other
        }
    )
