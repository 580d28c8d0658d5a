"""The steps of the search, each a list of exchanges of two slots.

Three kinds. Two players of a table change seats; two players of a round change places; and a *turn*: some players
play in the one round what they were to play in the other, and the other way round. An exchange of two tables makes
players play a set twice wherever each player is to play every set, so that the search could not leave its start by
exchanges alone. For a turn, see each player as an arrow from their set in the one round to their set in the other;
the players along a closed walk are turned round. Each set keeps four players in each round, and each player keeps
their sets.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from broker.rules.movement.check import SEATED
from broker.rules.movement.draft import Draft

AT_TABLE: Final = 0.4
TURN: Final = 0.1
MATES: Final = 0.7
"""Of a team event's exchanges, how many are between members of a team: these keep its seats complete."""

Exchange = tuple[int, int]
Rounds = Sequence[Sequence[int]]
"""The free slots of each round, seats before byes."""


class Chance(Protocol):
    """Where chance comes from; `random.Random(seed)` makes a movement that can be made again."""

    def random(self) -> float:
        """At least 0, below 1."""


def propose(draft: Draft, rounds: Rounds, chance: Chance) -> list[Exchange]:
    """Give a step by chance; no exchange at all where a turn found no closed walk."""
    luck = chance.random()
    slots = rounds[int(chance.random() * len(rounds))]
    if luck < TURN and len(rounds) > 1:
        return _turn(draft, slots, rounds[int(chance.random() * len(rounds))], chance)
    one = slots[int(chance.random() * len(slots))]
    mates = _mates(draft, one, slots)
    if mates and chance.random() < MATES:
        return [(one, mates[int(chance.random() * len(mates))])]
    if luck < TURN + AT_TABLE and one < draft.seats_end:
        return [(one, one ^ (1 + int(chance.random() * (SEATED - 1))))]  # 4g + s: another s
    other = slots[int(chance.random() * len(slots))]
    return [(one, other)] if one != other else []


def _mates(draft: Draft, one: int, slots: Sequence[int]) -> list[int]:
    team_of, who = draft.frame.team_of, draft.who
    if not team_of:
        return []
    team = team_of[who[one]]
    return [slot for slot in slots if team_of[who[slot]] == team and slot != one]


def _turn(draft: Draft, first: Sequence[int], second: Sequence[int], chance: Chance) -> list[Exchange]:
    """Turn the players of a closed walk between two rounds."""
    if first is second:
        return []
    there = {draft.who[slot]: slot for slot in second}
    at_set = {draft.sets[slot // SEATED]: slot - slot % SEATED for slot in first if slot < draft.seats_end}
    walk: list[tuple[int, int]] = []
    visited: dict[tuple[int, ...], int] = {}
    slot = first[int(chance.random() * len(first))]
    while slot < draft.seats_end and draft.sets[slot // SEATED] not in visited:
        visited[draft.sets[slot // SEATED]] = len(walk)
        arrival = there.get(draft.who[slot], draft.seats_end)
        walk.append((slot, arrival))
        table = at_set.get(draft.sets[arrival // SEATED]) if arrival < draft.seats_end else None
        if table is None:
            return []
        seat = arrival % SEATED if draft.frame.team_of else int(chance.random() * SEATED)
        slot = table + seat
    if slot >= draft.seats_end:
        return []
    loop = walk[visited[draft.sets[slot // SEATED]] :]
    return _rotated([start for start, _ in loop]) + _rotated([end for _, end in reversed(loop)])


def _rotated(slots: Sequence[int]) -> list[Exchange]:
    """Move each player one slot on, the last one to the first."""
    return [(slots[0], slot) for slot in slots[1:]]
