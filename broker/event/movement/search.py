"""Simulated annealing: steps that make it worse are taken too while it is hot (Kirkpatrick, Gelatt, Vecchi 1983).

A seating says who sits where, and what it costs, kept up to date as two players change places. The hot loop of the
search works there (tens of thousands of exchanges a second in plain Python), hence flat lists of counts instead of
objects. What comes for the (k+1)th time costs k, a meeting or a seat k squared (a third meeting is far worse than a
second), so that a sum of costs is least where repetitions are spread evenly.

A step is a list of exchanges of two slots, of three kinds. Two players of a table change seats; two players of a round
change places; and a *turn*: some players play in the one round what they were to play in the other, and the other way
round. An exchange of two tables makes players play a set twice wherever each player is to play every set, so that the
search could not leave its start by exchanges alone. For a turn, see each player as an arrow from their set in the one
round to their set in the other; the players along a closed walk are turned round. Each set keeps four players in each
round, and each player keeps their sets.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import exp
from typing import Final

from broker.event.movement.plays import SEATED, RandomSource, TableRound, most_together

HARD: Final = 220
"""Of a rule that is broken: above all that an exchange could win elsewhere."""

MEET: Final = 32
COMPARE: Final = 4
SEAT: Final = 1
BYE: Final = 200
"""Of who sits out again before all have: more than what an exchange in the same round could win."""
IN_A_ROW: Final = 100
"""Of who sits out in two rounds one after the other: less than sitting out before others have."""
MOVED: Final = 12

STEEP: Final = 2
"""The power with which meetings and seats grow dear."""

NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class SearchFrame:
    """All that does not change in a search: sittings, byes a round, what is settled, teams (a number a player).

    `settled` sittings keep their players; `home` is who sat where in the plan that is repaired.
    """

    sittings: tuple[TableRound, ...]
    players: int
    byes: Mapping[int, int]
    settled: frozenset[int] = frozenset()
    home: tuple[int, ...] = ()
    team_of: tuple[int, ...] = ()

    def free_rounds(self) -> list[list[int]]:
        """Return the slots between which players may change places, by rounds: seat s of sitting g is slot 4g + s."""
        rounds: dict[int, list[int]] = {}
        for at, sitting in enumerate(self.sittings):
            if at not in self.settled:
                rounds.setdefault(sitting.round, []).extend(range(at * SEATED, (at + 1) * SEATED))
        for round_, slots in self.bye_slots().items():
            if round_ in rounds:
                rounds[round_].extend(slots)
        return list(rounds.values())

    def bye_slots(self) -> dict[int, range]:
        """Return the slots after all seats, by rounds, in which players sit out."""
        start, found = len(self.sittings) * SEATED, {}
        for round_, sitting_out in sorted(self.byes.items()):
            found[round_] = range(start, start + sitting_out)
            start += sitting_out
        return found

    def bye_turns(self, who: Sequence[int]) -> dict[int, int]:
        """Return the turn of each slot in which somebody sits out: nobody has two of a turn, so that all sit out alike.

        In rounds that are over it is the how-manieth time (from 0) for who sat out. From then on a turn goes to all
        who have not had it yet, before the next one begins.
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
                turns[slot] = had[who[slot]]
                had[who[slot]] += 1
        seats = (seat for at in open_sittings for seat in range(at * SEATED, (at + 1) * SEATED))
        here = {who[slot] for slot in (*seats, *free)}
        turn, left = 0, sum(not had[one] for one in here)
        for slot in free:
            while not left:
                turn, left = turn + 1, sum(had[one] <= turn + 1 for one in here)
            turns[slot], left = turn, left - 1
        return turns


def least_cost(things: int, holes: int, power: int) -> int:
    """Return the least cost of so many repetitions: spread evenly over holes, the (k+1)th in a hole costing k^power."""
    each, left = divmod(things, holes)
    return int(holes * sum(k**power for k in range(each)) + left * each**power)


class Seating:
    """A full seating of a frame. `hard` counts broken rules, `soft` is the weighted cost of the rest."""

    def __init__(self, frame: SearchFrame, who: Iterable[int]) -> None:
        """Seat player `who[slot]` (from 0) in each slot."""
        self.frame = frame
        self.hard = self.soft = 0
        self.sets = _sets(frame.sittings)
        self.seats_end = len(frame.sittings) * SEATED
        self._rivals = _rivals(self.sets)
        self._mates = [_tablemates(slot) for slot in range(self.seats_end)]
        players, kinds = frame.players, 1 + max((kind for kinds in self.sets for kind in kinds), default=0)
        self._kinds = kinds
        self.meetings = [0] * players * players
        self.comparisons = [0] * players * players
        self.seats = [0] * players * SEATED
        placed = list(who)
        self._turns = frame.bye_turns(placed)
        self._turns_each = 1 + max(self._turns.values(), default=0)
        self._dearer = 1 + 2 * (self.seats_end * (SEATED - 1) // (players * max(1, players - 1)))
        """How much more an exchange can win among few players, who all meet many times."""
        self.byes = [0] * players * self._turns_each
        """How often each sits out in each turn."""
        self._bye_rounds = self._number_bye_rounds()
        self._rounds = 2 + len({sitting.round for sitting in frame.sittings})
        self._out = [0] * players * self._rounds
        """Whether each sits out in each round, with a round before the first and one after the last."""
        self._played = [0] * players * kinds
        teams = 1 + max(frame.team_of, default=0)
        self._team_seats = [0] * teams * kinds * SEATED
        self._crowds = [0] * teams * len(frame.sittings)
        self._most = most_together(teams)
        self.who = [NOBODY] * len(placed)
        for slot, player in enumerate(placed):
            self._enter(slot, player)

    def _number_bye_rounds(self) -> dict[int, int]:
        """Return the round of each slot in which somebody sits out; rounds are numbered from 1 without gaps."""
        rounds = sorted({sitting.round for sitting in self.frame.sittings})
        numbers = {round_: number for number, round_ in enumerate(rounds, 1)}
        return {slot: numbers[round_] for round_, slots in self.frame.bye_slots().items() for slot in slots}

    @property
    def cost(self) -> int:
        """All in one number, for the search."""
        return HARD * self.hard + self.soft

    def exchange(self, one: int, other: int) -> None:
        """Let the players of two slots change places; done twice it changes nothing."""
        apart = one // SEATED != other // SEATED or one >= self.seats_end
        first, second = self._leave(one, meet=apart), self._leave(other, meet=apart)
        self._enter(one, second, meet=apart)
        self._enter(other, first, meet=apart)

    def _enter(self, slot: int, player: int, *, meet: bool = True) -> None:
        if slot < self.seats_end:
            if meet:
                self.soft += MEET * self._pair_up(player, self._mates[slot], self.meetings, STEEP)
            self.soft += COMPARE * self._pair_up(player, self._rivals[slot], self.comparisons, 1)
        self.who[slot] = player
        self._count_alone(slot, player, 1)

    def _leave(self, slot: int, *, meet: bool = True) -> int:
        player = self.who[slot]
        self._count_alone(slot, player, -1)
        self.who[slot] = NOBODY
        if slot < self.seats_end:
            if meet:
                self.soft -= MEET * self._part(player, self._mates[slot], self.meetings, STEEP)
            self.soft -= COMPARE * self._part(player, self._rivals[slot], self.comparisons, 1)
        return player

    def _pair_up(self, player: int, slots: Sequence[int], counts: list[int], power: int) -> int:
        """Count a player once more with those in some slots; return the cost: from k times to k + 1 it is k^power."""
        who, players, cost = self.who, self.frame.players, 0
        for slot in slots:
            other = who[slot]
            if other >= 0:
                pair = player * players + other if player < other else other * players + player
                cost += counts[pair] ** power
                counts[pair] += 1
        return cost

    def _part(self, player: int, slots: Sequence[int], counts: list[int], power: int) -> int:
        """Count a player once less with those in some slots; return what that saves."""
        who, players, saved = self.who, self.frame.players, 0
        for slot in slots:
            other = who[slot]
            if other >= 0:
                pair = player * players + other if player < other else other * players + player
                counts[pair] -= 1
                saved += counts[pair] ** power
        return saved

    def _count_alone(self, slot: int, player: int, by: int) -> None:
        """Count what a slot's player has by themselves: seats, deals, byes, and their team's."""
        down = -(by < 0)
        if self.frame.home and self.frame.home[slot] != player:
            self.soft += MOVED * by
        if slot >= self.seats_end:
            at = player * self._turns_each + self._turns[slot]
            self.soft += self._dearer * BYE * by * (self.byes[at] + down)
            self.byes[at] += by
            at = player * self._rounds + self._bye_rounds[slot]
            self.soft += self._dearer * IN_A_ROW * by * (self._out[at - 1] + self._out[at + 1])
            self._out[at] += by
            return
        sitting, seat = divmod(slot, SEATED)
        at = player * SEATED + seat
        self.soft += SEAT * by * (self.seats[at] + down) ** STEEP
        self.seats[at] += by
        for kind in self.sets[sitting]:
            at = player * self._kinds + kind
            self.hard += by * (self._played[at] + down)
            self._played[at] += by
        if self.frame.team_of:
            self._count_team(sitting, seat, self.frame.team_of[player], by)

    def _count_team(self, sitting: int, seat: int, team: int, by: int) -> None:
        for kind in self.sets[sitting]:
            at = (team * self._kinds + kind) * SEATED + seat
            self.hard += by * (self._team_seats[at] - (by < 0))
            self._team_seats[at] += by
        at = team * len(self.frame.sittings) + sitting
        if self._crowds[at] - (by < 0) >= self._most:
            self.hard += by
        self._crowds[at] += by


def _sets(sittings: Sequence[TableRound]) -> list[tuple[int, ...]]:
    """Return each sitting the numbers of its sets: deals that always come together count as one thing."""
    where: dict[int, list[int]] = {}
    for at, sitting in enumerate(sittings):
        for deal in sitting.deals:
            where.setdefault(deal, []).append(at)
    numbers: dict[tuple[int, ...], int] = {}
    kinds: list[list[int]] = [[] for _ in sittings]
    for ats in where.values():
        number = numbers.setdefault(tuple(ats), len(numbers))
        for at in ats:
            if number not in kinds[at]:
                kinds[at].append(number)
    return [tuple(numbers_) for numbers_ in kinds]


def _rivals(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return each seat's slot those with which it is compared: the same seat at the other sittings of its sets."""
    of_kind: dict[int, list[int]] = {}
    for at, kinds in enumerate(sets):
        for kind in kinds:
            of_kind.setdefault(kind, []).append(at)
    found: list[tuple[int, ...]] = []
    for at, kinds in enumerate(sets):
        others = sorted({other for kind in kinds for other in of_kind[kind]} - {at})
        found += [tuple(other * SEATED + seat for other in others) for seat in range(SEATED)]
    return found


def _tablemates(slot: int) -> tuple[int, ...]:
    """Return the other three slots of a table."""
    first = slot - slot % SEATED
    return tuple(other for other in range(first, first + SEATED) if other != slot)


AT_TABLE: Final = 0.4
TURN: Final = 0.1
BYES: Final = 0.5
"""Of turns between rounds in which somebody sits out, how many are of those alone."""
MATES: Final = 0.7
"""Of a team event's exchanges, how many are between members of a team: these keep its seats complete."""

Exchange = tuple[int, int]
Rounds = Sequence[Sequence[int]]
"""The free slots of each round, seats before byes."""


def propose(draft: Seating, rounds: Rounds, chance: RandomSource) -> list[Exchange]:
    """Return a step by chance; no exchange at all where a turn found no closed walk."""
    luck = chance.random()
    slots = rounds[int(chance.random() * len(rounds))]
    if luck < TURN and len(rounds) > 1:
        return _turn(draft, slots, rounds[int(chance.random() * len(rounds))], chance)
    one = slots[int(chance.random() * len(slots))]
    mates = _teammates(draft, one, slots)
    if mates and chance.random() < MATES:
        return [(one, mates[int(chance.random() * len(mates))])]
    if luck < TURN + AT_TABLE and one < draft.seats_end:
        return [(one, one ^ (1 + int(chance.random() * (SEATED - 1))))]  # 4g + s: another s
    other = slots[int(chance.random() * len(slots))]
    return [(one, other)] if one != other else []


def _teammates(draft: Seating, one: int, slots: Sequence[int]) -> list[int]:
    team_of, who = draft.frame.team_of, draft.who
    if not team_of:
        return []
    team = team_of[who[one]]
    return [slot for slot in slots if team_of[who[slot]] == team and slot != one]


def _turn(draft: Seating, first: Sequence[int], second: Sequence[int], chance: RandomSource) -> list[Exchange]:
    """Turn the players of a closed walk between two rounds."""
    if first is second:
        return []
    if first[-1] >= draft.seats_end and second[-1] >= draft.seats_end and chance.random() < BYES:
        return _swapped_byes(draft, first, second, chance)
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


def _swapped_byes(draft: Seating, first: Sequence[int], second: Sequence[int], chance: RandomSource) -> list[Exchange]:
    """Let somebody who sits out in one round, and somebody who does in another, each sit out in the other's."""
    one, other = (
        waiting[int(chance.random() * len(waiting))]
        for slots in (first, second)
        for waiting in [[slot for slot in slots if slot >= draft.seats_end]]
    )
    for_one = next((slot for slot in second if draft.who[slot] == draft.who[one]), NOBODY)
    for_other = next((slot for slot in first if draft.who[slot] == draft.who[other]), NOBODY)
    return [(one, for_other), (other, for_one)] if min(for_one, for_other) >= 0 else []


def _rotated(slots: Sequence[int]) -> list[Exchange]:
    """Move each player one slot on, the last one to the first."""
    return [(slots[0], slot) for slot in slots[1:]]


STEPS_AT_ONCE: Final = 100
"""Exchanges that are tried between two questions whether to go on."""

HEATS: Final = (5.0, 100.0, 16.0)
"""Where coolings begin, in turn: the first betters a start from algebra, the second leaves a start without merit."""

COLD: Final = 0.4

FIRST_LENGTH: Final = 20_000
GROWTH: Final = 1.5
LONGEST: Final = 400_000
"""Steps of a cooling; each next cooling is longer, so that little time gives a result and much time a good one."""

KeepSearching = Callable[[], bool]
"""Asked every `STEPS_AT_ONCE` exchanges; `False` ends the search with the best that was found."""


def search(
    frame: SearchFrame, who: Sequence[int], chance: RandomSource, go_on: KeepSearching, enough: int = 0
) -> list[int]:
    """Return the best seating found, by slots: the fewest broken rules, then the least cost. `who` is where to begin.

    It ends when `go_on` says so, or when no rule is broken and the cost is `enough`, a bound below which nothing can
    be.
    """
    rounds = [slots for slots in frame.free_rounds() if len(slots) > 1]
    best = _Best(Seating(frame, who), go_on, enough)
    for at in count():
        length = min(int(FIRST_LENGTH * GROWTH ** min(at, 20)), LONGEST)
        if not rounds or not _cool(Seating(frame, best.who), rounds, chance, (HEATS[at % len(HEATS)], length), best):
            break
    return best.who


class _Best:
    """The best seating so far, and whether to go on."""

    def __init__(self, draft: Seating, go_on: KeepSearching, enough: int) -> None:
        self.who = list(draft.who)
        self.key = (draft.hard, draft.soft)
        self._go_on, self._enough = go_on, enough

    def offer(self, draft: Seating) -> None:
        """Take this one if it is better."""
        if (draft.hard, draft.soft) < self.key:
            self.who = list(draft.who)
            self.key = (draft.hard, draft.soft)

    def goes_on(self) -> bool:
        """Ask whether there is time, unless nothing can be better."""
        return self.key > (0, self._enough) and self._go_on()


def _cool(
    draft: Seating, rounds: Rounds, chance: RandomSource, heat_and_length: tuple[float, int], best: _Best
) -> bool:
    """Cool down once; return whether to go on."""
    heat, length = heat_and_length
    factor = (COLD / heat) ** (STEPS_AT_ONCE / length)
    for _ in range(0, length, STEPS_AT_ONCE):
        if not best.goes_on():
            return False
        for _ in range(STEPS_AT_ONCE):
            _step(draft, rounds, chance, heat)
            best.offer(draft)
        heat *= factor
    return True


def _step(draft: Seating, rounds: Rounds, chance: RandomSource, heat: float) -> None:
    """Take a step, back again where it is worse and chance is against it."""
    before = draft.cost
    exchanges = propose(draft, rounds, chance)
    for pair in exchanges:
        draft.exchange(*pair)
    worse = draft.cost - before
    if worse > 0 and chance.random() >= exp(-worse / heat):
        for pair in reversed(exchanges):
            draft.exchange(*pair)
