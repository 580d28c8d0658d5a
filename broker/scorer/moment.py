"""All plays as the scorer knows them at one moment, and of it the part that everybody may know. Pure.

Every page, file and message about plays is made from a `Moment`. Who is no arbiter is given `Embargo.open_part`, in
which a deal that some table has yet to play does not exist: what is not in it cannot be told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from broker.contract.facts import Result
from broker.contract.messages import LogMessage, Standing, TeamStanding
from broker.scorer import standings
from broker.scorer.event import Event
from broker.scorer.rulings.absences import StandIn, sat
from broker.scorer.rulings.doubles import Double, doubles
from broker.scorer.rulings.laying import Laid
from broker.scoring import individual
from broker.scoring.ledger import Ledger
from broker.scoring.lineups import Lineup
from broker.scoring.plays import APART, Adjustment, ScoredPlay, table_of
from broker.scoring.ranking import Ranking
from broker.scoring.rows import Row
from broker.scoring.totals import Totals


@dataclass(frozen=True, eq=False)
class Moment:
    """Never changed. `results` are those of the tables, by table and round, and may be newer than the ledger."""

    event: Event
    ledger: Ledger
    results: Mapping[tuple[int, int], LogMessage]
    complete: frozenset[int]
    """Deals that all their tables have played."""
    adjustments: tuple[Adjustment, ...] = ()
    """IMPs in the ledger's totals that belong to no play: they are under no embargo."""
    deadline: int | None = None
    """End of the correction period, ms since 1970, where the arbiters have set one."""
    ruled: Mapping[tuple[int, int], tuple[Laid, tuple[str, ...]]] = field(default_factory=dict)
    """Plays that were ruled on as they count, with the kinds of the rulings: by table and round."""
    instead: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Plays that have a ruling and no result of their table, oldest first, with its time in ms since 1970."""
    teams: tuple[TeamStanding, ...] = ()
    """The teams' standings. They are of complete deals alone, and so under no embargo."""
    lineups: Mapping[int, Mapping[str, Lineup]] = field(default_factory=dict)
    """In a team event, of each deal that counts for the teams, who sat where for them."""
    left_out: tuple[int, ...] = ()
    """Complete deals that count for no team until an arbiter has ruled who sat where."""
    stand_ins: tuple[StandIn, ...] = ()
    """Who sits in whose place: names alone, which are under no embargo."""

    def sat(self, player: str, round_: int) -> str | None:
        """Give the substitute who sat in a player's seat in a round; None where the player did."""
        return sat(self.stand_ins, player, round_)

    @cached_property
    def by_deal(self) -> Mapping[int, tuple[Row, ...]]:
        """The comparison groups of each deal that was played."""
        found: dict[int, list[Row]] = {}
        for key in sorted(self.ledger.rows):
            found.setdefault(key[0], []).append(self.ledger.rows[key])
        return {deal: tuple(rows) for deal, rows in found.items()}

    @cached_property
    def unplayed(self) -> Mapping[int, tuple[ScoredPlay, ...]]:
        """Of each deal the plays that count without points: void, or awarded by the arbiter."""
        found: dict[int, list[ScoredPlay]] = {}
        for key in sorted(self.ledger.unplayed):
            found.setdefault(key[0], []).append(self.ledger.unplayed[key])
        return {deal: tuple(plays) for deal, plays in found.items()}

    @cached_property
    def ranking(self) -> Ranking:
        """The standings of this moment."""
        return individual.standings(self.ledger)

    @cached_property
    def standings(self) -> Sequence[Standing]:
        """The same with names, as it is told and shown."""
        return standings.Named(self.ranking, self.event.players)

    def is_final(self, now: int) -> bool:
        """Whether no play is missing, none counts that its players had played before, and corrections are over.

        `now` in ms since 1970.
        """
        over = self.deadline is None or now > self.deadline
        return over and len(self.complete) == len(self.event.expected) and not self.doubles

    @cached_property
    def doubles(self) -> tuple[Double, ...]:
        """Plays that count although some of their players had played the deal before: an arbiter is to rule on them."""
        return doubles(self.event, self.results, {key: laid for key, (laid, _) in self.ruled.items()})

    def plays_of(self, name: str) -> Iterator[ScoredPlay]:
        """Give the plays in which somebody scored, planned or not."""
        number = self.ledger.entries.number.get(name, -1)
        for rows in self.by_deal.values():
            for row in rows:
                yield from (row.group.members[at] for at in np.nonzero((row.entries == number).any(axis=1))[0])
        for plays in self.unplayed.values():
            yield from (play for play in plays if name in play.entries)

    @cached_property
    def _ruled_of(self) -> Mapping[int, tuple[Laid, ...]]:
        """The plays of each deal that were ruled on."""
        found: dict[int, list[Laid]] = {}
        for key in sorted(self.ruled):
            found.setdefault(self.ruled[key][0].deal, []).append(self.ruled[key][0])
        return {deal: tuple(plays) for deal, plays in found.items()}

    def parts(self, deal: int) -> tuple[object, ...]:
        """Give what a deal's traveller is made of: while these are equal it is the same.

        A ruling may tell a win otherwise and change no points, and then no comparison group.
        """
        return (*self.by_deal.get(deal, ()), *self.unplayed.get(deal, ()), *self._ruled_of.get(deal, ()))

    def place(self, play: ScoredPlay) -> tuple[int, int]:
        """Give table and round of a scored play, wherever it was planned (`Laid.line`)."""
        table = table_of(play)
        apart = play.table // APART
        return table, apart or self.event.rounds.get((play.deal, table), 0)

    def plays_with(self, deal: int) -> set[tuple[int, int]]:
        """Give table and round of the plays in which a deal was really played, or is to be."""
        planned = {key for key in self.event.plays_with(deal) if key not in self.ruled}
        return planned | {key for key, (laid, _) in self.ruled.items() if laid.deal == deal}

    def settled(self, key: tuple[int, int]) -> bool:
        """Say whether of a play, by table and round, there is nothing more to come."""
        return self.ruled[key][0].settled if key in self.ruled else key in self.results

    def result(self, deal: int, table: int) -> tuple[LogMessage, Result] | None:
        """Give what a table said of a play that is in this moment."""
        if deal not in self.by_deal and deal not in self.unplayed:
            return None
        planned = self.event.rounds.get((deal, table))
        # A deal that was not planned for a table, or for another round, may have been played there.
        for round_ in (planned, *self.event.rounds_at.get(table, ())):
            message = self.results.get((table, round_)) if round_ is not None else None
            if message is not None and isinstance(message.fact, Result) and message.fact.deal == deal:
                return message, message.fact
        return None


class _Opened(NamedTuple):
    """What was opened, and what it was made from."""

    parts: Mapping[int, tuple[object, ...]]
    beside: tuple[object, ...]
    moment: Moment


class Embargo:
    """Gives the open part of a moment: made anew only when what is open has changed, and then by what has changed.

    For moments of one event as they follow each other, and for one thread alone.
    """

    def __init__(self) -> None:
        self._kept: _Opened | None = None

    def open_part(self, moment: Moment) -> Moment:
        """Give the same moment without every deal that a table has yet to play."""
        parts = {deal: moment.parts(deal) for deal in moment.complete}
        beside, kept = (*moment.adjustments, moment.deadline, moment.stand_ins, moment.event), self._kept
        if kept is None or kept.parts != parts or kept.beside != beside:  # a group is equal to none but itself
            kept = self._kept = _Opened(parts, beside, self._opened(moment, parts))
        return kept.moment

    def _opened(self, moment: Moment, parts: Mapping[int, tuple[object, ...]]) -> Moment:
        whole, kept = moment.ledger, self._kept
        rows = {key: row for key, row in whole.rows.items() if key[0] in parts}
        unplayed = {key: play for key, play in whole.unplayed.items() if key[0] in parts}
        size, fractions = len(whole.entries.number), whole.profile.imp.method.value == "cross"
        totals = kept.moment.ledger.totals.resized(size) if kept else Totals.nothing(size, fractions=fractions)
        for before in (kept,) if kept else ():
            gone = [deal for deal, had in before.parts.items() if parts.get(deal) != had]
            _add(totals, before.moment, gone, -1)
            totals.adjust(
                (Adjustment(one.name, -one.imp, -one.fine) for one in before.moment.adjustments), whole.entries
            )
        come = [deal for deal, now in parts.items() if kept is None or kept.parts.get(deal) != now]
        _add(totals, moment, come, 1)
        totals.adjust(moment.adjustments, whole.entries)
        return replace(moment, ledger=Ledger(whole.profile, whole.entries, totals, rows, unplayed))


def open_part(moment: Moment) -> Moment:
    """Give the part of a moment that is under no embargo."""
    return Embargo().open_part(moment)


def _add(totals: Totals, moment: Moment, deals: Iterable[int], sign: int) -> None:
    """Add what some deals of a moment give, or (sign -1) take it off."""
    for deal in deals:
        rows, unplayed = moment.by_deal.get(deal, ()), moment.unplayed.get(deal, ())
        for row in rows:
            totals.count(row, sign)
        for play in _ruled(rows, unplayed):
            totals.rule(play, moment.ledger.entries, sign)


def _ruled(rows: Iterable[Row], unplayed: Iterable[ScoredPlay]) -> Iterable[ScoredPlay]:
    for row in rows:
        yield from (play for play in row.group.members if play.fines or play.awards)
    yield from unplayed
