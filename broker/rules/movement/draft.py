"""A movement being made: who sits where, and what it costs, kept up to date as two players change places.

The hot loop of the search works here (tens of thousands of exchanges a second in plain Python), hence flat lists of
counts instead of objects. What comes for the (k+1)th time costs k, a meeting or a seat k squared (a third meeting is
far worse than a second), so that a sum of costs is least where repetitions are spread evenly.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from broker.rules.movement.booking import Sitting
from broker.rules.movement.check import SEATED, most_together

HARD: Final = 220
"""Of a rule that is broken: above all that an exchange could win elsewhere."""

MEET: Final = 32
COMPARE: Final = 4
SEAT: Final = 1
BYE: Final = 64
MOVED: Final = 12

STEEP: Final = 2
"""The power with which meetings and seats grow dear."""

NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class Frame:
    """All that does not change in a search: sittings, byes a round, what is settled, teams (a number a player).

    `settled` sittings keep their players; `home` is who sat where in the plan that is repaired.
    """

    sittings: tuple[Sitting, ...]
    players: int
    byes: Mapping[int, int]
    settled: frozenset[int] = frozenset()
    home: tuple[int, ...] = ()
    team_of: tuple[int, ...] = ()

    def free_rounds(self) -> list[list[int]]:
        """Give the slots between which players may change places, by rounds: seat s of sitting g is slot 4g + s."""
        rounds: dict[int, list[int]] = {}
        for at, sitting in enumerate(self.sittings):
            if at not in self.settled:
                rounds.setdefault(sitting.round, []).extend(range(at * SEATED, (at + 1) * SEATED))
        for round_, slots in self.bye_slots().items():
            if round_ in rounds:
                rounds[round_].extend(slots)
        return list(rounds.values())

    def bye_slots(self) -> dict[int, range]:
        """Give the slots after all seats, by rounds, in which players sit out."""
        start, found = len(self.sittings) * SEATED, {}
        for round_, count in sorted(self.byes.items()):
            found[round_] = range(start, start + count)
            start += count
        return found


def least_cost(things: int, holes: int, power: int) -> int:
    """Give the least cost of so many repetitions: spread evenly over holes, the (k+1)th in a hole costing k^power."""
    each, left = divmod(things, holes)
    return int(holes * sum(k**power for k in range(each)) + left * each**power)


class Draft:
    """A full seating of a frame. `hard` counts broken rules, `soft` is the weighted cost of the rest."""

    def __init__(self, frame: Frame, who: Iterable[int]) -> None:
        """Seat player `who[slot]` (from 0) in each slot."""
        self.frame = frame
        self.hard = self.soft = 0
        self.sets = _sets(frame.sittings)
        self.seats_end = len(frame.sittings) * SEATED
        self._rivals = _rivals(self.sets)
        self._mates = [_mates(slot) for slot in range(self.seats_end)]
        players, kinds = frame.players, 1 + max((kind for kinds in self.sets for kind in kinds), default=0)
        self._kinds = kinds
        self.meetings = [0] * players * players
        self.comparisons = [0] * players * players
        self.seats = [0] * players * SEATED
        self.byes = [0] * players
        self._played = [0] * players * kinds
        teams = 1 + max(frame.team_of, default=0)
        self._team_seats = [0] * teams * kinds * SEATED
        self._crowds = [0] * teams * len(frame.sittings)
        self._most = most_together(teams)
        placed = list(who)
        self.who = [NOBODY] * len(placed)
        for slot, player in enumerate(placed):
            self._enter(slot, player)

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
        """Count a player once more with those in some slots; give the cost: from k times to k + 1 it is k^power."""
        who, players, cost = self.who, self.frame.players, 0
        for slot in slots:
            other = who[slot]
            if other >= 0:
                pair = player * players + other if player < other else other * players + player
                cost += counts[pair] ** power
                counts[pair] += 1
        return cost

    def _part(self, player: int, slots: Sequence[int], counts: list[int], power: int) -> int:
        """Count a player once less with those in some slots; give what that saves."""
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
            self.soft += BYE * by * (self.byes[player] + down)
            self.byes[player] += by
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


def _sets(sittings: Sequence[Sitting]) -> list[tuple[int, ...]]:
    """Give each sitting the numbers of its sets: deals that always come together count as one thing."""
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
    """Give each seat's slot those with which it is compared: the same seat at the other sittings of its sets."""
    of_kind: dict[int, list[int]] = {}
    for at, kinds in enumerate(sets):
        for kind in kinds:
            of_kind.setdefault(kind, []).append(at)
    found: list[tuple[int, ...]] = []
    for at, kinds in enumerate(sets):
        others = sorted({other for kind in kinds for other in of_kind[kind]} - {at})
        found += [tuple(other * SEATED + seat for other in others) for seat in range(SEATED)]
    return found


def _mates(slot: int) -> tuple[int, ...]:
    """Give the other three slots of a table."""
    first = slot - slot % SEATED
    return tuple(other for other in range(first, first + SEATED) if other != slot)
