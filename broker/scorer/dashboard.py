"""The desk's view, built from the scorer's state. Unchanged parts of the last view are reused.

The line of a result is built when it is read, and reused while nothing that it shows has changed.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any, Final, NamedTuple, overload

from msgspec.structs import replace

from broker.event import Event
from broker.halls.centre import Centre, HallView
from broker.protocol import SEATS, Imp, LogMessage, Result, Seat, TableState
from broker.rulings import (
    CountedPlay,
    PlayKey,
    StandIn,
    apply_rulings,
    result_of,
    riichi_win_of,
    sitting_players,
)
from broker.rulings.follow_ups import follow_ups
from broker.scorer.live_event import LiveEvent
from broker.scorer.publisher import Throttle, is_large
from broker.scorer.quarantine import WAITS
from broker.scorer.snapshot import Snapshot, planned_play
from broker.scorer.space import DiskLevel
from broker.scorer.tables import RestoredWalls
from broker.scorer.view import (
    AdjustmentView,
    AnchorView,
    DashboardView,
    HallContact,
    PlayView,
    SeatView,
    TableView,
    ViewFeed,
    Walls,
)
from broker.scorer.whole_plays import WholePlay, message_of_result
from broker.scoring import ComparisonGroup, exact_quotient, json_imp
from broker.version import program_version

STATE_FIELDS: Final = tuple({*TableState.__struct_fields__} & {*TableView.__struct_fields__} - {"table"})
"""Fields of a table's card that are copied from its last state."""

VIEW_PAUSE_S: Final = 0.05
"""Shortest interval between views in a large event, instead of one view per message. No page updates faster."""


class _ArrivalLine(NamedTuple):
    """A line, with everything it was made from."""

    source: LogMessage | WholePlay
    group: ComparisonGroup | None
    provisional: bool
    named: tuple[tuple[StandIn, ...], Event]
    """Substitutes, and the event with the players' names."""
    play: PlayView


_ArrivalLines = dict[PlayKey, _ArrivalLine]
"""Lines by table and round."""

_Settled = tuple[LogMessage | WholePlay | PlayKey, ...]
"""Results, and the keys of plays that were settled without one."""


class Arrivals(Sequence[PlayView]):
    """All settled plays of a snapshot, newest first: results, preceded by rulings that stand in for a result.

    Equal to any sequence of equal lines. May be read from any thread.
    """

    def __init__(self, snapshot: Snapshot, lines: _ArrivalLines, settled: _Settled | None = None) -> None:
        """`lines` are shared between snapshots, so that a line that is still valid is not made again.

        `settled`: only these plays instead of all.
        """
        self.snapshot, self._lines = snapshot, lines
        self._settled: _Settled = (*snapshot.results.by_key.values(), *snapshot.instead) if settled is None else settled

    def of_complete_deals(self) -> "Arrivals":
        """Return the plays of deals that all their tables have played."""
        return Arrivals(
            self.snapshot, self._lines, tuple(one for one in self._settled if self._deal(one) in self.snapshot.complete)
        )

    def places(self) -> set[PlayKey]:
        """Return the table and round of each play, without making the lines."""
        return {*map(_key_of, self._settled)}

    def _deal(self, play: LogMessage | WholePlay | PlayKey) -> int:
        if isinstance(play, tuple) or _key_of(play) in self.snapshot.ruled:
            return self.snapshot.ruled[_key_of(play)][0].deal
        return play.deal if isinstance(play, WholePlay) else play.fact.deal

    def __len__(self) -> int:
        return len(self._settled)

    @overload
    def __getitem__(self, at: int) -> PlayView: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[PlayView, ...]: ...

    def __getitem__(self, at: int | slice) -> PlayView | tuple[PlayView, ...]:
        if isinstance(at, slice):
            return tuple(self[one] for one in range(len(self))[at])
        return self._play(self._settled[-1 - range(len(self))[at]])

    def __iter__(self) -> Iterator[PlayView]:
        return map(self._play, reversed(self._settled))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Sequence) and tuple(self) == tuple(other))

    def __hash__(self) -> int:
        return hash(self._settled)

    def _play(self, play: LogMessage | WholePlay | PlayKey) -> PlayView:
        if isinstance(play, tuple):  # settled without a result from its table: keyed from paper, adjusted or void
            return self._line(self.snapshot.instead[play], None, *self.snapshot.ruled[play])
        return self._entered(play)

    def _entered(self, source: LogMessage | WholePlay) -> PlayView:
        key, event = _key_of(source), self.snapshot.event
        if ruled := self.snapshot.ruled.get(key):
            return self._line(source.at, result_of(message_of_result(source)), *ruled)
        deal, named = self._deal(source), (self.snapshot.stand_ins, event)
        group, provisional = self._group(key[0], deal), deal not in self.snapshot.complete
        last = self._lines.get(key)
        if last and last.source is source and last.group is group and last[2:4] == (provisional, named):
            return last.play
        counted = apply_rulings(planned_play(event, key), message_of_result(source), (), event.profile.awards)
        play = self._line(source.at, None, counted)
        self._lines[key] = _ArrivalLine(source, group, provisional, named, play)
        return play

    def _line(self, at: int, entered: Result | None, play: CountedPlay, kinds: tuple[str, ...] = ()) -> PlayView:
        """Return a play as it counts. If its points do not count, the entered ones are shown."""
        group = self._group(play.scoring_table, play.deal)
        imp = _imps(group, play.scoring_table) if group and play.points is not None else {}
        points = play.points or (entered.points if entered else dict.fromkeys(SEATS, 0))
        name = self.snapshot.event.name_of
        return PlayView(
            at=at,
            table=play.table,
            round=play.round,
            deal=play.deal,
            win=play.win or (entered.win if entered else None),
            discarder=play.discarder,
            provisional=play.deal not in self.snapshot.complete,
            ruled=kinds,
            counts=play.points is not None,
            seats={
                seat: SeatView(
                    player=player,
                    name=name(player),
                    points=points[seat],
                    hand_value=play.winners.get(seat),
                    worth=riichi_win_of(play.winners, play.hand, seat),
                    fine=play.fines.get(player, 0),
                    imp=_imp_in_all(play, player, imp.get(seat)),
                    sat=self.snapshot.sat(player, play.round),
                )
                for seat, player in play.players.items()
            },
        )

    def _group(self, table: int, deal: int) -> ComparisonGroup | None:
        """Return the group with which a play is compared, or None if there is no other play in it yet."""
        groups = (row.group for row in self.snapshot.by_deal.get(deal, ()) if row.of_table(table))
        return next((group for group in groups if len(group.members) > 1), None)


def _key_of(play: LogMessage | WholePlay | PlayKey) -> PlayKey:
    if isinstance(play, tuple):
        return play
    return play.key if isinstance(play, WholePlay) else (play.table, play.fact.round)


class Dashboard:
    """Publishes the desk's view: at once, or in a large event no more often than a page updates.

    A change at one table rebuilds only that table's card. `snapshot` and `feed` may be read from any thread.
    """

    def __init__(self, live: LiveEvent, anchor: Callable[[], str], seconds: Callable[[], float]) -> None:
        """`anchor` returns the anchor of what is stored now."""
        self._live, self._new_anchor = live, anchor
        self._version = 0
        self.disk: DiskLevel = "ample"
        self.due = Throttle(VIEW_PAUSE_S if is_large(self._event) else 0.0, seconds, time.thread_time)
        self._lines: _ArrivalLines = {}
        self._cards: dict[int, TableView] = {}
        self._stale = set(self._event.tables)
        self._tables: tuple[TableView, ...] = ()
        self._lost: dict[int, int] = {}
        """Number of messages lost from the store, by table, where not zero."""
        self._apart: dict[int, int] = {}
        """Number of plays kept apart and still to be decided, by table, where not zero."""
        self._hall_of: Mapping[int, str] = {}
        """The hall of each table at the time of the counts below."""
        self._plays_in, self._expected = Counter[str](), Counter[str]()
        """Plays recorded and plays expected, by hall."""
        self._arrivals: Arrivals | None = None
        self._follow_ups: tuple[object, int] = (None, 0)
        self._anchor: AnchorView | None = None
        self._contacts: dict[str, HallContact] = {}
        """At the centre: contact with the halls heard from."""
        self.snapshot = live.state.snapshot()
        self.feed = ViewFeed(self.view())

    def show(self) -> None:
        """Publish what has changed, as soon as a view is due."""
        self.snapshot = self._live.state.snapshot()
        self.due.ask()
        self.show_if_due()

    def show_if_due(self) -> None:
        """Publish the pending view, if it is due."""
        if self.due.due():
            self._version += 1
            self.feed.publish(self.view())
            self.due.done()

    @property
    def _event(self) -> Event:
        return self._live.state.planned

    def changed(self, tables: Iterable[int] | None = None) -> None:
        """Mark the cards of these tables (None: of all) to be rebuilt for the next view."""
        self._stale.update(self._event.tables if tables is None else tables)

    def view(self) -> DashboardView:
        """Return the current view of the whole event."""
        state = self._live.state
        event, snapshot = state.event, state.snapshot()
        return DashboardView(
            version=self._version,
            event=event.name,
            title=event.plan.title,
            profile=event.profile.id,
            connected=self._live.connected,
            disk=self.disk,
            anchor=self._anchor_of_round(),
            final=state.final,
            plays_in=state.plays_in,
            corrections_until=state.book.deadline,
            plays_expected=len(event.plan.plays),
            tables=self._all_cards(),
            plays=self._plays(snapshot),
            standings=snapshot.standings,
            teams=snapshot.teams,
            deals_left_out=snapshot.left_out,
            follow_ups=self._count_follow_ups(),
            apart=sum(self._apart.values()),
            beside=tuple(AdjustmentView(one.name, int(one.imp) - one.fine, one.fine) for one in snapshot.adjustments),
            alerts=self._live.attendance.alerts(self._live.alerts.newest_first()),
            lost=sum(self._lost.values()) + len(self._live.homes.rulings_missing),
            centre=self._live.hall.view() if self._live.hall else None,
            halls=tuple(self._halls(self._live.centre)) if self._live.centre else (),
        )

    def _halls(self, centre: Centre) -> Iterator[HallView]:
        """Yield the status of each hall, with the counts of its tables' plays."""
        if self._hall_of is not centre.hall_of:
            self._hall_of = centre.hall_of
            self._plays_in.clear()
            self._expected.clear()
            for table in self._tables:
                self._count_in_hall(table)
        for one in centre.views():
            yield replace(one, plays_in=self._plays_in[one.name], plays_expected=self._expected[one.name])

    def _count_in_hall(self, table: TableView, sign: int = 1) -> None:
        hall = self._hall_of.get(table.table, "")
        self._plays_in[hall] += sign * table.plays_in
        self._expected[hall] += sign * table.plays_expected

    def _lost_of(self, table: int) -> int:
        """Return how many stored facts of a table are lost, by the store's own faults or the table's receipts."""
        book = self._live.intake.books[table]
        named = sum(height is None for height in book.requested.values())
        return named + max(0, self._live.devices.receipted(table) - book.upto)

    def _follow_halls(self, centre: Centre) -> None:
        """Mark the cards of a hall's tables to be rebuilt when contact with the hall is made or lost."""
        now: dict[str, HallContact] = {
            one.name: "away" if one.silent or one.lifecycle == "gone" else "there"
            for one in centre.views()
            if one.lifecycle
        }
        changed = {name for name, _ in now.items() ^ self._contacts.items()}
        self._contacts = now
        self._stale.update(table for table in self._event.tables if centre.hall_of.get(table) in changed)

    def _all_cards(self) -> tuple[TableView, ...]:
        if self._live.centre:
            self._follow_halls(self._live.centre)
        for table in self._stale & self._live.intake.books.keys():
            card, before = self._card(table), self._cards.get(table)
            if card != before:
                self._cards[table] = card
                self._count_in_hall(card)
                if before:
                    self._count_in_hall(before, -1)
            apart = sum(WAITS not in one.codes for one in self._live.state.apart_plays(table))
            for counts, count in ((self._lost, self._lost_of(table)), (self._apart, apart)):
                if count:
                    counts[table] = count
                else:
                    counts.pop(table, None)
        if self._stale:
            self._stale.clear()
            self._tables = tuple([self._cards[table] for table in self._event.tables])
        return self._tables

    def _anchor_of_round(self) -> AnchorView | None:
        """Return the anchor of the last complete round, made when its completion was noticed."""
        over = self._live.state.rounds_over()
        if over != (self._anchor.round if self._anchor else 0):
            self._anchor = AnchorView(over, self._new_anchor()) if over else None
        return self._anchor

    def _count_follow_ups(self) -> int:
        """Count the follow-ups of rulings; recount only after a ruling, or after a result of a deal out of place."""
        state = self._live.state
        deals = {play.deal for play in state.out_of_place()}
        basis = len(state.book.entries), {deal: state.plays_of(deal) for deal in deals}
        if self._follow_ups[0] != basis:
            self._follow_ups = basis, len(follow_ups(self._event, state)) if deals else 0
        return self._follow_ups[1]

    def _plays(self, snapshot: Snapshot) -> Arrivals:
        if self._arrivals is None or self._arrivals.snapshot is not snapshot:
            self._arrivals = Arrivals(snapshot, self._lines)
        return self._arrivals

    def _card(self, table: int) -> TableView:
        """Return a table's current card, with the values that the table reported last."""
        live, state, last = self._live, self._live.state, self._live.devices.states.last.get(table)
        key = table, last.round if last and last.round else self._next_round(table)
        booking = self._event.bookings.get(key) or self._event.riichi.get(key)
        seated = state.tables.seatings.of(key) or (booking and booking.players)
        sitting = sitting_players(state.event, state.book, key[1], seated) if seated else {}
        times = state.tables.times
        call, playing, pausing = (began.get(table) for began in (times.calling, times.playing, times.pausing))
        return TableView(
            table=table,
            gaps=live.intake.books[table].gaps(),
            plays_in=state.plays_at(table),
            plays_expected=self._event.expected_at[table],
            players={seat: player.name for seat, player in sitting.items()},
            calling_since=call.at if call else None,
            attended=live.attendance.call(table, call.at if call else None) if last and last.calling else None,
            playing_since=playing.at if playing and last and playing.round == last.round else None,
            pausing_since=pausing.at if pausing else None,
            walls=_walls(self._event, times.restored.get(table), last),
            silent=table in live.devices.liveness.silent,
            hall=self._contacts.get(live.centre.hall_of.get(table, "")) if live.centre else None,
            other_version=last.version if last and last.version != program_version() else None,
            **{name: getattr(last, name) for name in STATE_FIELDS} if last else {},
        )

    def _next_round(self, table: int) -> int:
        """Return the first round in which a table still has something to enter, or 0 if there is none."""
        recorded = self._live.state.recorded(table)
        planned = {*self._event.rounds_at.get(table, ()), *(round_ for at, round_ in self._event.riichi if at == table)}
        return min(planned.difference(recorded), default=0)


def _walls(event: Event, restored: RestoredWalls | None, state: TableState | None) -> Walls | None:
    """Return what is wrong with the walls of a table's current play, if anything."""
    if restored is None or state is None or (restored.round, restored.deal) != (state.round, state.deal):
        return None
    if restored.form != event.form(restored.deal):
        return "fouled"
    return None if restored.verified else "unverified"


TABLE = attrgetter("table")


def _imp_in_all(play: CountedPlay, player: str, compared: Imp | None) -> Imp | None:
    """Return the total IMPs of a play for a player, or None if it is not compared and nothing was ruled."""
    ruled = play.awards.get(player, 0) + play.replacement_imps.get(player, 0) - play.fines.get(player, 0)
    if compared is None and play.points is not None and not (ruled and play.rulings):
        return None
    return json_imp(Fraction(compared or 0) + ruled)


def _imps(group: ComparisonGroup, table: int) -> dict[Seat, Imp]:
    """Return the IMPs of a play's seats, before fines and awards."""
    row: list[Any] = group.imps[bisect_left(group.members, table, key=TABLE)].tolist()
    return {seat: json_imp(exact_quotient(value, group.divisor)) for seat, value in zip(SEATS, row, strict=True)}
