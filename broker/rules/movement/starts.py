"""Where a search begins: for sizes that algebra knows, meetings that nobody can better; for the others a fair mix.

A start gives a block of rounds: what is seated there bears on no other block's deals (layout.py), so that each block
may have its players in another order.
"""

from collections import Counter
from collections.abc import Iterator, MutableSequence, Sequence
from typing import Final

from broker.rules.movement.booking import Sitting
from broker.rules.movement.field import Field, field, is_known
from broker.rules.movement.layout import deals_of
from broker.rules.movement.order import Order
from broker.rules.movement.steps import Chance

Seated = tuple[Sitting, tuple[int, ...]]

ROLES: Final = 4


def transversal(order: Order, block: range, first_set: int, who: Sequence[int]) -> list[Seated] | None:
    """Seat a block so that no pair meets in it twice, where the tables are a prime power q and the rounds at most q.

    Player (i, x), role i of four and x in GF(q), sits in round r at table a_i r + x, the a_i being four elements.
    Players of one role never meet; (i, x) and (j, y) meet where (a_i - a_j) r = y - x, in one round of q. One carrier
    a deal: table t has set t + b r, so the player has set (a_i + b) r + x, each once if b differs from all -a_i: q >=
    5. None where it does not apply.
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


def stay(order: Order, block: range, sittings: Sequence[Sitting], who: Sequence[int], chance: Chance) -> list[Seated]:
    """Seat a block so that no rule can be broken.

    A pod's seats are as many roles, each taken by one player a pod. Where a set comes to every pod or the block has
    no more rounds than there are pods, role j's player at set s in round r is f(r) + g(s), counted round the pods,
    with f and g mixed for each role: a Latin square (Euler), so that nobody has a set twice. Otherwise players stay
    in their pod, which never has a set twice either.
    """
    pods = order.pods
    mixes = len(block) <= pods and order.tables == pods * order.pod
    roles = [(_mixed(pods, chance), _mixed(pods, chance)) for _ in range(ROLES * order.pod)] if mixes else []
    found: list[Seated] = []
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
            seats[(row + at) % ROLES] = who[ROLES * first + role]
        found.append((sitting, tuple(seats)))
    return found


def teams(order: Order, sittings: Sequence[Sitting], chance: Chance) -> list[Seated]:
    """Seat a team event so that only pairs may meet too often. Players are numbered team by team, four each.

    Member i of team y sits at seat i + the number of the set, so that each team has one at each seat of a set, and,
    in the simplest case, always at table y - i: each table has members 0 to 3 of four teams (of two or three, where
    there are no more). Where each round has all sets at once, or one, member i of team y takes set (or table) y + o(r
    + i) in round r for a permutation o: members of a team are apart, and nobody has a set twice. The differences o(r
    + i) - o(r + j) say who meets whom, so that an o is chosen among many in which few of them come twice.
    """
    count = order.tables
    moves = (order.pods == 1 or (order.pod == 1 and order.rounds % count == 0)) and count >= ROLES
    offset = _spread(count, chance) if moves else [0] * count
    found: list[Seated] = []
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


def _spread(size: int, chance: Chance) -> list[int]:
    """Give a permutation whose differences at distances 1 to 3 repeat little: the best of many."""
    tried = (_mixed(size, chance) for _ in range(TRIES))
    return min(tried, key=lambda o: sum(_repeats(o, apart) for apart in range(1, ROLES)))


def _repeats(order: Sequence[int], apart: int) -> int:
    size = len(order)
    often = Counter((order[(at + apart) % size] - order[at]) % size for at in range(size))
    return sum(count**2 for count in often.values())


def _mixed(size: int, chance: Chance) -> list[int]:
    numbers = list(range(size))
    shuffle(numbers, chance)
    return numbers


def shuffle(numbers: MutableSequence[int], chance: Chance) -> None:
    """Mix in place (Fisher, Yates)."""
    for at in range(len(numbers) - 1, 0, -1):
        other = int(chance.random() * (at + 1))
        numbers[at], numbers[other] = numbers[other], numbers[at]
