"""Where a search begins: for sizes that algebra knows, meetings that nobody can better; for the others a fair mix.

A start gives a block of rounds: what is seated there bears on no other block's deals (layout.py), so that each block may
have its players in another order.
"""

from collections.abc import Iterator, Sequence

from broker.rules.movement.booking import Sitting
from broker.rules.movement.field import Field, field, is_known
from broker.rules.movement.layout import deals_of
from broker.rules.movement.order import Order

Seated = tuple[Sitting, tuple[int, ...]]

ROLES = 4


def transversal(order: Order, block: range, first_set: int, who: Sequence[int]) -> list[Seated] | None:
    """Seat a block so that no pair meets in it twice, where the tables are a prime power q and the rounds at most q.

    Player (i, x), role i of four and x in GF(q), sits in round r at table a_i r + x, the a_i being four elements. Players of
    one role never meet; (i, x) and (j, y) meet where (a_i - a_j) r = y - x, in one round of q. One carrier a deal: table t
    has set t + b r, so the player has set (a_i + b) r + x, each once if b differs from all -a_i: q >= 5. None where it does
    not apply.
    """
    q = order.tables
    if q < ROLES or not is_known(q) or len(block) > q or order.pods not in (1, q):
        return None
    numbers = field(q)
    # By 1, where that does, a carrier goes to the table before; where all pods are one no set travels.
    travels = [b for b in (1, *range(q)) if all(numbers.plus[a][b] for a in range(ROLES))] if order.pods > 1 else [0]
    return [
        seated
        for round_ in (block if travels else ())
        for seated in _transversal_round(order, numbers, block, round_, (first_set, travels[0]), who)
    ] or None


def _transversal_round(
    order: Order, numbers: Field, block: range, round_: int, sets: tuple[int, int], who: Sequence[int]
) -> Iterator[Seated]:
    q, at, (first_set, travel) = numbers.size, round_ - block.start, sets
    for table in range(q):
        seats = [0] * ROLES
        for role in range(ROLES):
            x = next(x for x in range(q) if numbers.plus[numbers.times[role][at]][x] == table)
            seats[(role + at) % ROLES] = who[role * q + x]
        number = numbers.plus[table][numbers.times[travel][at]] if order.pods > 1 else at
        place = 0 if order.pods > 1 else table
        yield Sitting(round_ + 1, table + 1, deals_of(first_set + number, place, order.deals_per_round)), tuple(seats)


def stay(order: Order, block: range, sittings: Sequence[Sitting], who: Sequence[int]) -> list[Seated]:
    """Seat a block so that no rule can be broken: players stay in their pod, and move about among its tables.

    A pod never has a set twice in a block, so neither has a player.
    """
    found: list[Seated] = []
    for sitting in sittings:
        first = (sitting.table - 1) // order.pod * order.pod
        size, place, at = min(order.pod, order.tables - first), sitting.table - 1 - first, sitting.round - 1 - block.start
        seats = [0] * ROLES
        for role in range(ROLES):
            x = (place - role * at) % size
            seats[(role + at) % ROLES] = who[ROLES * first + role * size + x]
        found.append((sitting, tuple(seats)))
    return found


def teams(sittings: Sequence[Sitting], tables: int) -> list[Seated]:
    """Seat a team event so that only pairs meet too often: member i of team y sits at table y - i, at seat i + the set.

    So each table has members 0 to 3 of four teams (of two or three, where there are no more), and each team has one at each
    seat of a set. Players are numbered team by team, four each.
    """
    found: list[Seated] = []
    for sitting in sittings:
        number = (min(sitting.deals) - 1) // len(sitting.deals)
        seats = [0] * ROLES
        for member in range(ROLES):
            team = (sitting.table - 1 + member) % tables
            seats[(member + number) % ROLES] = team * ROLES + member
        found.append((sitting, tuple(seats)))
    return found

