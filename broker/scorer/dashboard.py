"""The desk's view, built from the scorer's state; what has not changed since the last one is reused.

A line of a result is built when it is read, and kept while nothing that it shows has changed.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any, NamedTuple, overload

from broker.event import Event
from broker.protocol import SEATS, Imp, LogMessage, Name, Restored, Result, Seat, TableState
from broker.rulings import CountedPlay, PlayKey, StandIn, riichi_win_of, sitting_players
from broker.rulings.follow_ups import follow_ups
from broker.scorer.alerts import AlertBook
from broker.scorer.attendance import Attendance
from broker.scorer.devices import TableWatch
from broker.scorer.intake import Intake
from broker.scorer.snapshot import Snapshot
from broker.scorer.state import EventState
from broker.scorer.tables import Since, TableTimes
from broker.scorer.view import Attending, BesideView, DashboardView, PlayView, SeatView, TableView, Walls
from broker.scoring import ComparisonGroup, exact_quotient, json_imp


class _TableFacts(NamedTuple):
    """All that is shown of a table."""

    said: TableState | None
    seated: dict[Seat, Name]
    gaps: tuple[int, ...]
    plays_in: int
    calling: Since | None
    playing: Since | None
    pausing: Since | None
    restored: Restored | None
    attended: Attending | None


class _ArrivalLine(NamedTuple):
    """A line beside all that it was made from."""

    message: LogMessage
    group: ComparisonGroup | None
    provisional: bool
    named: tuple[tuple[StandIn, ...], Event]
    """Who sits there, and how they are called."""
    play: PlayView


_ArrivalLines = dict[PlayKey, _ArrivalLine]
"""By table and round."""

_Settled = tuple[LogMessage | PlayKey, ...]
"""Results, and the plays that were settled without one."""


class Arrivals(Sequence[PlayView]):
    """All plays of one moment that are settled, newest first: results, before them what was ruled in their place.

    Equal to any sequence of equal lines; may be read from any thread.
    """

    def __init__(self, moment: Snapshot, lines: _ArrivalLines, told: _Settled | None = None) -> None:
        """`lines` are shared between moments: what one has made, the next takes from there if it still holds.

        `told`: of all plays these alone.
        """
        self.moment, self._lines = moment, lines
        self._told: _Settled = (*moment.results.values(), *moment.instead) if told is None else told

    def of_complete_deals(self) -> "Arrivals":
        """Return those of deals that all their tables have played."""
        return Arrivals(
            self.moment, self._lines, tuple(told for told in self._told if self._deal(told) in self.moment.complete)
        )

    def places(self) -> set[PlayKey]:
        """Return table and round of each; no line is made for it."""
        return {(told.table, told.fact.round) if isinstance(told, LogMessage) else told for told in self._told}

    def _deal(self, told: LogMessage | PlayKey) -> int:
        key = (told.table, told.fact.round) if isinstance(told, LogMessage) else told
        if isinstance(told, LogMessage) and key not in self.moment.ruled:
            return told.fact.deal
        return self.moment.ruled[key][0].deal

    def __len__(self) -> int:
        return len(self._told)

    @overload
    def __getitem__(self, at: int) -> PlayView: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[PlayView, ...]: ...

    def __getitem__(self, at: int | slice) -> PlayView | tuple[PlayView, ...]:
        if isinstance(at, slice):
            return tuple(self[one] for one in range(len(self))[at])
        return self._play(self._told[-1 - range(len(self))[at]])

    def __iter__(self) -> Iterator[PlayView]:
        return map(self._play, reversed(self._told))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self._told)

    def _play(self, told: LogMessage | PlayKey) -> PlayView:
        return self._entered(told) if isinstance(told, LogMessage) else self._unentered(told)

    def _unentered(self, key: PlayKey) -> PlayView:
        """Return a play that was settled without a result of its table: keyed from paper, adjusted or void."""
        return self._as_ruled(self.moment.instead[key], None, *self.moment.ruled[key])

    def _entered(self, message: LogMessage) -> PlayView:
        fact = message.fact
        if not isinstance(fact, Result):
            raise TypeError(f"not a result: {message.id}")
        if ruled := self.moment.ruled.get((message.table, fact.round)):
            return self._as_ruled(message.at, fact, *ruled)
        group, provisional = self._group(message.table, fact), fact.deal not in self.moment.complete
        had = self._lines.get((message.table, fact.round))
        named = self.moment.stand_ins, self.moment.event
        if had and had.message is message and had.group is group and had[2:4] == (provisional, named):
            return had.play
        play = self._made(message, fact, group, provisional=provisional)
        self._lines[message.table, fact.round] = _ArrivalLine(message, group, provisional, named, play)
        return play

    def _as_ruled(self, at: int, entered: Result | None, laid: CountedPlay, kinds: tuple[str, ...]) -> PlayView:
        """Return a play as it counts: what was entered is shown where its points do not count."""
        rows = (row for row in self.moment.by_deal.get(laid.deal, ()) if row.of_table(laid.line))
        group = next((row.group for row in rows if len(row.group.members) > 1), None)
        imp = _imps(group, laid.line, {}) if group and laid.points is not None else {}
        points = laid.points or (entered.points if entered else dict.fromkeys(SEATS, 0))
        name = self.moment.event.name_of
        return PlayView(
            at=at,
            table=laid.table,
            round=laid.round,
            deal=laid.deal,
            win=laid.win or (entered.win if entered else None),
            discarder=laid.discarder,
            provisional=laid.deal not in self.moment.complete,
            ruled=kinds,
            counts=laid.points is not None,
            seats={
                seat: SeatView(
                    player=player,
                    name=name(player),
                    points=points[seat],
                    hand_value=laid.winners.get(seat),
                    worth=riichi_win_of(laid.winners, laid.hand, seat),
                    fine=laid.fines.get(player, 0),
                    imp=_imp_in_all(laid, player, imp.get(seat)),
                    sat=self.moment.sat(player, laid.round),
                )
                for seat, player in laid.players.items()
            },
        )

    def _group(self, table: int, result: Result) -> ComparisonGroup | None:
        """Return what a play is compared with; None where there is nothing yet."""
        groups = (row.group for row in self.moment.by_deal.get(result.deal, ()) if row.of_table(table))
        return next((group for group in groups if len(group.members) > 1), None)

    def _made(
        self, message: LogMessage, result: Result, group: ComparisonGroup | None, *, provisional: bool
    ) -> PlayView:
        fines = {seat: fine.imp for seat, fine in result.fines.items()}
        imp = _imps(group, message.table, fines) if group else {}
        return PlayView(
            at=message.at,
            table=message.table,
            round=result.round,
            deal=result.deal,
            win=result.win,
            discarder=result.discarder,
            provisional=provisional,
            seats={
                seat: SeatView(
                    player=player,
                    name=self.moment.event.players[player].name,
                    points=result.points[seat],
                    hand_value=result.winners.get(seat),
                    worth=riichi_win_of(result.winners, result.hand, seat),
                    fine=fines.get(seat, 0),
                    imp=imp.get(seat),
                    sat=self.moment.sat(player, result.round),
                )
                for seat, player in result.players.items()
            },
        )


class DashboardBuilder:
    """Makes views, one after the other. A change at one table costs that table's card, and not the room."""

    def __init__(self, event: Event, times: TableTimes, attended: Attendance) -> None:
        self._event, self._times, self._attended = event, times, attended
        self._lines: _ArrivalLines = {}
        self._cards: dict[int, tuple[_TableFacts, TableView]] = {}
        self._stale = set(event.tables)
        self._tables: tuple[TableView, ...] = ()
        self._arrivals: tuple[Snapshot, Arrivals] | None = None
        self._following: tuple[object, int] = (None, 0)

    def changed(self, tables: Iterable[int] | None = None) -> None:
        """Look at these tables again for the next view: something was heard of them. None: at all."""
        self._stale.update(self._event.tables if tables is None else tables)

    def view(
        self,
        room: EventState,
        intake: Intake,
        watch: TableWatch,
        alerts: AlertBook,
        *,
        version: int,
        connected: bool,
    ) -> DashboardView:
        """Return the whole room at this moment."""
        event, moment = room.event, room.moment()
        return DashboardView(
            version=version,
            event=event.name,
            title=event.plan.title,
            profile=event.profile.id,
            connected=connected,
            final=room.final,
            plays_in=room.plays_in,
            corrections_until=room.book.deadline,
            plays_expected=len(event.plan.plays),
            tables=self._all_cards(room, intake, watch),
            plays=self._plays(moment),
            standings=moment.standings,
            teams=moment.teams,
            deals_left_out=moment.left_out,
            follow_ups=self._follow_ups(room),
            beside=tuple(BesideView(one.name, int(one.imp) - one.fine, one.fine) for one in moment.adjustments),
            alerts=self._attended.alerts(alerts.newest_first()),
        )

    def _all_cards(self, room: EventState, intake: Intake, watch: TableWatch) -> tuple[TableView, ...]:
        for table in self._stale & intake.books.keys():
            self._card(table, self._known(room, intake, watch, table))
        if self._stale:
            self._stale.clear()
            self._tables = tuple(self._cards[table][1] for table in self._event.tables)
        return self._tables

    def _follow_ups(self, room: EventState) -> int:
        """Count what follows from rulings: anew only after a ruling, or after a result of a deal out of place."""
        deals = {laid.deal for laid in room.out_of_place()}
        known = len(room.book.entries), {deal: room.plays_of(deal) for deal in deals}
        if self._following[0] != known:
            self._following = known, len(follow_ups(self._event, room)) if deals else 0
        return self._following[1]

    def _plays(self, moment: Snapshot) -> Arrivals:
        if self._arrivals is None or self._arrivals[0] is not moment:
            self._arrivals = moment, Arrivals(moment, self._lines)
        return self._arrivals[1]

    def _known(self, room: EventState, intake: Intake, watch: TableWatch, table: int) -> _TableFacts:
        said, times = watch.states.get(table), self._times
        booking = self._event.bookings.get((table, said.round)) if said and said.round else None
        seated = (room.seatings.of((table, said.round)) if said and said.round else None) or (
            booking and booking.players
        )
        there = sitting_players(room.event, room.book, said.round, seated) if said and said.round and seated else {}
        names = {seat: player.name for seat, player in there.items()}
        calling = times.calling.get(table)
        return _TableFacts(
            said,
            names,
            intake.books[table].gaps(),
            room.plays_at(table),
            calling,
            times.playing.get(table),
            times.pausing.get(table),
            times.restored.get(table),
            self._attended.call(table, calling.at if calling else None) if said and said.calling else None,
        )

    def _card(self, table: int, known: _TableFacts) -> None:
        had = self._cards.get(table)
        if had is None or had[0].said is not known.said or had[0][1:] != known[1:]:
            self._cards[table] = known, _table(self._event, table, known)


def _table(event: Event, table: int, known: _TableFacts) -> TableView:
    said = known.said
    return TableView(
        table=table,
        lifecycle=said.lifecycle if said else None,
        state=said.state if said else None,
        round=said.round if said else None,
        deal=said.deal if said else None,
        unsent=said.unsent if said else 0,
        calling=said.calling if said else False,
        health=dict(said.health) if said else {},
        gaps=known.gaps,
        plays_in=known.plays_in,
        plays_expected=event.expected_at[table],
        players=known.seated,
        paused=said.paused if said else False,
        ordered=said.ordered if said else 0,
        obeyed=dict(said.obeyed) if said else {},
        pin=said.pin if said else None,
        extra_min=said.extra_min if said else 0,
        arbiter=said.arbiter if said else None,
        calling_since=known.calling.at if known.calling else None,
        attended=known.attended,
        playing_since=_playing_since(known.playing, said),
        minutes=said.minutes if said else None,
        pausing_since=known.pausing.at if known.pausing else None,
        stood_ms=said.stood_ms if said else None,
        played_ms=said.played_ms if said else None,
        walls=_walls(event, known.restored, said),
    )


def _playing_since(playing: Since | None, said: TableState | None) -> int | None:
    """Return since when the present play goes on: a table that is in another round has not begun it."""
    return playing.at if playing and said and playing.round == said.round else None


def _walls(event: Event, restored: Restored | None, said: TableState | None) -> Walls | None:
    """Return what is the matter with the walls of a table's present play."""
    if restored is None or said is None or (restored.round, restored.deal) != (said.round, said.deal):
        return None
    if restored.form != event.form(restored.deal):
        return "fouled"
    return None if restored.verified else "unverified"


TABLE = attrgetter("table")


def _imp_in_all(laid: CountedPlay, player: str, compared: Imp | None) -> Imp | None:
    """Return what a play gives a player in all; None where it is compared with nothing, and nothing was given."""
    given = laid.awards.get(player, 0) + laid.instead.get(player, 0) - laid.fines.get(player, 0)
    if compared is None and laid.points is not None and not given:
        return None
    return json_imp(Fraction(compared or 0) + given)


def _imps(group: ComparisonGroup, table: int, fines: dict[Seat, int]) -> dict[Seat, Imp]:
    """Return the IMPs of a play's seats, after fines."""
    row: list[Any] = group.imps[bisect_left(group.members, table, key=TABLE)].tolist()
    return {
        seat: json_imp(exact_quotient(value, group.over) - fines.get(seat, 0))
        for seat, value in zip(SEATS, row, strict=True)
    }
