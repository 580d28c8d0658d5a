"""Simulated annealing: steps that make it worse are taken too while it is hot (Kirkpatrick, Gelatt, Vecchi 1983)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from math import exp
from typing import Final

from broker.rules.movement.draft import Draft, Frame
from broker.rules.movement.steps import Chance, Rounds, propose

ASKED: Final = 100
"""Exchanges that are tried between two questions whether to go on."""

HEATS: Final = (5.0, 100.0, 16.0)
"""Where coolings begin, in turn: the first betters a start from algebra, the second leaves a start without merit."""

COLD: Final = 0.4

FIRST_LENGTH: Final = 20_000
GROWTH: Final = 1.5
LONGEST: Final = 400_000
"""Steps of a cooling; each next cooling is longer, so that little time gives a result and much time a good one."""

GoOn = Callable[[], bool]
"""Asked every `ASKED` exchanges; `False` ends the search with the best that was found."""


def search(frame: Frame, who: Sequence[int], chance: Chance, go_on: GoOn, enough: int = 0) -> list[int]:
    """Give the best seating found, by slots: the fewest broken rules, then the least cost. `who` is where to begin.

    It ends when `go_on` says so, or when no rule is broken and the cost is `enough`, a bound below which nothing can
    be.
    """
    rounds = [slots for slots in frame.free_rounds() if len(slots) > 1]
    best = _Best(Draft(frame, who))
    going = GoingOn(go_on, best, enough)
    for at in count():
        length = min(int(FIRST_LENGTH * GROWTH ** min(at, 20)), LONGEST)
        if not rounds or not _cool(Draft(frame, best.who), rounds, chance, (HEATS[at % len(HEATS)], length), going):
            break
    return best.who


class _Best:
    """The best seating so far."""

    def __init__(self, draft: Draft) -> None:
        self.who = list(draft.who)
        self.key = (draft.hard, draft.soft)

    def offer(self, draft: Draft) -> None:
        """Take this one if it is better."""
        if (draft.hard, draft.soft) < self.key:
            self.who = list(draft.who)
            self.key = (draft.hard, draft.soft)


@dataclass(frozen=True, slots=True)
class GoingOn:
    """When the search is over."""

    go_on: GoOn
    best: _Best
    enough: int

    def __call__(self) -> bool:
        """Ask."""
        return self.best.key > (0, self.enough) and self.go_on()


def _cool(draft: Draft, rounds: Rounds, chance: Chance, heat_and_length: tuple[float, int], going_on: GoingOn) -> bool:
    """Cool down once; say whether to go on."""
    heat, length = heat_and_length
    factor = (COLD / heat) ** (ASKED / length)
    for _ in range(0, length, ASKED):
        if not going_on():
            return False
        for _ in range(ASKED):
            _step(draft, rounds, chance, heat)
            going_on.best.offer(draft)
        heat *= factor
    return True


def _step(draft: Draft, rounds: Rounds, chance: Chance, heat: float) -> None:
    """Take a step, back again where it is worse and chance is against it."""
    before = draft.cost
    exchanges = propose(draft, rounds, chance)
    for pair in exchanges:
        draft.exchange(*pair)
    worse = draft.cost - before
    if worse > 0 and chance.random() >= exp(-worse / heat):
        for pair in reversed(exchanges):
            draft.exchange(*pair)
