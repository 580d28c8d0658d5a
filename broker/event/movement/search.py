"""Simulated annealing: a hot search also takes steps that make the seating worse (Kirkpatrick, Gelatt, Vecchi 1983).

A `Seating` records who sits where and what that costs, updated as two players change places. This is the hot loop of
the search (tens of thousands of exchanges a second in plain Python), hence flat lists of counts instead of objects. The
(k+1)th comparison of a pair costs k, and the (k+1)th meeting or use of a seat k squared (a third meeting is far worse
than a second), so the total is least when repetitions are spread evenly.

A step is a list of exchanges of two slots. There are three kinds of steps: two players at a table swap seats; two
players in a round swap places; and a *turn*, in which some players swap what they play in two rounds. Turns are needed
because, if each player plays every set, any swap between two tables makes players repeat a set, so the search could not
leave its start by swaps alone. For a turn, think of each player as an arrow from their set in one round to their set in
the other, and reverse the players along a closed walk. Each set keeps four players in each round, and each player keeps
their sets.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import exp
from typing import Final

from broker.event.movement.plays import SEATED, RandomSource, TableRound, most_together

HARD_COST: Final = 220
"""Cost of a broken rule: more than any exchange could save elsewhere."""

MEETING_COST: Final = 32
COMPARISON_COST: Final = 4
SEAT_COST: Final = 1
BYE_COST: Final = 200
"""Cost of a player sitting out again before all have: more than an exchange in the same round could save."""
BYES_IN_A_ROW_COST: Final = 100
"""Cost of a player sitting out in two consecutive rounds: less than that of sitting out again before others have."""
MOVE_COST: Final = 12
"""Cost of a player sitting elsewhere than in the plan that is repaired."""

REPEAT_POWER: Final = 2
"""The power to which repetitions of meetings and seats are raised."""

NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class SearchFrame:
    """The constants of a search.

    `byes` is how many players sit out in each round; the sittings numbered in `settled` keep their players; `home` is
    the player in each slot of the plan that is repaired; `team_of` is the team number of each player.
    """

    sittings: tuple[TableRound, ...]
    players: int
    byes: Mapping[int, int]
    settled: frozenset[int] = frozenset()
    home: tuple[int, ...] = ()
    team_of: tuple[int, ...] = ()

    def free_rounds(self) -> list[list[int]]:
        """Return the slots of each round between which players may be exchanged. Seat s of sitting g is slot 4g + s."""
        rounds: dict[int, list[int]] = {}
        for at, sitting in enumerate(self.sittings):
            if at not in self.settled:
                rounds.setdefault(sitting.round, []).extend(range(at * SEATED, (at + 1) * SEATED))
        for round_, slots in self.bye_slots().items():
            if round_ in rounds:
                rounds[round_].extend(slots)
        return list(rounds.values())

    def bye_slots(self) -> dict[int, range]:
        """Return the slots, by round, for players who sit out. They come after the slots of all seats."""
        start, found = len(self.sittings) * SEATED, {}
        for round_, sitting_out in sorted(self.byes.items()):
            found[round_] = range(start, start + sitting_out)
            start += sitting_out
        return found

    def bye_turns(self, occupants: Sequence[int]) -> dict[int, int]:
        """Return the turn of each slot for sitting out. All sit out alike if nobody has two slots of one turn.

        In rounds that are over, the turn is how often the player had sat out before. From then on, every player who has
        not had a turn gets it before the next turn begins.
        """
        had, turns = [0] * self.players, dict[int, int]()
        open_sittings = [at for at in range(len(self.sittings)) if at not in self.settled]
        open_rounds = {self.sittings[at].round for at in open_sittings}
        free: list[int] = []
        for round_, slots in self.bye_slots().items():
            if round_ in open_rounds:
                free.extend(slots)
                continue
            for slot in slots:
                turns[slot] = had[occupants[slot]]
                had[occupants[slot]] += 1
        seats = (seat for at in open_sittings for seat in range(at * SEATED, (at + 1) * SEATED))
        here = {occupants[slot] for slot in (*seats, *free)}
        turn, left = 0, sum(not had[player] for player in here)
        for slot in free:
            while not left:
                turn, left = turn + 1, sum(had[player] <= turn + 1 for player in here)
            turns[slot], left = turn, left - 1
        return turns


def least_cost(things: int, holes: int, power: int) -> int:
    """Return the least cost of `things` spread evenly over `holes`, where the (k+1)th in a hole costs k^power."""
    each, left = divmod(things, holes)
    return int(holes * sum(k**power for k in range(each)) + left * each**power)


class Seating:
    """A complete seating of a frame. `hard` counts broken rules; `soft` is the weighted cost of everything else."""

    def __init__(self, frame: SearchFrame, occupants: Iterable[int]) -> None:
        """Seat player `occupants[slot]` (from 0) in each slot."""
        self.frame = frame
        self.hard = self.soft = 0
        self.sets = _sets(frame.sittings)
        self.seats_end = len(frame.sittings) * SEATED
        self._compared = _compared_slots(self.sets)
        self._mates = [_tablemates(slot) for slot in range(self.seats_end)]
        players, set_count = frame.players, 1 + max((number for numbers in self.sets for number in numbers), default=0)
        self._set_count = set_count
        self.meetings = [0] * players * players
        self.comparisons = [0] * players * players
        self.seats = [0] * players * SEATED
        placed = list(occupants)
        self._turns = frame.bye_turns(placed)
        self._turns_each = 1 + max(self._turns.values(), default=0)
        self._bye_factor = 1 + 2 * (self.seats_end * (SEATED - 1) // (players * max(1, players - 1)))
        """Factor for the cost of byes: among few players, who meet often, other exchanges save more."""
        self.byes = [0] * players * self._turns_each
        """How often each player sits out in each turn."""
        self._bye_rounds = self._number_bye_rounds()
        self._rounds = 2 + len({sitting.round for sitting in frame.sittings})
        self._out = [0] * players * self._rounds
        """Whether each player sits out in each round, with an extra round before the first and after the last."""
        self._played = [0] * players * set_count
        teams = 1 + max(frame.team_of, default=0)
        self._team_seats = [0] * teams * set_count * SEATED
        self._crowds = [0] * teams * len(frame.sittings)
        self._most = most_together(teams)
        self.occupants = [NOBODY] * len(placed)
        for slot, player in enumerate(placed):
            self._enter(slot, player)

    def _number_bye_rounds(self) -> dict[int, int]:
        """Return the round of each slot for sitting out, with rounds renumbered from 1 without gaps."""
        rounds = sorted({sitting.round for sitting in self.frame.sittings})
        numbers = {round_: number for number, round_ in enumerate(rounds, 1)}
        return {slot: numbers[round_] for round_, slots in self.frame.bye_slots().items() for slot in slots}

    @property
    def cost(self) -> int:
        """Broken rules and soft cost as one number, for the search."""
        return HARD_COST * self.hard + self.soft

    def exchange(self, one: int, other: int) -> None:
        """Exchange the players of two slots. Doing it twice restores the seating."""
        apart = one // SEATED != other // SEATED or one >= self.seats_end
        first, second = self._leave(one, meet=apart), self._leave(other, meet=apart)
        self._enter(one, second, meet=apart)
        self._enter(other, first, meet=apart)

    def _enter(self, slot: int, player: int, *, meet: bool = True) -> None:
        if slot < self.seats_end:
            if meet:
                self.soft += MEETING_COST * self._add_pairs(player, self._mates[slot], self.meetings, REPEAT_POWER)
            self.soft += COMPARISON_COST * self._add_pairs(player, self._compared[slot], self.comparisons, 1)
        self.occupants[slot] = player
        self._count_player(slot, player, 1)

    def _leave(self, slot: int, *, meet: bool = True) -> int:
        player = self.occupants[slot]
        self._count_player(slot, player, -1)
        self.occupants[slot] = NOBODY
        if slot < self.seats_end:
            if meet:
                self.soft -= MEETING_COST * self._remove_pairs(player, self._mates[slot], self.meetings, REPEAT_POWER)
            self.soft -= COMPARISON_COST * self._remove_pairs(player, self._compared[slot], self.comparisons, 1)
        return player

    def _add_pairs(self, player: int, slots: Sequence[int], counts: list[int], power: int) -> int:
        """Count a player with those in the slots; return the added cost: from k times to k + 1 it is k^power."""
        occupants, players, cost = self.occupants, self.frame.players, 0
        for slot in slots:
            other = occupants[slot]
            if other >= 0:
                pair = player * players + other if player < other else other * players + player
                cost += counts[pair] ** power
                counts[pair] += 1
        return cost

    def _remove_pairs(self, player: int, slots: Sequence[int], counts: list[int], power: int) -> int:
        """Undo `_add_pairs`; return the cost saved."""
        occupants, players, saved = self.occupants, self.frame.players, 0
        for slot in slots:
            other = occupants[slot]
            if other >= 0:
                pair = player * players + other if player < other else other * players + player
                counts[pair] -= 1
                saved += counts[pair] ** power
        return saved

    def _count_player(self, slot: int, player: int, by: int) -> None:
        """Add `by` to the counts of a slot's player alone: moves, byes, seats and deals, and the team's seats."""
        down = -(by < 0)
        if self.frame.home and self.frame.home[slot] != player:
            self.soft += MOVE_COST * by
        if slot >= self.seats_end:
            at = player * self._turns_each + self._turns[slot]
            self.soft += self._bye_factor * BYE_COST * by * (self.byes[at] + down)
            self.byes[at] += by
            at = player * self._rounds + self._bye_rounds[slot]
            self.soft += self._bye_factor * BYES_IN_A_ROW_COST * by * (self._out[at - 1] + self._out[at + 1])
            self._out[at] += by
            return
        sitting, seat = divmod(slot, SEATED)
        at = player * SEATED + seat
        self.soft += SEAT_COST * by * (self.seats[at] + down) ** REPEAT_POWER
        self.seats[at] += by
        for number in self.sets[sitting]:
            at = player * self._set_count + number
            self.hard += by * (self._played[at] + down)
            self._played[at] += by
        if self.frame.team_of:
            self._count_team(sitting, seat, self.frame.team_of[player], by)

    def _count_team(self, sitting: int, seat: int, team: int, by: int) -> None:
        for number in self.sets[sitting]:
            at = (team * self._set_count + number) * SEATED + seat
            self.hard += by * (self._team_seats[at] - (by < 0))
            self._team_seats[at] += by
        at = team * len(self.frame.sittings) + sitting
        if self._crowds[at] - (by < 0) >= self._most:
            self.hard += by
        self._crowds[at] += by


def _sets(sittings: Sequence[TableRound]) -> list[tuple[int, ...]]:
    """Return the set numbers of each sitting. Deals that always occur together count as one set."""
    where: dict[int, list[int]] = {}
    for at, sitting in enumerate(sittings):
        for deal in sitting.deals:
            where.setdefault(deal, []).append(at)
    numbers: dict[tuple[int, ...], int] = {}
    found: list[list[int]] = [[] for _ in sittings]
    for ats in where.values():
        number = numbers.setdefault(tuple(ats), len(numbers))
        for at in ats:
            if number not in found[at]:
                found[at].append(number)
    return [tuple(sets) for sets in found]


def _compared_slots(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return, for each seat's slot, the slots compared with it: the same seat at the other sittings of its sets."""
    sittings_of: dict[int, list[int]] = {}
    for at, numbers in enumerate(sets):
        for number in numbers:
            sittings_of.setdefault(number, []).append(at)
    found: list[tuple[int, ...]] = []
    for at, numbers in enumerate(sets):
        others = sorted({other for number in numbers for other in sittings_of[number]} - {at})
        found += [tuple(other * SEATED + seat for other in others) for seat in range(SEATED)]
    return found


def _tablemates(slot: int) -> tuple[int, ...]:
    """Return the other three slots of a slot's table."""
    first = slot - slot % SEATED
    return tuple(other for other in range(first, first + SEATED) if other != slot)


AT_TABLE_SHARE: Final = 0.4
TURN_SHARE: Final = 0.1
BYE_TURN_SHARE: Final = 0.5
"""Share of turns, between rounds in which players sit out, that only swap byes."""
TEAMMATE_SHARE: Final = 0.7
"""Share of a team event's exchanges that are between members of a team, which keep its seats complete."""

Exchange = tuple[int, int]
Rounds = Sequence[Sequence[int]]
"""The free slots of each round, seats before byes."""


def propose(draft: Seating, rounds: Rounds, chance: RandomSource) -> list[Exchange]:
    """Return a random step; it has no exchanges if a turn found no closed walk."""
    luck = chance.random()
    slots = rounds[int(chance.random() * len(rounds))]
    if luck < TURN_SHARE and len(rounds) > 1:
        return _turn(draft, slots, rounds[int(chance.random() * len(rounds))], chance)
    one = slots[int(chance.random() * len(slots))]
    mates = _teammates(draft, one, slots)
    if mates and chance.random() < TEAMMATE_SHARE:
        return [(one, mates[int(chance.random() * len(mates))])]
    if luck < TURN_SHARE + AT_TABLE_SHARE and one < draft.seats_end:
        return [(one, one ^ (1 + int(chance.random() * (SEATED - 1))))]  # changes s in slot 4g + s
    other = slots[int(chance.random() * len(slots))]
    return [(one, other)] if one != other else []


def _teammates(draft: Seating, one: int, slots: Sequence[int]) -> list[int]:
    team_of, occupants = draft.frame.team_of, draft.occupants
    if not team_of:
        return []
    team = team_of[occupants[one]]
    return [slot for slot in slots if team_of[occupants[slot]] == team and slot != one]


def _turn(draft: Seating, first: Sequence[int], second: Sequence[int], chance: RandomSource) -> list[Exchange]:
    """Return the exchanges that reverse the players along a closed walk between two rounds."""
    if first is second:
        return []
    if first[-1] >= draft.seats_end and second[-1] >= draft.seats_end and chance.random() < BYE_TURN_SHARE:
        return _swapped_byes(draft, first, second, chance)
    there = {draft.occupants[slot]: slot for slot in second}
    at_set = {draft.sets[slot // SEATED]: slot - slot % SEATED for slot in first if slot < draft.seats_end}
    walk: list[tuple[int, int]] = []
    visited: dict[tuple[int, ...], int] = {}
    slot = first[int(chance.random() * len(first))]
    while slot < draft.seats_end and draft.sets[slot // SEATED] not in visited:
        visited[draft.sets[slot // SEATED]] = len(walk)
        arrival = there.get(draft.occupants[slot], draft.seats_end)
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


def _swapped_byes(draft: Seating, first: Sequence[int], second: Sequence[int], chance: RandomSource) -> list[Exchange]:
    """Return the exchanges by which two players who sit out in different rounds swap those rounds."""
    one, other = (
        waiting[int(chance.random() * len(waiting))]
        for slots in (first, second)
        for waiting in [[slot for slot in slots if slot >= draft.seats_end]]
    )
    for_one = next((slot for slot in second if draft.occupants[slot] == draft.occupants[one]), NOBODY)
    for_other = next((slot for slot in first if draft.occupants[slot] == draft.occupants[other]), NOBODY)
    return [(one, for_other), (other, for_one)] if min(for_one, for_other) >= 0 else []


def _rotated(slots: Sequence[int]) -> list[Exchange]:
    """Return the exchanges that move each player one slot on, and the last one to the first slot."""
    return [(slots[0], slot) for slot in slots[1:]]


STEPS_AT_ONCE: Final = 100
"""How many steps are tried between two calls of `KeepSearching`."""

START_TEMPERATURES: Final = (5.0, 100.0, 16.0)
"""Initial temperatures of coolings, in turn. The first improves a start from algebra, the second leaves a poor one."""

END_TEMPERATURE: Final = 0.4

FIRST_LENGTH: Final = 20_000
GROWTH: Final = 1.5
LONGEST: Final = 400_000
"""Steps of a cooling. They grow longer, so that a short search gives a result and a long one a good result."""

KeepSearching = Callable[[], bool]
"""Called every `STEPS_AT_ONCE` steps; `False` ends the search with the best seating found so far."""


def search(
    frame: SearchFrame, occupants: Sequence[int], chance: RandomSource, go_on: KeepSearching, enough: int = 0
) -> list[int]:
    """Return the best seating found, as the player in each slot: fewest broken rules, then least cost.

    The search starts from `occupants`. It ends when `go_on` returns False, or when no rule is broken and the cost has
    reached `enough`, a lower bound.
    """
    rounds = [slots for slots in frame.free_rounds() if len(slots) > 1]
    best = _Best(Seating(frame, occupants), go_on, enough)
    for at, start in enumerate(cycle(START_TEMPERATURES)):
        length = min(int(FIRST_LENGTH * GROWTH ** min(at, 20)), LONGEST)
        if not rounds or not _cool(Seating(frame, best.occupants), rounds, chance, (start, length), best):
            break
    return best.occupants


class _Best:
    """The best seating so far, and the check whether to go on."""

    def __init__(self, draft: Seating, go_on: KeepSearching, enough: int) -> None:
        self.occupants = list(draft.occupants)
        self.key = (draft.hard, draft.soft)
        self._go_on, self._enough = go_on, enough

    def offer(self, draft: Seating) -> None:
        """Remember a seating if it is better than the best so far."""
        if (draft.hard, draft.soft) < self.key:
            self.occupants = list(draft.occupants)
            self.key = (draft.hard, draft.soft)

    def should_continue(self) -> bool:
        """Return whether to continue: the bound is not reached, and there is time left."""
        return self.key > (0, self._enough) and self._go_on()


def _cool(
    draft: Seating, rounds: Rounds, chance: RandomSource, start_and_length: tuple[float, int], best: _Best
) -> bool:
    """Run one cooling; return whether to continue the search."""
    temperature, length = start_and_length
    factor = (END_TEMPERATURE / temperature) ** (STEPS_AT_ONCE / length)
    for _ in range(0, length, STEPS_AT_ONCE):
        if not best.should_continue():
            return False
        for _ in range(STEPS_AT_ONCE):
            _step(draft, rounds, chance, temperature)
            best.offer(draft)
        temperature *= factor
    return True


def _step(draft: Seating, rounds: Rounds, chance: RandomSource, temperature: float) -> None:
    """Take a random step, and undo it if it is worse and not accepted by chance."""
    before = draft.cost
    exchanges = propose(draft, rounds, chance)
    for pair in exchanges:
        draft.exchange(*pair)
    worse = draft.cost - before
    if worse > 0 and chance.random() >= exp(-worse / temperature):
        for pair in reversed(exchanges):
            draft.exchange(*pair)
