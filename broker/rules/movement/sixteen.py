"""The movement for 16 players, 4 tables, 4 deals, 4 rounds, with one carrier a deal.

In a round each table plays another deal, and the carriers go round: in round r table t plays deal
((t + r - 2) mod 4) + 1.

A player's four deals, by rounds, are a permutation. The 12 even permutations of four agree pairwise in at most
one place, so 12 players meet each other at most once; four odd ones that form a Latin square (a coset of the
Klein group) bring in the other four. Seats are an edge colouring of the players' plays: the graph is bipartite
and 4-regular, so four colours suffice (Koenig 1916) and everybody sits once at each wind.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

from broker.contract.words import SEATS, Seat
from broker.rules.movement.booking import Booking
from broker.rules.movement.matching import matching

SIZE: Final = 4

Permutation = tuple[int, ...]


def sixteen_players() -> tuple[Booking, ...]:
    """Give the 16 plays of the movement, by round and table."""
    sequences = _deal_sequences()
    seats = _seats(sequences)
    return tuple(
        Booking(round_ + 1, table + 1, deal + 1, seats[round_, deal])
        for round_ in range(SIZE)
        for table in range(SIZE)
        for deal in [(table + round_) % SIZE]
    )


def _deal_sequences() -> tuple[Permutation, ...]:
    """Give each player's deals in the order of the rounds: A4, then the odd coset of the Klein group."""
    even = [p for p in permutations(range(SIZE)) if _inversions(p) % 2 == 0]
    klein = [p for p in even if all(p[p[i]] == i for i in range(SIZE))]
    swap = (1, 0, 2, 3)
    odd = [tuple(p[swap[i]] for i in range(SIZE)) for p in klein]
    return tuple(even + odd)


def _inversions(p: Sequence[int]) -> int:
    return sum(p[i] > p[j] for i in range(len(p)) for j in range(i + 1, len(p)))


def _seats(sequences: Sequence[Permutation]) -> dict[tuple[int, int], dict[Seat, int]]:
    """Colour the edges player - (round, deal) with the four seats: take out one perfect matching a seat."""
    open_plays = {player: set(enumerate(deals)) for player, deals in enumerate(sequences)}
    plays: dict[tuple[int, int], dict[Seat, int]] = {play: {} for deals in open_plays.values() for play in deals}
    for seat in SEATS:
        for play, player in matching({player: sorted(left) for player, left in open_plays.items()}).items():
            plays[play][seat] = player + 1
            open_plays[player].discard(play)
    return plays
