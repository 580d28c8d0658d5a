"""All plays as the scorer knows them at one time, the public part of them, and the standings.

Every page, file and message about plays is made from a `Snapshot`. Everyone except arbiters gets `Embargo.open_part`,
which does not contain deals that some table has yet to play, so that nothing about them can leak.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import groupby, takewhile
from operator import itemgetter
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar, overload

import numpy as np
from msgspec import Struct, structs

from broker.event import Event, Plan
from broker.protocol import (
    LogMessage,
    Player,
    PublicStandings,
    PublicTraveller,
    Result,
    Seat,
    Standing,
    TeamStanding,
    encode,
)
from broker.rulings import CountedPlay, PlayKey, StandIn, result_of, substitute_of
from broker.scorer.standings import SectionStandings, latest_first, player_sections, whole_ranking
from broker.scorer.whole_plays import WholePlay, message_of_result
from broker.scoring import (
    TABLE_OFFSET,
    Adjustment,
    Bounds,
    Exact,
    GroupRow,
    Ledger,
    Lineup,
    Ranked,
    Ranking,
    ScoredPlay,
    Totals,
    json_imp,
    standings,
    table_of,
    team_bounds,
)

PublicMessage = TypeVar("PublicMessage", PublicTraveller, PublicStandings)


class RepeatedDeal(Struct, frozen=True):
    """A play that counts although some of its players have played its deal in an earlier round."""

    table: int
    round: int
    deal: int
    seats: Mapping[Seat, str]
    again: tuple[str, ...]
    """The players who had played it."""


class Results(Mapping[tuple[int, int], LogMessage]):
    """Results by table and round. Those of whole plays are decoded on access. Thread-safe.

    `by_key` may change meanwhile.
    """

    def __init__(self, by_key: Mapping[tuple[int, int], LogMessage | WholePlay]) -> None:
        self.by_key = by_key

    def __getitem__(self, key: tuple[int, int]) -> LogMessage:
        return message_of_result(self.by_key[key])

    def __contains__(self, key: object) -> bool:
        return key in self.by_key

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Iterate over the plays present now."""
        return iter([*self.by_key])

    def __len__(self) -> int:
        return len(self.by_key)

    def since(self, count: int) -> list[tuple[tuple[int, int], LogMessage]]:
        """Return the results after the first `count` ones."""
        return [(key, message_of_result(one)) for key, one in [*self.by_key.items()][count:]]

    def times(self) -> dict[tuple[int, int], int]:
        """Return when tables reported the results, ms since 1970."""
        return {key: one.at for key, one in [*self.by_key.items()]}


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All plays at one time; immutable. `results`, by table and round, may be newer than the ledger."""

    event: Event
    ledger: Ledger
    results: Results
    complete: frozenset[int]
    """Deals that all their tables have played."""
    adjustments: tuple[Adjustment, ...] = ()
    """IMPs in the ledger's totals that belong to no play, and so are not under embargo."""
    deadline: int | None = None
    """End of the correction period, ms since 1970, if the arbiters have set one."""
    ruled: Mapping[tuple[int, int], tuple[CountedPlay, tuple[str, ...]]] = field(default_factory=dict)
    """Plays with rulings, as they count, and the kinds of the rulings: by table and round."""
    instead: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Plays with a ruling but no result from their table, oldest first, with the ruling's time in ms since 1970."""
    teams: tuple[TeamStanding, ...] = ()
    """The teams' standings. They contain only complete deals, and so are not under embargo."""
    teams_of_stages: tuple[tuple[TeamStanding, ...], ...] = ()
    """The teams' standings of each stage, including those who have gone on since."""
    lineups: Sequence[tuple[int, Mapping[str, Lineup]]] = ()
    """In a team event, the lineups of each deal that counts for the teams of a section."""
    left_out: tuple[int, ...] = ()
    """Complete deals that count for no team until an arbiter has ruled who sat where."""
    stand_ins: tuple[StandIn, ...] = ()
    """Substitutes, and whose seats they take: only names, which are not under embargo."""
    declared: bool = False
    """Whether the head arbiter has declared the standings final."""
    rounds_over: int = 0
    """The last round up to which every planned play is settled."""

    def sat(self, player: str, round_: int) -> str | None:
        """Return the substitute who sat in a player's seat in a round, or None if the player did."""
        return substitute_of(self.stand_ins, player, round_)

    @cached_property
    def by_deal(self) -> Mapping[int, tuple[GroupRow, ...]]:
        """The comparison groups of each deal that was played."""
        rows = self.ledger.rows
        return {deal: tuple([rows[key] for key in keys]) for deal, keys in groupby(sorted(rows), itemgetter(0))}

    @cached_property
    def unplayed(self) -> Mapping[int, tuple[ScoredPlay, ...]]:
        """For each deal, the plays that count without points: void, or awarded by the arbiter."""
        plays = self.ledger.unplayed
        return {deal: tuple([plays[key] for key in keys]) for deal, keys in groupby(sorted(plays), itemgetter(0))}

    @cached_property
    def sections(self) -> tuple[SectionStandings, ...]:
        """The standings of each section of each stage. Empty in an event without stages."""
        return player_sections(self.event, self.ledger, self.adjustments) if self.event.plan.stages else ()

    @cached_property
    def ranking(self) -> Ranking:
        """The standings of this snapshot. In an event in stages, the latest stage comes first, section by section."""
        if self.sections:
            return whole_ranking(self.sections)
        before = self.event.brought("individual").places
        return standings.player_standings(self.ledger, previous=before, without_standing=self.event.without_standing)

    @cached_property
    def section_of(self) -> Mapping[str, SectionStandings]:
        """The section in whose standings each player is listed. Empty in an event without stages."""
        return {
            group.ranking.entries.names[number]: group
            for group, at in latest_first(self.sections)
            for number in group.ranking.order[at].tolist()
        }

    @cached_property
    def places_named(self) -> Mapping[str, tuple[str, str]]:
        """The names of the stage and section in which each player's place is."""
        stages = self.event.plan.stages
        return {player: (stages[one.stage].name, one.section) for player, one in self.section_of.items()}

    @cached_property
    def standings(self) -> Sequence[Standing]:
        """The ranking with names, as published and shown."""
        return NamedStandings(self.ranking, self.event.players, self.places_named)

    @cached_property
    def final(self) -> bool:
        """Whether the standings are declared final, and since then no play is missing or counts twice."""
        return (
            self.declared
            and len(self.complete) == len(self.event.expected)
            and self.event.all_seated
            and not self.doubles
        )

    @cached_property
    def doubles(self) -> tuple[RepeatedDeal, ...]:
        """Plays that count although some players had played the deal before: an arbiter has to rule on them."""
        return repeated_deals(self.event, self.results, {key: counted for key, (counted, _) in self.ruled.items()})

    def plays_of(self, name: str) -> Iterator[ScoredPlay]:
        """Yield the plays in which a player scored, planned or not."""
        number = self.ledger.entries.number.get(name, -1)
        for rows in self.by_deal.values():
            for row in rows:
                yield from (row.group.members[at] for at in np.nonzero((row.entries == number).any(axis=1))[0])
        for plays in self.unplayed.values():
            yield from (play for play in plays if name in play.entries)

    @cached_property
    def _ruled_of(self) -> Mapping[int, tuple[CountedPlay, ...]]:
        """The plays with rulings, by deal."""
        found: dict[int, list[CountedPlay]] = {}
        for key in sorted(self.ruled):
            found.setdefault(self.ruled[key][0].deal, []).append(self.ruled[key][0])
        return {deal: tuple(plays) for deal, plays in found.items()}

    def parts(self, deal: int) -> tuple[object, ...]:
        """Return what a deal's traveller is made from: while these are equal, so is the traveller.

        Plays with rulings are included, because a ruling may change how a win came about without changing points or
        groups.
        """
        return (*self.by_deal.get(deal, ()), *self.unplayed.get(deal, ()), *self._ruled_of.get(deal, ()))

    def place(self, play: ScoredPlay) -> tuple[int, int]:
        """Return the table and round of a scored play, wherever it was planned (`CountedPlay.scoring_table`)."""
        table = table_of(play)
        apart = play.table // TABLE_OFFSET
        return table, apart or self.event.rounds.get((play.deal, table), 0)

    def plays_with(self, deal: int) -> set[tuple[int, int]]:
        """Return the table and round of the plays in which a deal was actually played, or is to be."""
        planned = {key for key in self.event.plays_with(deal) if key not in self.ruled}
        return planned | {key for key, (counted, _) in self.ruled.items() if counted.deal == deal}

    def settled(self, key: tuple[int, int]) -> bool:
        """Return whether a play, by table and round, is settled."""
        return self.ruled[key][0].settled if key in self.ruled else key in self.results

    @cached_property
    def skipped(self) -> tuple[tuple[int, int], ...]:
        """Round and table of plays that arbiters have settled unplayed, so that nobody has to sit down there.

        They reveal nothing about a deal, and so are not under embargo.
        """
        return tuple(
            sorted(
                (round_, table)
                for (table, round_), (play, _) in self.ruled.items()
                if play.settled and not play.was_played and (table, round_) not in self.results
            )
        )

    @cached_property
    def seated_plan(self) -> Plan:
        """The plan without the skipped plays."""
        plan, skipped = self.event.plan, set(self.skipped)
        if not skipped:
            return plan
        return structs.replace(plan, plays=tuple(one for one in plan.plays if (one.round, one.table) not in skipped))

    def result(self, deal: int, table: int) -> tuple[LogMessage, Result] | None:
        """Return a table's result of a deal, if the deal is in this snapshot."""
        if deal not in self.by_deal and deal not in self.unplayed:
            return None
        planned = self.event.rounds.get((deal, table))
        # A deal that was not planned for a table, or for another round, may have been played there.
        for round_ in (planned, *self.event.rounds_at.get(table, ())):
            message = self.results.get((table, round_)) if round_ is not None else None
            if message is not None and isinstance(message.fact, Result) and message.fact.deal == deal:
                return message, message.fact
        return None


class PlayCounts:
    """Counts the settled plays of each deal, table and round: those with a result, or with a ruling instead.

    From these it knows which deals are complete, and so no longer under embargo.
    """

    def __init__(self, event: Event, elsewhere: frozenset[int] | None = None) -> None:
        """`elsewhere`: in a hall, the deals that the other halls have played, too; None: there are no other halls."""
        self._event, self._elsewhere = event, elsewhere
        self.expected = Counter(event.expected)
        self.of_deal: Counter[int] = Counter()
        self.at_table: Counter[int] = Counter()
        self.of_round: Counter[int] = Counter()
        self._finished: frozenset[int] | None = None
        """The complete deals, once `all_complete` was called."""

    def copy(self) -> "PlayCounts":
        """Return an independent copy."""
        new = PlayCounts(self._event, self._elsewhere)
        new.expected, new.of_deal, new.at_table = map(Counter, (self.expected, self.of_deal, self.at_table))
        new.of_round = Counter(self.of_round)
        return new

    def load(self, played: Mapping[PlayKey, int]) -> None:
        """Count the plays with a result in a whole journal, with their deals, before any ruling."""
        self._finished = None
        deals, bookings = [*played.values()], self._event.bookings
        self.of_deal.update(deals)
        self.at_table.update([table for table, _ in played])
        self.of_round.update([round_ for _, round_ in played])
        planned = [bookings[key].deal for key in played]
        if planned != deals:  # a table that had another plan has followed that
            self.expected.subtract(planned)
            self.expected.update(deals)

    def replace(self, before: CountedPlay, now: CountedPlay) -> None:
        """Replace the counted version of a play with a new one."""
        for one, sign in ((before, -1), (now, 1)):
            self.expected[one.deal] += sign
            self.of_deal[one.deal] += sign * one.settled
            self.at_table[one.table] += sign * one.settled
            self.of_round[one.round] += sign * one.settled
        if self._finished is not None:
            changed = {deal for deal in {before.deal, now.deal} if self.complete(deal) != (deal in self._finished)}
            self._finished ^= changed & self._event.expected.keys()

    def complete(self, deal: int) -> bool:
        """Return whether every table, those of other halls included, has played the deal."""
        return self.of_deal[deal] == self.expected[deal] and (self._elsewhere is None or deal in self._elsewhere)

    def release(self, elsewhere: frozenset[int]) -> frozenset[int]:
        """Set the deals that all halls have played. Return those that have become complete or incomplete."""
        before, self._finished = self.all_complete(), None
        self._elsewhere = elsewhere
        return before ^ self.all_complete()

    def rounds_over(self) -> int:
        """Return the last round up to which every planned play is settled, or 0."""
        over = takewhile(lambda one: self.of_round[one[0]] == one[1], self._planned_in_rounds)
        return max((round_ for round_, _ in over), default=0)

    @cached_property
    def _planned_in_rounds(self) -> list[tuple[int, int]]:
        return sorted(Counter(round_ for _, round_ in self._event.bookings).items())

    def all_complete(self) -> frozenset[int]:
        """Return the deals that every table has played. They are computed once, and then kept up to date."""
        if self._finished is None:
            self._finished = frozenset(deal for deal in self._event.expected if self.complete(deal))
        return self._finished


class _Opened(NamedTuple):
    """An open part, and what it was made from."""

    parts: Mapping[int, tuple[object, ...]]
    others: tuple[object, ...]
    snapshot: Snapshot


class Embargo:
    """Makes the open part of a snapshot. It is updated only if something open has changed, and only by the difference.

    For successive snapshots of one event, in one thread only.
    """

    def __init__(self) -> None:
        self._last: _Opened | None = None

    def open_part(self, snapshot: Snapshot) -> Snapshot:
        """Return the same snapshot without any deal that a table has yet to play."""
        parts = {deal: snapshot.parts(deal) for deal in snapshot.complete}
        if self._last and [*self._last.snapshot.event.players] != [*snapshot.event.players]:
            self._last = None  # its totals are of other players
        settings = snapshot.deadline, snapshot.declared, snapshot.stand_ins, snapshot.event, snapshot.rounds_over
        others, last = (*snapshot.adjustments, *settings, snapshot.skipped), self._last
        if last is None or last.parts != parts or last.others != others:  # a group is equal only to itself
            last = self._last = _Opened(parts, others, self._opened(snapshot, parts))
        return last.snapshot

    def _opened(self, snapshot: Snapshot, parts: Mapping[int, tuple[object, ...]]) -> Snapshot:
        whole, last = snapshot.ledger, self._last
        rows = {key: row for key, row in whole.rows.items() if key[0] in parts}
        unplayed = {key: play for key, play in whole.unplayed.items() if key[0] in parts}
        size, fractions = len(whole.entries.number), whole.profile.imp.method.value == "cross"
        totals = last.snapshot.ledger.totals.resized(size) if last else Totals.zero(size, fractions=fractions)
        for before in (last,) if last else ():
            removed = [deal for deal, parts_then in before.parts.items() if parts.get(deal) != parts_then]
            _add(totals, before.snapshot, removed, -1)
            totals.adjust(
                (Adjustment(one.name, -one.imp, -one.fine) for one in before.snapshot.adjustments), whole.entries
            )
        added = [deal for deal, now in parts.items() if last is None or last.parts.get(deal) != now]
        _add(totals, snapshot, added, 1)
        totals.adjust(snapshot.adjustments, whole.entries)
        return replace(snapshot, ledger=Ledger(whole.profile, whole.entries, totals, rows, unplayed))


class PublicPart:
    """Tracks what is public of an event's deals, which excludes any deal that a table has yet to play.

    Public messages have a numbering of their own: from the journal's height, or from gaps between ids, readers could
    count what is hidden.
    """

    def __init__(self) -> None:
        self.embargo = Embargo()
        self._ids = uuid.uuid4().hex[:20]
        self._number = 0
        """Number of the last message."""
        self._hashes: dict[str, bytes] = {}
        """Hashes of the last published messages, by topic."""
        self._deals: set[int] = set()
        """Deals that are public now."""
        self.changed = self._final = False
        """Whether the standings have changed since they were published, and whether they were final then."""

    def begin(self, deals: Iterable[int]) -> None:
        """Assume that these deals are public: the broker may still retain some that are now under embargo again.

        Everything is published again, because a broker may have lost it.
        """
        self._hashes.clear()
        self._deals.update(deals)

    def follow(self, deals: Iterable[int], complete: Callable[[int], bool]) -> tuple[set[int], set[int]]:
        """Update changed deals. Return those that are no longer public, and those that are."""
        shown = {deal for deal in deals if complete(deal)}
        withdrawn = {deal for deal in deals if deal in self._deals and deal not in shown}
        self._deals = (self._deals | shown) - withdrawn
        self.changed |= bool(shown or withdrawn)
        return withdrawn, shown

    def numbered(self, topic: str, message: PublicMessage) -> PublicMessage | None:
        """Return a message with its number, or None if the last one on this topic had the same content."""
        digest = sha256(encode(structs.replace(message, id=self._ids, seq=0))).digest()
        if self._hashes.get(topic) == digest:
            return None
        self._hashes[topic] = digest
        self._number += 1
        return structs.replace(message, id=f"{self._ids}{self._number:012x}", seq=self._number)

    def standings_changed(self, *, final: bool) -> bool:
        """Return whether to publish the standings, and assume that it is done."""
        changed, self.changed = self.changed or final != self._final, False
        self._final = final
        return changed


def open_part(snapshot: Snapshot) -> Snapshot:
    """Return the part of a snapshot that is not under embargo."""
    return Embargo().open_part(snapshot)


def _add(totals: Totals, snapshot: Snapshot, deals: Iterable[int], sign: int) -> None:
    """Add the results of some deals of a snapshot, or (sign -1) subtract them."""
    for deal in deals:
        rows, unplayed = snapshot.by_deal.get(deal, ()), snapshot.unplayed.get(deal, ())
        for row in rows:
            totals.count(row, sign)
        for play in _ruled(rows, unplayed):
            totals.count_rulings(play, snapshot.ledger.entries, sign)


def _ruled(rows: Iterable[GroupRow], unplayed: Iterable[ScoredPlay]) -> Iterable[ScoredPlay]:
    for row in rows:
        yield from (play for play in row.group.members if play.fines or play.awards)
    yield from unplayed


def repeated_deals(
    event: Event, results: Mapping[PlayKey, LogMessage], ruled: Mapping[PlayKey, CountedPlay]
) -> tuple[RepeatedDeal, ...]:
    """Return all plays that repeat a deal for a player, by rounds. `ruled`: plays with rulings, as they count.

    A void or adjusted play no longer counts. If each player who had played the deal has an award, even of zero, an
    arbiter has ruled that the play stands.
    """
    deals = {counted.deal for key, counted in ruled.items() if out_of_place(event, key, counted)}
    found = [one for deal in deals for one in _repeated(event, deal, results, ruled)]
    return tuple(sorted(found, key=lambda one: (one.round, one.table)))


def planned_play(event: Event, key: PlayKey) -> CountedPlay:
    """Return a play as planned, without result or ruling."""
    booking = event.places[key]
    return CountedPlay(
        table=key[0],
        round=key[1],
        planned=booking.deal,
        deal=booking.deal,
        players=booking.players,
        section=event.section_at(*key),
    )


def out_of_place(event: Event, key: PlayKey, counted: CountedPlay) -> bool:
    """Return whether another deal was played than planned, or other players played it."""
    return counted.deal != counted.planned or set(counted.players.values()) != set(event.bookings[key].players.values())


def _repeated(
    event: Event, deal: int, results: Mapping[PlayKey, LogMessage], ruled: Mapping[PlayKey, CountedPlay]
) -> Iterator[RepeatedDeal]:
    plays: dict[PlayKey, Mapping[Seat, str]] = {
        key: counted.players for key, counted in ruled.items() if counted.deal == deal and counted.was_played
    }
    unruled = (key for key in event.plays_with(deal) if key in results and key not in ruled)
    plays |= {key: result_of(results[key]).players for key in unruled}
    played: set[str] = set()
    for table, round_ in sorted(plays, key=lambda key: (key[1], key[0])):
        seats = plays[table, round_]
        again = played & set(seats.values())
        counted = ruled.get((table, round_))
        counts = counted is None or (counted.points is not None and not again <= counted.awards.keys())
        if again and counts:
            yield RepeatedDeal(table, round_, deal, seats, tuple(sorted(again)))
        played |= set(seats.values())


UNNAMED: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({})


class NamedStandings(Sequence[Standing]):
    """The lines of a ranking, with names. Each is made on access, because pages show only a few of thousands."""

    def __init__(
        self, ranking: Ranking, players: Mapping[str, Player], named: Mapping[str, tuple[str, str]] = UNNAMED
    ) -> None:
        self._ranking, self._players, self._named = ranking, players, named

    def __len__(self) -> int:
        return len(self._ranking)

    @overload
    def __getitem__(self, at: int) -> Standing: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Standing, ...]: ...

    def __getitem__(self, at: int | slice) -> Standing | tuple[Standing, ...]:
        if isinstance(at, slice):
            return standing_rows(self._ranking[at], self._players, self._named)
        return _row(self._ranking[at], self._players, self._named)

    def __iter__(self) -> Iterator[Standing]:
        return (_row(line, self._players, self._named) for line in self._ranking)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def standing_rows(
    ranked: Iterable[Ranked], players: Mapping[str, Player], named: Mapping[str, tuple[str, str]] = UNNAMED
) -> tuple[Standing, ...]:
    """Return the lines of the standings, with names. `named`: stage and section of each player's place."""
    return tuple(_row(line, players, named) for line in ranked)


def _row(line: Ranked, players: Mapping[str, Player], named: Mapping[str, tuple[str, str]]) -> Standing:
    stage, section = named.get(line.name, ("", ""))
    return Standing(
        place=line.place,
        player=line.name,
        name=players[line.name].name if line.name in players else line.name,
        imp=json_imp(line.imp),
        fines=line.fines,
        plays=line.plays,
        stage=stage,
        section=section,
    )


def team_rows(
    ranked: Iterable[Ranked], bounds: Mapping[str, Bounds], named: tuple[str, str] = ("", "")
) -> tuple[TeamStanding, ...]:
    """Return the lines of the teams' standings, with the places that each team can still reach.

    `named`: stage and section of the places.
    """
    return tuple(
        TeamStanding(
            place=line.place,
            team=line.name,
            imp=json_imp(line.imp),
            fines=line.fines,
            deals=line.plays,
            best=bounds[line.name].best,
            worst=bounds[line.name].worst,
            likely=bounds[line.name].likely,
            stage=named[0],
            section=named[1],
        )
        for line in ranked
    )


def staged_team_rows(
    event: Event,
    sections: Sequence[SectionStandings],
    complete: Callable[[int], bool],
    won: Sequence[Exact],
    stage: int | None = None,
) -> tuple[TeamStanding, ...]:
    """Return the lines for an event in stages, the latest stage first. `complete` returns whether a deal is complete.

    `won`: what teams have won in single deals. `stage`: only this one, including those who have gone on since.
    """
    rows: list[TeamStanding] = []
    for group, at in latest_first(one for one in sections if stage in {None, one.stage}):
        open_ = sum(stage == group.stage and not complete(deal) for deal, stage in event.stage_of_deal.items())
        bounds, lines = team_bounds(group.ranking, open_, event.profile, won), list(group.ranking)
        rows += team_rows((lines[one] for one in at), bounds, (event.plan.stages[group.stage].name, group.section))
    return tuple(rows)
