"""Simulated annealing: exchanges of two players in a round, worse ones too while it is hot (Kirkpatrick et al. 1983)."""

from collections.abc import Callable, Sequence
from math import exp
from typing import Final, Protocol

from broker.rules.movement.draft import Draft, Frame

ASKED: Final = 100
"""Exchanges that are tried between two questions whether to go on."""

HOT: Final = 4.0
COLD: Final = 0.25

FIRST_LENGTH: Final = 20_000
LONGEST: Final = 400_000
"""Exchanges in a cooling; each next cooling is twice as long, so that little time gives a result and much time a good one."""

MATES: Final = 0.7
"""Of a team event's exchanges, how many are between members of a team: these keep its seats complete."""


class Chance(Protocol):
    """Where chance comes from; `random.Random(seed)` makes a movement that can be made again."""

    def random(self) -> float:
        """At least 0, below 1."""


GoOn = Callable[[], bool]
"""Asked every `ASKED` exchanges; `False` ends the search with the best that was found."""


def search(frame: Frame, who: Sequence[int], chance: Chance, go_on: GoOn, enough: int = 0) -> list[int]:
    """Give the best seating found, by slots: the fewest broken rules, then the least cost. `who` is where to begin.

    It ends when `go_on` says so, or when no rule is broken and the cost is `enough`, a bound below which nothing can be.
    """
    rounds = [slots for slots in frame.free_rounds() if len(slots) > 1]
    draft = Draft(frame, who)
    best = _Best(draft)
    length = FIRST_LENGTH
    while rounds and best.key > (0, enough):
        draft = Draft(frame, best.who)
        if not _cool(draft, rounds, chance, go_on, length, best, enough):
            break
        length = min(2 * length, LONGEST)
    return best.who


class _Best:
    """The best seating so far."""

    def __init__(self, draft: Draft) -> None:
        self.who = list(draft.who)
        self.key = (draft.hard, draft.soft)

    def offer(self, draft: Draft) -> None:
        if (draft.hard, draft.soft) < self.key:
            self.__init__(draft)  # type: ignore[misc]


def _cool(  # noqa: PLR0913
    draft: Draft,
    rounds: Sequence[Sequence[int]],
    chance: Chance,
    go_on: GoOn,
    length: int,
    best: _Best,
    enough: int,
) -> bool:
    """Cool down once; say whether to go on."""
    step = (COLD / HOT) ** (ASKED / length)
    heat = HOT
    for _ in range(0, length, ASKED):
        if not go_on():
            return False
        for _ in range(ASKED):
            one, other = pick(draft, rounds, chance)
            before = draft.cost
            draft.exchange(one, other)
            worse = draft.cost - before
            if worse > 0 and chance.random() >= exp(-worse / heat):
                draft.exchange(one, other)
            elif worse < 0:
                best.offer(draft)
        if best.key <= (0, enough):
            return False
        heat *= step
    return True


def pick(draft: Draft, rounds: Sequence[Sequence[int]], chance: Chance) -> tuple[int, int]:
    """Choose two slots of a round."""
    slots = rounds[int(chance.random() * len(rounds))]
    one = int(chance.random() * len(slots))
    team_of = draft.frame.team_of
    if team_of and chance.random() < MATES:
        team = team_of[draft.who[slots[one]]]
        mates = [slot for slot in slots if team_of[draft.who[slot]] == team and slot != slots[one]]
        if mates:
            return slots[one], mates[int(chance.random() * len(mates))]
    other = (one + 1 + int(chance.random() * (len(slots) - 1))) % len(slots)
    return slots[one], slots[other]
