"""Movements from algebra, used as the start of a search: optimal meetings for some sizes, a fair mix for the others.

A start is built block by block. The seating of one block does not affect another block's deals (plays.py), so each
block may have its players in a different order.

**Affine spaces.** 16 or 64 players are the points of an affine space over GF(4): 16 in the plane, 64 in the space.
Tables are lines. A line has four points, two points lie on exactly one line, and the lines of one direction partition
the points. So each direction gives a round, and nobody meets anybody twice (16 players: 5 rounds, 64 players: 21).
Seats come from a linear form that is not constant along the round's direction: it takes four different values on each
line. Two players at different tables have the same seat if the form is 0 on their difference. If forms and directions
are paired off, each difference has one round in which the two players meet, namely that of its direction, and they are
compared in the round of each form that is 0 on it; in the plane that is exactly one. So with 16 players in 5 rounds
each pair meets exactly once and is compared exactly once.

Two lines of different directions in the plane intersect, so no deal can be played in two rounds of that movement. All
tables play it in the same round: in turn, with four deals a round, or at once, from four carriers.

In that movement not everybody can have all four seats. In any two rounds exactly four of the 16 players have the same
seat (two forms with different kernels take each pair of values once), which gives 40 repetitions over the ten pairs of
rounds. A player whose seats occur 2-1-1-1 times has one repetition, 2-2-1 two, 3-1-1 three, and 3-2 four. Two for each
of 16 players are 32, so players with a seat three times must account for at least the other 8, at most 2 each: there
are at least four of them. `LABELS`, which assign seats to the values of a form, were found by trying all: exactly four
players have a seat three times, and twelve have 2-2-1. (With four deals a round, each can have a different dealer; then
everybody has each seat wind once a round.)

**Sixteen players, 4 tables, 4 deals, 4 rounds,** with one carrier a deal. In a round each table plays a different deal,
and the carriers go round: in round r table t plays deal ((t + r - 2) mod 4) + 1. A player's four deals, by rounds,
are a permutation. The 12 even permutations of four agree pairwise in at most one place, so 12 players meet each other
at most once; four odd ones that form a Latin square (a coset of the Klein group) are the other four players. Seats are
an edge colouring of the players' plays: the graph is bipartite and 4-regular, so four colours suffice (Koenig 1916)
and everybody sits once at each wind.

**Finite fields** have q elements, written 0..q-1, for q a prime or one of 4, 8, 9, 16, 25, 27, 32, 49, 64. An element
of GF(p^n) is a polynomial over GF(p), its coefficients the digits of the number in base p.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from math import isqrt
from typing import Final, TypeVar

from broker.event.movement.plays import MovementOrder, NumberedPlay, RandomSource, TableRound, deal_order, round_blocks
from broker.protocol import SEATS, Seat

A = TypeVar("A", bound=Hashable)
B = TypeVar("B", bound=Hashable)


def matching(choices: Mapping[A, Sequence[B]]) -> dict[B, A]:
    """Return a maximum matching (augmenting paths) as item to owner, preferring earlier choices where they are free.

    In a regular graph everybody is matched (Koenig 1916).
    """
    taken: dict[B, A] = {}

    def place(owner: A, seen: set[B]) -> bool:
        for item in choices[owner]:
            if item in seen:
                continue
            seen.add(item)
            if item not in taken or place(taken[item], seen):
                taken[item] = owner
                return True
        return False

    for owner in choices:
        place(owner, set())
    return taken


MODULI: Final = {
    4: (2, (1, 1, 1)),
    8: (2, (1, 1, 0, 1)),
    9: (3, (2, 1, 1)),
    16: (2, (1, 1, 0, 0, 1)),
    25: (5, (2, 1, 1)),
    27: (3, (1, 2, 0, 1)),
    32: (2, (1, 0, 1, 0, 0, 1)),
    49: (7, (3, 1, 1)),
    64: (2, (1, 1, 0, 0, 0, 0, 1)),
}
"""For each q = p^n: p, and an irreducible polynomial of degree n, lowest coefficient first (Lidl, Niederreiter)."""

FieldTable = tuple[tuple[int, ...], ...]
"""The result of an operation, indexed by both elements."""


@dataclass(frozen=True, slots=True)
class FiniteField:
    """The addition and multiplication tables of a finite field."""

    size: int
    plus: FieldTable
    times: FieldTable


def has_field(size: int) -> bool:
    """Return whether `finite_field` supports a size: a prime, or one of `MODULI`."""
    return size in MODULI or (size > 1 and all(size % divisor for divisor in range(2, isqrt(size) + 1)))


@cache
def finite_field(size: int) -> FiniteField:
    """Return the field of a size for which `has_field` is true."""
    prime, modulus = MODULI.get(size, (size, (0, 1)))
    degree = len(modulus) - 1
    elements = [_digits(number, prime, degree) for number in range(size)]
    plus = tuple(
        tuple(_number([(a + b) % prime for a, b in zip(x, y, strict=True)], prime) for y in elements) for x in elements
    )
    times = tuple(tuple(_number(_product(x, y, prime, modulus), prime) for y in elements) for x in elements)
    return FiniteField(size, plus, times)


def _digits(number: int, prime: int, degree: int) -> list[int]:
    return [number // prime**at % prime for at in range(degree)]


def _number(digits: list[int], prime: int) -> int:
    return sum(digit * prime**at for at, digit in enumerate(digits))


def _product(x: list[int], y: list[int], prime: int, modulus: tuple[int, ...]) -> list[int]:
    degree = len(modulus) - 1
    product = [0] * (2 * degree - 1)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            product[i + j] = (product[i + j] + a * b) % prime
    for high in range(len(product) - 1, degree - 1, -1):  # the modulus is monic: subtract its multiples from the top
        lead = product[high]
        for at, coefficient in enumerate(modulus):
            product[high - degree + at] = (product[high - degree + at] - lead * coefficient) % prime
    return product[:degree]


SeatedRound = tuple[TableRound, tuple[int, ...]]

ROLES: Final = 4


def transversal(order: MovementOrder, block: range, first_set: int, players: Sequence[int]) -> list[SeatedRound] | None:
    """Seat a block so that no pair meets twice in it; None if the construction does not apply.

    It applies if the number of tables is a prime power q and there are at most q rounds. Player (i, x), with role i of
    four and x in GF(q), sits in round r at table a_i r + x, where the a_i are four different elements. Players of one
    role never meet; (i, x) and (j, y) meet where (a_i - a_j) r = y - x, which is one round of q. With one carrier a
    deal, table t has set t + b r, so the player has set (a_i + b) r + x: each once if b differs from all -a_i (q >= 5).
    """
    q = order.tables
    if q < ROLES or not has_field(q) or len(block) > q or order.pods not in (1, q):
        return None
    numbers = finite_field(q)
    # Prefer b = 1: each carrier moves on to the previous table. With one pod, sets do not travel.
    travels = [b for b in (1, *range(q)) if all(numbers.plus[a][b] for a in range(ROLES))] if order.pods > 1 else [0]
    return [
        seated
        for round_ in (block if travels else ())
        for seated in _transversal_round(order, numbers, block, round_, (first_set, travels[0]), players)
    ] or None


def _transversal_round(
    order: MovementOrder, numbers: FiniteField, block: range, round_: int, sets: tuple[int, int], players: Sequence[int]
) -> Iterator[SeatedRound]:
    q, at, (first_set, travel) = numbers.size, round_ - block.start, sets
    for table in range(q):
        seats = [0] * ROLES
        for role in range(ROLES):
            x = next(x for x in range(q) if numbers.plus[numbers.times[role][at]][x] == table)
            seats[(role + at) % ROLES] = players[role * q + x]
        number = numbers.plus[table][numbers.times[travel][at]] if order.pods > 1 else at
        place = 0 if order.pods > 1 else table
        yield (
            TableRound(round_ + 1, table + 1, deal_order(first_set + number, place, order.deals_per_round)),
            tuple(seats),
        )


def mix_players(
    order: MovementOrder, block: range, sittings: Sequence[TableRound], players: Sequence[int], chance: RandomSource
) -> list[SeatedRound]:
    """Seat a block randomly so that no rule can be broken.

    Each seat of a pod is a role, filled by one player of each pod. If the block has no more rounds than there are pods,
    and the pods are equally large, role j at set s in round r is filled by the player of pod f(r) + g(s), modulo the
    pods, with f and g shuffled for each role. That is a Latin square (Euler), so nobody has a set twice. Otherwise
    players stay in their pod, which never has a set twice either.
    """
    pods = order.pods
    mixes = len(block) <= pods and order.tables == pods * order.pod
    roles = [(_mixed(pods, chance), _mixed(pods, chance)) for _ in range(ROLES * order.pod)] if mixes else []
    found: list[SeatedRound] = []
    for sitting in sittings:
        pod, place = divmod(sitting.table - 1, order.pod)
        at, size = sitting.round - 1 - block.start, min(order.pod, order.tables - pod * order.pod)
        seats = [0] * ROLES
        for row in range(ROLES):
            role = row * size + (place - row * at) % size
            if mixes:
                by_round, by_set = roles[role]
                first = (by_round[at] + by_set[(pod + at) % pods]) % pods * order.pod
            else:
                first = pod * order.pod
            seats[(row + at) % ROLES] = players[ROLES * first + role]
        found.append((sitting, tuple(seats)))
    return found


def seat_teams(order: MovementOrder, sittings: Sequence[TableRound], chance: RandomSource) -> list[SeatedRound]:
    """Seat a team event so that no rule is broken, though pairs may meet too often.

    Players are numbered team by team, four each. Member i of team y sits at seat i + the number of the set, so that
    each team has one member at each seat of a set. In the simplest case that member is always at table y - i, so each
    table has members 0 to 3 of four teams (or of two or three, if there are no more). If each round has all sets, or
    only one, member i of team y takes set (or table) y + o(r + i) in round r for a permutation o: members of a team are
    apart, and nobody has a set twice. The differences o(r + i) - o(r + j) determine who meets whom, so the o with the
    fewest repeated differences is chosen from many.
    """
    count = order.tables
    moves = (order.pods == 1 or (order.pod == 1 and order.rounds % count == 0)) and count >= ROLES
    offset = _spread(count, chance) if moves else [0] * count
    found: list[SeatedRound] = []
    for sitting in sittings:
        number, at = (min(sitting.deals) - 1) // len(sitting.deals), sitting.round - 1
        place = sitting.table - 1 + (at if moves and order.pod == 1 else 0)
        seats = [0] * ROLES
        for member in range(ROLES):
            team = (place - offset[(at + member) % count] if moves else place + member) % count
            seats[(member + number) % ROLES] = team * ROLES + member
        found.append((sitting, tuple(seats)))
    return found


TRIES: Final = 400


def _spread(size: int, chance: RandomSource) -> list[int]:
    """Return the best of many permutations: the one whose differences at distances 1 to 3 repeat least."""
    tried = (_mixed(size, chance) for _ in range(TRIES))
    return min(tried, key=lambda o: sum(_repeats(o, apart) for apart in range(1, ROLES)))


def _repeats(order: Sequence[int], apart: int) -> int:
    size = len(order)
    often = Counter((order[(at + apart) % size] - order[at]) % size for at in range(size))
    return sum(count**2 for count in often.values())


def _mixed(size: int, chance: RandomSource) -> list[int]:
    numbers = list(range(size))
    shuffle(numbers, chance)
    return numbers


def shuffle(numbers: MutableSequence[int], chance: RandomSource) -> None:
    """Shuffle in place (Fisher, Yates)."""
    for at in range(len(numbers) - 1, 0, -1):
        other = int(chance.random() * (at + 1))
        numbers[at], numbers[other] = numbers[other], numbers[at]


ORDER_OF_FIELD: Final = 4

Vector = tuple[int, ...]

GF4: Final = finite_field(ORDER_OF_FIELD)

DIMENSIONS: Final = {16: 2, 64: 3}

LABELS: Final[dict[Vector, tuple[int, ...]]] = {(2, 1): (0, 2, 3, 1), (3, 1): (1, 2, 3, 0), (1, 0): (1, 3, 0, 2)}
"""The seat for each value 0 to 3 of a form, if it is not the value itself."""


def affine(order: MovementOrder, sittings: Sequence[TableRound]) -> list[SeatedRound] | None:
    """Seat 16 or 64 players so that no pair meets twice while unused directions are left; None if it does not apply.

    With pods of 4 or 16 tables, a pod is a plane or the whole space. Its players stay in it during a block, and the
    next block divides the space into other planes.
    """
    dimension = DIMENSIONS.get(order.players)
    pods = {order.tables: dimension, ORDER_OF_FIELD: 2}
    if dimension is None or order.tables * ORDER_OF_FIELD != order.players or pods.get(order.pod) is None:
        return None
    used: set[Vector] = set()
    found: list[SeatedRound] = []
    for block in round_blocks(order):
        pod = _plane(dimension, used) if order.pods > 1 else (0,) * dimension
        along = sorted((v for v in affine_directions(dimension) if dot(pod, v) == 0), key=lambda v: v in used)
        for at, round_ in enumerate(block):
            direction = along[at % len(along)]
            used.add(direction)
            tables = _lines(dimension, pod, direction)
            of_round = (sitting for sitting in sittings if sitting.round == round_ + 1)
            found += zip(of_round, tables, strict=True)
    return found


def is_perfect(order: MovementOrder) -> bool:
    """Return whether this is the movement in which 16 players meet and are compared exactly once each."""
    return (order.players, order.tables, order.rounds, order.pods) == (
        ORDER_OF_FIELD**2,
        ORDER_OF_FIELD,
        ORDER_OF_FIELD + 1,
        1,
    )


def affine_directions(dimension: int) -> list[Vector]:
    """Return the directions of a space, each as the vector whose last non-zero coordinate is 1."""
    vectors = product(range(ORDER_OF_FIELD), repeat=dimension)
    return [v for v in vectors if any(v) and [x for x in v if x][-1] == 1]


def dot(one: Vector, other: Vector) -> int:
    """Return the dot product of two vectors over GF(4)."""
    total = 0
    for a, b in zip(one, other, strict=True):
        total = GF4.plus[total][GF4.times[a][b]]
    return total


def forms(dimension: int) -> dict[Vector, Vector]:
    """Return, for each direction, a different linear form that is not constant along it."""
    every = affine_directions(dimension)
    pairs = matching({v: [form for form in every if dot(form, v)] for v in every})
    return {direction: form for form, direction in pairs.items()}


def _plane(dimension: int, used: set[Vector]) -> Vector:
    """Return the form that is 0 on the plane with the most unused directions."""
    every = affine_directions(dimension)
    return max(every, key=lambda form: sum(dot(form, v) == 0 and v not in used for v in every))


def _lines(dimension: int, pod: Vector, direction: Vector) -> list[tuple[int, ...]]:
    """Return the lines of a direction, pod by pod, each as its points (numbered from 0) in order of seats."""
    form = forms(dimension)[direction]
    labels = LABELS.get(form, tuple(range(ORDER_OF_FIELD)))
    lines: dict[tuple[int, Vector], list[int]] = {}
    for number, point in enumerate(product(range(ORDER_OF_FIELD), repeat=dimension)):
        on_it = [
            tuple(GF4.plus[x][GF4.times[t][d]] for x, d in zip(point, direction, strict=True))
            for t in range(ORDER_OF_FIELD)
        ]
        seats = lines.setdefault((dot(pod, point), min(on_it)), [0] * ORDER_OF_FIELD)
        seats[labels[dot(form, point)]] = number
    return [tuple(seats) for _, seats in sorted(lines.items())]


SIZE: Final = 4

Permutation = tuple[int, ...]


def sixteen_players() -> tuple[NumberedPlay, ...]:
    """Return the 16 plays of the movement for sixteen players, by round and table."""
    sequences = _deal_sequences()
    seats = _seats(sequences)
    return tuple(
        NumberedPlay(round_ + 1, table + 1, deal + 1, seats[round_, deal])
        for round_ in range(SIZE)
        for table in range(SIZE)
        for deal in [(table + round_) % SIZE]
    )


def _deal_sequences() -> tuple[Permutation, ...]:
    """Return each player's deals in the order of the rounds: A4, then the odd coset of the Klein group."""
    even = [p for p in permutations(range(SIZE)) if _inversions(p) % 2 == 0]
    klein = [p for p in even if all(p[p[i]] == i for i in range(SIZE))]
    swap = (1, 0, 2, 3)
    odd = [tuple(p[swap[i]] for i in range(SIZE)) for p in klein]
    return tuple(even + odd)


def _inversions(p: Sequence[int]) -> int:
    return sum(p[i] > p[j] for i in range(len(p)) for j in range(i + 1, len(p)))


def _seats(sequences: Sequence[Permutation]) -> dict[tuple[int, int], dict[Seat, int]]:
    """Return the players of each (round, deal) by seat: one perfect matching is removed for each seat."""
    open_plays = {player: set(enumerate(deals)) for player, deals in enumerate(sequences)}
    plays: dict[tuple[int, int], dict[Seat, int]] = {play: {} for deals in open_plays.values() for play in deals}
    for seat in SEATS:
        for play, player in matching({player: sorted(left) for player, left in open_plays.items()}).items():
            plays[play][seat] = player + 1
            open_plays[player].discard(play)
    return plays
