"""The end of a session: who is first, who gets what lies on the table, which place everybody has (MONTREAL)."""

from broker.rules.riichi.session.settings import SessionRules
from broker.rules.riichi.session.state import PLAYERS, Player, Points

HUNDRED = 100


def out(scores: Points, rules: SessionRules) -> bool:
    """Say whether somebody's score ends the session at once."""
    return min(scores) < (1 if rules.scores.out.value == "zero_or_less" else 0)


def winners(scores: Points, rules: SessionRules) -> tuple[Player, ...]:
    """Give who is first, several where ties stand."""
    places_ = places(scores, rules)
    return tuple(player for player in PLAYERS if places_[player] == 1)


def places(scores: Points, rules: SessionRules) -> tuple[int, ...]:
    """Give everybody's place: equal scores share it, or the earlier seat comes first."""
    apart = rules.end.ties.value == "seat_order"

    def rank(player: Player) -> tuple[int, int]:
        return -scores[player], player if apart else 0

    return tuple(1 + sum(rank(other) < rank(player) for other in PLAYERS) for player in PLAYERS)


def unclaimed(scores: Points, points: int, rules: SessionRules) -> Points:
    """Share out the points that lie on the table among the winners.

    In hundreds, the smallest stick; what cannot be shared goes to the first of them in seat order, and parts no tie:
    places are those of the scores before.
    """
    if rules.end.deposits.value == "nobody":
        points = 0
    first = winners(scores, rules)
    each = points // (HUNDRED * len(first)) * HUNDRED
    rest = points - each * len(first)
    east, south, west, north = (
        (each if player in first else 0) + (rest if player == first[0] else 0) for player in PLAYERS
    )
    return east, south, west, north
