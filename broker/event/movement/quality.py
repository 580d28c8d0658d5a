"""How good a movement is: counts that anybody can check by hand, and bounds below which nobody can get.

The bounds rest on one fact: n things fall into m pigeonholes, and the pairs in a common hole are fewest where the
holes are filled as evenly as can be. A player who plays k rounds has 3k meetings with m = players - 1 others; a
player with n comparisons has them with the same m. `excess` adds, over pairs of players, the pairs of their meetings
(two rounds at one table: 1, three rounds: 3); its bound adds the least of each player and halves, since a pair has
two ends.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from broker.event.movement.plays import MOST_COMPARED, MovementPlay, play_times
from broker.protocol import SEATS, Seat

Player = int | str
Pair = tuple[Player, Player]
PlayerRound = tuple[int, Player]
"""A player's round."""

Histogram = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Pairs:
    """How often pairs of players do something: how many pairs so often, and how uneven that is."""

    often: Histogram
    excess: int
    bound: int


@dataclass(frozen=True, slots=True)
class Quality:
    """All measures. Histograms: value to how many have it."""

    players: int
    tables: int
    rounds: int
    deals: int
    meetings: Pairs
    comparisons: Pairs
    seat_spread: Histogram
    """Of a player: how often the commonest seat less how often the rarest; players by it."""
    tables_a_deal: Histogram
    complete: bool
    """Whether every deal comes to every table."""
    copies: int
    """How many carriers of a deal there must be."""
    extra_copies: int
    """How many carriers beyond one a deal there must be in all."""
    handovers: int
    """How often a carrier is needed at another table in the very next moment: that table waits for a slower one."""
    byes: Histogram
    """Rounds that a player sits out; players by it."""


def is_measurable(plays: Sequence[MovementPlay]) -> bool:
    """Return whether `measure_movement` ends in reasonable time, as for all that a MovementOrder asks, not any file."""
    return sum(count**2 for count in Counter(play.deal for play in plays).values()) <= MOST_COMPARED


def measure_movement(plays: Sequence[MovementPlay], players: Collection[Player] = ()) -> Quality:
    """Count everything. `players` names those who might not play at all; who plays is known from the plays."""
    everybody = sorted({*players, *(player for play in plays for player in play.players.values())}, key=str)
    rounds = {play.round for play in plays}
    tables = {play.table for play in plays}
    stays = {(play.round, player) for play in plays for player in play.players.values()}
    tables_of: dict[int, set[int]] = {}
    for play in plays:
        tables_of.setdefault(play.deal, set()).add(play.table)
    carriers = _carriers(plays)
    return Quality(
        players=len(everybody),
        tables=len(tables),
        rounds=len(rounds),
        deals=len(tables_of),
        meetings=_pairs(meetings(plays), everybody),
        comparisons=_pairs(comparisons(plays), everybody),
        seat_spread=_seat_spread(plays, everybody),
        tables_a_deal=_histogram(len(at) for at in tables_of.values()),
        complete=all(at == tables for at in tables_of.values()),
        copies=max(carriers.values(), default=0),
        extra_copies=sum(needed - 1 for needed in carriers.values()),
        handovers=_handovers(plays),
        byes=_histogram(len(rounds) - sum(who == player for _, who in stays) for player in everybody),
    )


def usual_copies(plays: Sequence[MovementPlay]) -> int:
    """Return how many carriers of a deal the movement seems to be made for: what most of its deals need."""
    often = Counter(_carriers(plays).values())
    return min(often, key=lambda copies: (-often[copies], copies), default=1)


def meetings(plays: Sequence[MovementPlay]) -> Counter[Pair]:
    """Return in how many rounds each pair sits at one table; pairs in the order of their names."""
    met = {
        (play.round, play.table, pair)
        for play in plays
        for pair in combinations(sorted(set(play.players.values()), key=str), 2)
    }
    return Counter(pair for _, _, pair in met)


def comparisons(plays: Sequence[MovementPlay]) -> Counter[Pair]:
    """Return how often each pair is compared: had the same seat of the same deal at different tables.

    The deals that two players have in common from one round each count once: a round's deals share their seating.
    """
    homologues: dict[tuple[int, Seat], set[PlayerRound]] = {}
    for play in plays:
        for seat, player in play.players.items():
            homologues.setdefault((play.deal, seat), set()).add((play.round, player))
    compared = {
        pair
        for stays in homologues.values()
        for pair in combinations(sorted(stays, key=lambda stay: (str(stay[1]), stay[0])), 2)
    }
    return Counter((one[1], other[1]) for one, other in compared if one[1] != other[1])


def _pairs(counted: Counter[Pair], players: Sequence[Player]) -> Pairs:
    others = len(players) - 1
    of_player: Counter[Player] = Counter()
    for (one, other), times in counted.items():
        of_player.update({one: times, other: times})
    never = len(players) * others // 2 - len(counted)
    often = Counter(counted.values()) + Counter({0: never})
    bound = -(-sum(least_excess(of_player[player], others) for player in players) // 2)
    return Pairs(dict(sorted(often.items())), sum(_choose_2(times) for times in counted.values()), bound)


def least_excess(things: int, holes: int) -> int:
    """Return the least number of pairs in a common hole: things spread as evenly as can be."""
    if not holes:
        return _choose_2(things)
    each, left = divmod(things, holes)
    return left * _choose_2(each + 1) + (holes - left) * _choose_2(each)


def _choose_2(number: int) -> int:
    return number * (number - 1) // 2


def _seat_spread(plays: Sequence[MovementPlay], players: Sequence[Player]) -> Histogram:
    sat = {(play.round, seat, player) for play in plays for seat, player in play.players.items()}
    count = Counter((player, seat) for _, seat, player in sat)
    return _histogram(
        max(count[player, seat] for seat in SEATS) - min(count[player, seat] for seat in SEATS) for player in players
    )


def _carriers(plays: Sequence[MovementPlay]) -> dict[int, int]:
    """Return for each deal at how many tables it is at once, at most."""
    at_once = Counter((when, play.deal) for when, play in zip(play_times(plays), plays, strict=True))
    needed: dict[int, int] = {}
    for (_, deal), count in at_once.items():
        needed[deal] = max(needed.get(deal, 0), count)
    return needed


def _handovers(plays: Sequence[MovementPlay]) -> int:
    when = play_times(plays)
    order = {moment: at for at, moment in enumerate(sorted(set(when)))}
    at = {(order[moment], play.deal, play.table) for moment, play in zip(when, plays, strict=True)}
    before = {(moment + 1, deal) for moment, deal, _ in at}
    return sum((moment, deal) in before and (moment - 1, deal, table) not in at for moment, deal, table in at)


def _histogram(values: Iterable[int]) -> Histogram:
    return dict(sorted(Counter(values).items()))
