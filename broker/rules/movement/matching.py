"""Everybody gets one of what they may have, no thing is given twice: a matching in a bipartite graph."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

A = TypeVar("A", bound=Hashable)
B = TypeVar("B", bound=Hashable)


def matching(wishes: Mapping[A, Sequence[B]]) -> dict[B, A]:
    """Match as many as can be (augmenting paths); earlier wishes come first where nobody else needs them.

    In a regular graph everybody is matched (Koenig 1916).
    """
    taken: dict[B, A] = {}

    def place(one: A, seen: set[B]) -> bool:
        for thing in wishes[one]:
            if thing in seen:
                continue
            seen.add(thing)
            if thing not in taken or place(taken[thing], seen):
                taken[thing] = one
                return True
        return False

    for one in wishes:
        place(one, set())
    return taken
