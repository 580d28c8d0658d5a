"""Players as the points of an affine space over GF(4): 16 in the plane, 64 in the space. Tables are lines.

A line has four points, two points lie on one line, and the lines of one direction part all points: a round for each
direction, and nobody meets anybody twice (16 players: 5 rounds, 64 players: 21). Seats: a linear form that is not
constant along the round's direction gives four different values on each of its lines. Two players at different tables
have the same seat where the form is 0 on their difference. If forms and directions are paired off, each difference
has the round of its direction, in which the two meet, and each form that is 0 on it, by which they are compared: in
the plane exactly one. So for 16 players in 5 rounds each pair meets exactly once and is compared exactly once.

Two lines of different directions in the plane meet, so no deal can be played in two rounds of that movement: all tables
play it in the same round, with four deals a round in turn, or at once from four carriers.

Not everybody can have all four seats in that movement. In any two rounds exactly four of the 16 have the same seat
(two forms with different kernels take each pair of values once): over the ten pairs of rounds 40 repetitions. A
player with seats 2-1-1-1 has one of them, with 2-2-1 two, with 3-1-1 three, with 3-2 four; so the players with a seat
three times make up for 16 x 2 = 32 by at least 8, at most 2 each, and there are at least four of them. `LABELS`,
which name the values of a form, have been chosen by trying all: exactly four, and twelve with 2-2-1. (With four deals
a round, let each be dealt by another seat: then everybody has each seat wind once a round.)
"""

from collections.abc import Sequence
from itertools import product
from typing import Final

from broker.rules.movement.booking import Sitting
from broker.rules.movement.field import field
from broker.rules.movement.layout import blocks
from broker.rules.movement.matching import matching
from broker.rules.movement.order import Order
from broker.rules.movement.starts import Seated

Q: Final = 4

Vector = tuple[int, ...]

GF4: Final = field(Q)

DIMENSIONS: Final = {16: 2, 64: 3}

LABELS: Final[dict[Vector, tuple[int, ...]]] = {(2, 1): (0, 2, 3, 1), (3, 1): (1, 2, 3, 0), (1, 0): (1, 3, 0, 2)}
"""Of a form's values 0 to 3 the seats, where these are not the values themselves."""


def affine(order: Order, sittings: Sequence[Sitting]) -> list[Seated] | None:
    """Seat 16 or 64 players so that no pair meets twice while there are directions left; None where it does not apply.

    Where a set's deals are for one pod of 4 or 16 tables, a pod is a plane or the whole space: in a block its players
    stay in it, and the next block cuts the space into other planes.
    """
    dimension = DIMENSIONS.get(order.players)
    pods = {order.tables: dimension, Q: 2}
    if dimension is None or order.tables * Q != order.players or pods.get(order.pod) is None:
        return None
    used: set[Vector] = set()
    found: list[Seated] = []
    for block in blocks(order):
        pod = _plane(dimension, used) if order.pods > 1 else (0,) * dimension
        along = sorted((v for v in points(dimension) if dot(pod, v) == 0), key=lambda v: v in used)
        for at, round_ in enumerate(block):
            direction = along[at % len(along)]
            used.add(direction)
            tables = _lines(dimension, pod, direction)
            of_round = (sitting for sitting in sittings if sitting.round == round_ + 1)
            found += zip(of_round, tables, strict=True)
    return found


def is_perfect(order: Order) -> bool:
    """Say whether this is the movement in which 16 players meet and are compared exactly once each."""
    return (order.players, order.tables, order.rounds, order.pods) == (Q**2, Q, Q + 1, 1)


def points(dimension: int) -> list[Vector]:
    """Give the directions of a space, each by its vector whose last coordinate but zeros is 1."""
    vectors = product(range(Q), repeat=dimension)
    return [v for v in vectors if any(v) and [x for x in v if x][-1] == 1]


def dot(one: Vector, other: Vector) -> int:
    """Multiply two vectors over GF(4)."""
    total = 0
    for a, b in zip(one, other, strict=True):
        total = GF4.plus[total][GF4.times[a][b]]
    return total


def forms(dimension: int) -> dict[Vector, Vector]:
    """Pair each direction off with a linear form that is not constant along it."""
    every = points(dimension)
    pairs = matching({v: [form for form in every if dot(form, v)] for v in every})
    return {direction: form for form, direction in pairs.items()}


def _plane(dimension: int, used: set[Vector]) -> Vector:
    """Give the form that is 0 on the plane with the most unused directions."""
    every = points(dimension)
    return max(every, key=lambda form: sum(dot(form, v) == 0 and v not in used for v in every))


def _lines(dimension: int, pod: Vector, direction: Vector) -> list[tuple[int, ...]]:
    """Give the lines of a direction, pod by pod, with their points (numbered from 0) in the order of the seats."""
    form = forms(dimension)[direction]
    labels = LABELS.get(form, tuple(range(Q)))
    lines: dict[tuple[int, Vector], list[int]] = {}
    for number, point in enumerate(product(range(Q), repeat=dimension)):
        on_it = [tuple(GF4.plus[x][GF4.times[t][d]] for x, d in zip(point, direction, strict=True)) for t in range(Q)]
        seats = lines.setdefault((dot(pod, point), min(on_it)), [0] * Q)
        seats[labels[dot(form, point)]] = number
    return [tuple(seats) for _, seats in sorted(lines.items())]
