"""The plays of a movement: the order for one, which table plays which deals in which round, and all its faults.

Deals come in *sets* of `deals_per_round`. Tables come in *pods*: as many tables as can share a set in a round, with
each deal at no more tables at once than it has carriers. At moment j, table i of the pod plays deal (i + j) of the set.

If there are several pods, sets travel. Rounds are divided into *blocks* of at least as many rounds as there are pods,
so that within a block of b rounds each pod plays each of the block's b sets once: in the block's round r, pod q has set
(q + r) mod b. Short blocks are better than long ones: deals are over early, their results are published early, and a
player's rounds constrain each other only within a block. With fewer rounds than pods, there is one block with as many
sets as pods. By construction each table plays a deal at most once, and each deal reaches all tables unless there are
too few rounds.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import ceil
from operator import attrgetter
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from broker.errors import refuse_if
from broker.i18n import N_
from broker.protocol import SEATS, Seat


class MovementPlay(Protocol):
    """A planned play from any source: a round, a table, a deal, and players (numbers or ids) by seat.

    If a table has several deals in one round, they are played in the order listed.
    """

    @property
    def round(self) -> int:
        """The round, from 1."""

    @property
    def table(self) -> int:
        """The table, from 1."""

    @property
    def deal(self) -> int:
        """The deal, from 1."""

    @property
    def players(self) -> Mapping[Seat, int | str]:
        """The players, by seat."""


@dataclass(frozen=True, slots=True)
class NumberedPlay:
    """A planned play whose players are numbers from 1."""

    round: int
    table: int
    deal: int
    players: Mapping[Seat, int]


@dataclass(frozen=True, slots=True)
class TableRound:
    """One table in one round (a sitting), without its players; deals are in the order of play."""

    round: int
    table: int
    deals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NamedPlay:
    """A planned play whose players are names, ids or numbers."""

    round: int
    table: int
    deal: int
    players: Mapping[Seat, int | str]


def play_times(plays: Sequence[MovementPlay]) -> list[tuple[int, int]]:
    """Return the moment of each play: its round, and its index (from 0) among its table's plays in that round.

    Tables that keep time reach the same moment together, so that is when they could need the same carrier.
    """
    count: dict[tuple[int, int], int] = {}
    found: list[tuple[int, int]] = []
    for play in plays:
        at = count.get((play.round, play.table), 0)
        count[play.round, play.table] = at + 1
        found.append((play.round, at))
    return found


def table_rounds(plays: Iterable[MovementPlay]) -> dict[TableRound, Mapping[Seat, int | str]]:
    """Return the sittings in order of round and table, each with the players of its first play."""
    grouped: dict[tuple[int, int], list[MovementPlay]] = {}
    for play in plays:
        grouped.setdefault((play.round, play.table), []).append(play)
    return {
        TableRound(round_, table, tuple(play.deal for play in group)): group[0].players
        for (round_, table), group in sorted(grouped.items())
    }


def numbered_plays(seated: Iterable[tuple[TableRound, Sequence[int]]]) -> tuple[NumberedPlay, ...]:
    """Return one play for each deal of the sittings; their four players are in the order of `SEATS`."""
    return tuple(
        NumberedPlay(sitting.round, sitting.table, deal, dict(zip(SEATS, four, strict=True)))
        for sitting, four in seated
        for deal in sitting.deals
    )


def name_players(plays: Iterable[NumberedPlay], names: Sequence[int | str]) -> tuple[NamedPlay, ...]:
    """Replace player numbers by names: player 1 gets the first name, and so on."""
    return tuple(
        NamedPlay(play.round, play.table, play.deal, {seat: names[number - 1] for seat, number in play.players.items()})
        for play in plays
    )


SEATED: Final = len(SEATS)
ALL: Final = frozenset(SEATS)

K = TypeVar("K", bound=Hashable)
L = TypeVar("L", bound=Hashable)

Teams = Mapping[str, Sequence[int | str]]
"""Team name to its four members."""


@dataclass(frozen=True, slots=True)
class MovementFault:
    """A fault of a movement: a stable code (docs/codes.md), a text, and the indices of the plays concerned."""

    code: str
    text: str
    at: tuple[int, ...]


def check_movement(plays: Sequence[MovementPlay], copies: int = 1) -> list[MovementFault]:
    """Return all faults of a movement; none means that it can be played with `copies` carriers of each deal."""
    if _is_plain(plays, copies):
        return []
    found = [*_four_a_table(plays), *_same_four_all_round(plays), *_carriers(plays, copies), *_repeats(plays)]
    return sorted(found, key=lambda fault: fault.at[-1])


def _is_plain(plays: Sequence[MovementPlay], copies: int) -> bool:
    """Return whether each table plays one deal a round without any fault, as in most movements of events.

    For many thousands of plays this takes a fraction of the time needed to list faults.
    """
    number = defaultdict[int | str, int]()
    number.default_factory = number.__len__
    seating = [play.players for play in plays]
    fours = dict(zip(map(id, seating), seating, strict=True))  # many plays share one dictionary of players
    if any(four.keys() != ALL or len(set(four.values())) < SEATED for four in fours.values()):
        return False
    seated = np.array([[number[four[seat]] for seat in SEATS] for four in fours.values()], np.int64).reshape(-1, SEATED)
    row = {four: at for at, four in enumerate(fours)}
    players = seated[np.fromiter(map(row.__getitem__, map(id, seating)), np.int64, len(plays))]
    rounds, tables, deals = (_column(plays, name) for name in ("round", "table", "deal"))
    pairs = (rounds, tables), (tables, deals), (rounds[:, None], players), (deals[:, None], players)
    return all(_most_often(*pair) <= 1 for pair in pairs) and _most_often(rounds, deals) <= copies


def _column(plays: Sequence[MovementPlay], name: str) -> NDArray[np.int64]:
    return np.fromiter(map(attrgetter(name), plays), np.int64, len(plays))


def _most_often(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """Return how often the commonest pair of numbers occurs."""
    pairs = np.sort((first * (second.max(initial=0) + 1) + second).ravel())
    begins = np.flatnonzero(np.diff(pairs, prepend=-1, append=-1))
    return int(np.diff(begins).max(initial=0))


def most_together(teams: int) -> int:
    """Return how many members of a team may have to share a table: one with four teams or more, else two."""
    return ceil(SEATED / teams)


def check_teams(plays: Sequence[MovementPlay], teams: Teams) -> list[MovementFault]:
    """Return the faults of a team event: each team has to sit once at each seat of each deal, spread over tables."""
    team_of = {player: team for team, members in teams.items() for player in members}
    found = [*_without_team(plays, team_of), *_team_seats(plays, team_of), *_team_crowds(plays, team_of, len(teams))]
    return sorted(found, key=lambda fault: fault.at[-1])


def _four_a_table(plays: Sequence[MovementPlay]) -> Iterator[MovementFault]:
    for at, play in enumerate(plays):
        if play.players.keys() != ALL or len(set(play.players.values())) != SEATED:
            text = f"round {play.round} table {play.table}: four players are needed, one a seat"
            yield MovementFault("not_four_players", text, (at,))


def _same_four_all_round(plays: Sequence[MovementPlay]) -> Iterator[MovementFault]:
    first: dict[tuple[int, int], int] = {}
    for at, play in enumerate(plays):
        before = first.setdefault((play.round, play.table), at)
        if before != at and dict(plays[before].players) != dict(play.players):
            text = f"round {play.round} table {play.table}: the players change seats within the round"
            yield MovementFault("players_change", text, (before, at))


def _carriers(plays: Sequence[MovementPlay], copies: int) -> Iterator[MovementFault]:
    """Yield each deal that is at more tables in one moment than it has carriers (MIL)."""
    when = play_times(plays)
    seen = ((when[at], (play.deal,), play.table) for at, play in enumerate(plays))
    for ((round_, _), deal), ats in _clashes(seen, copies):
        count = "two" if len(ats) == 2 else len(ats)  # noqa: PLR2004 - 2 is written as a word
        yield MovementFault(
            "deal_at_two_tables",
            N_("deal {deal} is at {count} tables in round {round}", deal=deal, count=count, round=round_),
            ats,
        )


def _repeats(plays: Sequence[MovementPlay]) -> Iterator[MovementFault]:
    """Yield each repetition of a deal at a table, a player in a round, or a player with a deal."""
    for (table, deal), ats in _clashes((play.table, (play.deal,), at) for at, play in enumerate(plays)):
        yield MovementFault(
            "table_repeats_deal", N_("table {table} plays deal {deal} twice", table=table, deal=deal), ats
        )
    for (round_, player), ats in _clashes((play.round, play.players.values(), play.table) for play in plays):
        yield MovementFault(
            "player_at_two_tables", N_("player {who} sits twice in round {round}", who=player, round=round_), ats
        )
    for (deal, player), ats in _clashes((play.deal, play.players.values(), at) for at, play in enumerate(plays)):
        yield MovementFault(
            "player_repeats_deal", N_("player {who} plays deal {deal} twice", who=player, deal=deal), ats
        )


def _clashes(
    seen: Iterable[tuple[K, Collection[L], int]], most: int = 1
) -> Iterator[tuple[tuple[K, L], tuple[int, ...]]]:
    """Yield each key that occurs at more than `most` places, with the index of the first play at each place.

    `seen` has one entry for each play: the first part of the key, the values of its second part, and the place.
    """
    listed = list(seen)
    if _all_differ(listed):
        return
    places: dict[tuple[K, L], dict[int, int]] = {}
    for at, (when, what, place) in enumerate(listed):
        for value in what:
            places.setdefault((when, value), {}).setdefault(place, at)
    yield from ((key, tuple(sorted(at.values()))) for key, at in places.items() if len(at) > most)


def _all_differ(seen: Iterable[tuple[K, Collection[L], int]]) -> bool:
    """Return whether no key occurs twice, as in nearly every movement."""
    found: defaultdict[K, set[L]] = defaultdict(set)
    count = 0
    for when, what, _ in seen:
        found[when].update(what)
        count += len(what)
    return sum(map(len, found.values())) == count


def _without_team(plays: Sequence[MovementPlay], team_of: Mapping[int | str, str]) -> Iterator[MovementFault]:
    for at, play in enumerate(plays):
        for player in sorted(set(play.players.values()) - team_of.keys(), key=str):
            yield MovementFault("player_without_team", N_("{who} is not in a team", who=player), (at,))


def _team_seats(plays: Sequence[MovementPlay], team_of: Mapping[int | str, str]) -> Iterator[MovementFault]:
    sat: dict[tuple[int, str], list[tuple[Seat, int]]] = {}
    for at, play in enumerate(plays):
        for seat, player in play.players.items():
            if player in team_of:
                sat.setdefault((play.deal, team_of[player]), []).append((seat, at))
    for (deal, team), found in sat.items():
        if sorted(seat for seat, _ in found) != sorted(SEATS):
            text = f"deal {deal}: {team} does not sit once at each seat"
            yield MovementFault("team_incomplete", text, tuple(sorted({at for _, at in found})))


def _team_crowds(
    plays: Sequence[MovementPlay], team_of: Mapping[int | str, str], teams: int
) -> Iterator[MovementFault]:
    for at, play in enumerate(plays):
        for team, count in Counter(team_of[p] for p in play.players.values() if p in team_of).items():
            if count > most_together(teams):
                text = f"round {play.round} table {play.table}: {count} players of {team} sit together"
                yield MovementFault("teammates_meet", text, (at,))


MOST_PLAYERS: Final = 1000
"""With more players, counting pairs alone would take too long."""

MOST_DEALS: Final = 9999
"""As in `broker.protocol.types.DealNo`."""

MOST_ROUNDS: Final = 999

MOST_COMPARED: Final = 1_000_000
"""Limit of the sum over deals of their plays squared, to which the time for counting comparisons is proportional."""


@dataclass(frozen=True, slots=True)
class MovementOrder:
    """The size of a movement to be generated. `copies` is the number of carriers of each deal."""

    players: int
    tables: int
    rounds: int
    deals_per_round: int = 1
    copies: int = 1

    def __post_init__(self) -> None:
        """Raise RuleError `impossible_size` if no movement can have these numbers."""
        players, filled = self.players, self.players // SEATED
        refuse_if(
            not SEATED <= players <= MOST_PLAYERS,
            "impossible_size",
            N_(
                "number of players: {players}; there can be {least} to {most}",
                players=players,
                least=SEATED,
                most=MOST_PLAYERS,
            ),
        )
        refuse_if(
            not 1 <= self.tables <= filled,
            "impossible_size",
            N_("{tables} tables; {players} players fill 1 to {most}", tables=self.tables, players=players, most=filled),
        )
        refuse_if(
            not 1 <= self.rounds <= MOST_ROUNDS,
            "impossible_size",
            N_("{rounds} rounds; there can be 1 to {most}", rounds=self.rounds, most=MOST_ROUNDS),
        )
        refuse_if(
            self.deals_per_round < 1 or self.copies < 1,
            "impossible_size",
            N_("a round needs at least one deal, and a deal at least one carrier"),
        )
        deals = max(self.rounds, self.pods) * self.deals_per_round
        refuse_if(deals > MOST_DEALS, "impossible_size", N_("that would take more than {most} deals", most=MOST_DEALS))
        refuse_if(
            deals * (min(self.rounds, self.pods) * self.pod) ** 2 > MOST_COMPARED,
            "impossible_size",
            N_("there are too many plays and deals to compare in reasonable time"),
        )

    @property
    def pod(self) -> int:
        """How many tables share the deals of a round, which circulate among them."""
        return min(self.tables, self.deals_per_round * self.copies)

    @property
    def pods(self) -> int:
        """The number of pods; the last one may be smaller."""
        return -(-self.tables // self.pod)


def round_blocks(order: MovementOrder) -> list[range]:
    """Divide the rounds (from 0) into blocks that are as short and as equal as possible."""
    count = max(1, order.rounds // order.pods)
    cuts = [at * order.rounds // count for at in range(count + 1)]
    return [range(start, end) for start, end in pairwise(cuts)]


def sets_of_pods(order: MovementOrder) -> Iterator[tuple[int, int, int]]:
    """Yield each round, pod and the pod's set in that round, all from 0, ordered by round and pod."""
    first_set = 0
    for block in round_blocks(order):
        sets = max(order.pods, len(block))
        for round_, pod in product(block, range(order.pods)):
            yield round_, pod, first_set + (pod + round_ - block.start) % sets
        first_set += sets


def sittings_of(order: MovementOrder) -> tuple[TableRound, ...]:
    """Return all sittings of a movement, by round and table."""
    return tuple(
        TableRound(round_ + 1, pod * order.pod + place + 1, deal_order(number, place, order.deals_per_round))
        for round_, pod, number in sets_of_pods(order)
        for place in range(min(order.pod, order.tables - pod * order.pod))
    )


def deal_order(number: int, place: int, deals: int) -> tuple[int, ...]:
    """Return the deals of set `number` (from 0) in the order in which table `place` of the pod (from 0) plays them."""
    return tuple(number * deals + (place + at) % deals + 1 for at in range(deals))


class RandomSource(Protocol):
    """A source of random numbers; `random.Random(seed)` makes a movement reproducible."""

    def random(self) -> float:
        """Return a number from 0 up to, but not including, 1."""
