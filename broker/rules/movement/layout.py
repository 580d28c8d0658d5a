"""Which table plays which deals in which round, before any player is seated.

Deals come in *sets* of `deals_per_round`. Tables come in *pods*: so many tables as can share a set in a round, each
deal at no more tables at once than it has carriers: at moment j the pod's table i plays deal (i + j) of the set.

Where there are several pods, a set travels. Rounds are cut into *blocks* of at least as many rounds as there are pods,
so that within a block of b rounds each pod plays each of the block's b sets once: in the block's round r pod q has set
(q + r) mod b. Short blocks are better than long ones: deals are done with early, their results are out early, and a
player's rounds bind each other only within a block. With fewer rounds than pods there is one block of as many sets as
pods. Each table meets a deal at most once by construction, and each deal comes to all tables unless there are too few
rounds.
"""

from collections.abc import Iterator
from itertools import pairwise

from broker.rules.movement.booking import Sitting
from broker.rules.movement.order import Order


def blocks(order: Order) -> list[range]:
    """Cut the rounds (from 0) into blocks, as short and as equal as can be."""
    count = max(1, order.rounds // order.pods)
    cuts = [at * order.rounds // count for at in range(count + 1)]
    return [range(start, end) for start, end in pairwise(cuts)]


def layout(order: Order) -> tuple[Sitting, ...]:
    """Give all sittings, by round and table."""
    return tuple(_sittings(order))


def _sittings(order: Order) -> Iterator[Sitting]:
    first_set = 0
    for block in blocks(order):
        sets = max(order.pods, len(block))
        for round_ in block:
            for table in range(order.tables):
                pod, place = divmod(table, order.pod)
                number = first_set + (pod + round_ - block.start) % sets
                yield Sitting(round_ + 1, table + 1, deals_of(number, place, order.deals_per_round))
        first_set += sets


def deals_of(number: int, place: int, deals: int) -> tuple[int, ...]:
    """Give a set's deals (set `number` from 0) in the order in which the pod's table `place` (from 0) plays them."""
    return tuple(number * deals + (place + at) % deals + 1 for at in range(deals))
