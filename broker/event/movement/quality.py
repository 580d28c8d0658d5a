"""Measures of a movement's quality: counts that anybody can check by hand, and lower bounds for them.

The bounds rest on the pigeonhole principle: if n things fall into m holes, the pairs in a common hole are fewest when
the holes are filled as evenly as possible. A player who plays k rounds has 3k meetings with m = players - 1 others; a
player with n comparisons has them with the same m. `excess` adds up, over pairs of players, the pairs of their meetings
(two rounds at one table: 1, three rounds: 3). Its bound adds the least excess of each player and halves the sum, since
each pair is counted from both sides.
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
"""A round and a player in it."""

Histogram = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Pairs:
    """How often pairs of players meet or are compared: a histogram over pairs, and how uneven it is."""

    often: Histogram
    excess: int
    bound: int


@dataclass(frozen=True, slots=True)
class Quality:
    """All measures of a movement. Histograms map each value to how many players, deals or pairs have it."""

    players: int
    tables: int
    rounds: int
    deals: int
    meetings: Pairs
    comparisons: Pairs
    seat_spread: Histogram
    """Players by the difference between how often they have their commonest and their rarest seat, in rounds."""
    tables_a_deal: Histogram
    complete: bool
    """Whether every deal is played at every table."""
    copies: int
    """How many carriers of a deal are needed at most."""
    extra_copies: int
    """How many carriers are needed in all beyond one for each deal."""
    handovers: int
    """How often a carrier is needed at another table in the next moment, so that a table may wait for a slower one."""
    byes: Histogram
    """Players by the number of rounds that they sit out."""


def is_measurable(plays: Sequence[MovementPlay]) -> bool:
    """Return whether `measure_movement` ends in reasonable time, as it does for any MovementOrder, but not any file."""
    return sum(count**2 for count in Counter(play.deal for play in plays).values()) <= MOST_COMPARED


def measure_movement(plays: Sequence[MovementPlay], players: Collection[Player] = ()) -> Quality:
    """Return all measures. `players` need only contain those who are in none of the plays."""
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
        byes=_histogram(len(rounds) - sum(other == player for _, other in stays) for player in everybody),
    )


def usual_copies(plays: Sequence[MovementPlay]) -> int:
    """Return for how many carriers of a deal the movement seems to be made: the number that most of its deals need."""
    often = Counter(_carriers(plays).values())
    return min(often, key=lambda copies: (-often[copies], copies), default=1)


def meetings(plays: Sequence[MovementPlay]) -> Counter[Pair]:
    """Return in how many rounds each pair sits at one table. The names in a pair are sorted."""
    met = {
        (play.round, play.table, pair)
        for play in plays
        for pair in combinations(sorted(set(play.players.values()), key=str), 2)
    }
    return Counter(pair for _, _, pair in met)


def comparisons(plays: Sequence[MovementPlay]) -> Counter[Pair]:
    """Return how often each pair is compared, that is, has the same seat of the same deal at different tables.

    Deals that both players have in the same pair of rounds count once, because a round's deals share their seating.
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
    """Return the least possible number of pairs in a common hole, with things spread as evenly as possible."""
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
    """Return for each deal the largest number of tables that play it at once."""
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
