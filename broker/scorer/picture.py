"""The desk's view, made from what the scorer knows; what has not changed since the last one is taken from there."""

from collections.abc import Iterable
from typing import NamedTuple

from broker.contract.facts import Restored
from broker.contract.messages import TableState
from broker.contract.words import Name, Seat
from broker.scorer.alerts import AlertBook, TableWatch
from broker.scorer.arrivals import Arrivals, Lines
from broker.scorer.attended import Attended
from broker.scorer.event import Event
from broker.scorer.intake import Intake
from broker.scorer.moment import Moment
from broker.scorer.room import Room
from broker.scorer.rulings.absences import sitting
from broker.scorer.rulings.follow_ups import follow_ups
from broker.scorer.times import Since, TableTimes
from broker.scorer.view import Attending, BesideView, TableView, View, Walls


class Known(NamedTuple):
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


class Picture:
    """Makes views, one after the other. A change at one table costs that table's card, and not the room."""

    def __init__(self, event: Event, times: TableTimes, attended: Attended) -> None:
        self._event, self._times, self._attended = event, times, attended
        self._lines: Lines = {}
        self._cards: dict[int, tuple[Known, TableView]] = {}
        self._stale = set(event.tables)
        self._tables: tuple[TableView, ...] = ()
        self._arrivals: tuple[Moment, Arrivals] | None = None
        self._following: tuple[object, int] = (None, 0)

    def changed(self, tables: Iterable[int] | None = None) -> None:
        """Look at these tables again for the next view: something was heard of them. None: at all."""
        self._stale.update(self._event.tables if tables is None else tables)

    def view(
        self,
        room: Room,
        intake: Intake,
        watch: TableWatch,
        alerts: AlertBook,
        *,
        version: int,
        connected: bool,
    ) -> View:
        """Give the whole room at this moment."""
        event, moment = room.event, room.moment()
        return View(
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

    def _all_cards(self, room: Room, intake: Intake, watch: TableWatch) -> tuple[TableView, ...]:
        for table in self._stale & intake.books.keys():
            self._card(table, self._known(room, intake, watch, table))
        if self._stale:
            self._stale.clear()
            self._tables = tuple(self._cards[table][1] for table in self._event.tables)
        return self._tables

    def _follow_ups(self, room: Room) -> int:
        """Count what follows from rulings: anew only after a ruling, or after a result of a deal out of place."""
        deals = {laid.deal for laid in room.out_of_place()}
        known = len(room.book.entries), {deal: room.plays_of(deal) for deal in deals}
        if self._following[0] != known:
            self._following = known, len(follow_ups(self._event, room)) if deals else 0
        return self._following[1]

    def _plays(self, moment: Moment) -> Arrivals:
        if self._arrivals is None or self._arrivals[0] is not moment:
            self._arrivals = moment, Arrivals(moment, self._lines)
        return self._arrivals[1]

    def _known(self, room: Room, intake: Intake, watch: TableWatch, table: int) -> Known:
        said, times = watch.states.get(table), self._times
        booking = self._event.bookings.get((table, said.round)) if said and said.round else None
        seated = (room.seatings.of((table, said.round)) if said and said.round else None) or (
            booking and booking.players
        )
        there = sitting(room.event, room.book, said.round, seated) if said and said.round and seated else {}
        names = {seat: player.name for seat, player in there.items()}
        calling = times.calling.get(table)
        return Known(
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

    def _card(self, table: int, known: Known) -> None:
        had = self._cards.get(table)
        if had is None or had[0].said is not known.said or had[0][1:] != known[1:]:
            self._cards[table] = known, _table(self._event, table, known)


def _table(event: Event, table: int, known: Known) -> TableView:
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
        playing_since=_present(known.playing, said),
        minutes=said.minutes if said else None,
        pausing_since=known.pausing.at if known.pausing else None,
        stood_ms=said.stood_ms if said else None,
        played_ms=said.played_ms if said else None,
        walls=_walls(event, known.restored, said),
    )


def _present(playing: Since | None, said: TableState | None) -> int | None:
    """Give since when the present play goes on: a table that is in another round has not begun it."""
    return playing.at if playing and said and playing.round == said.round else None


def _walls(event: Event, restored: Restored | None, said: TableState | None) -> Walls | None:
    """Say what is the matter with the walls of a table's present play."""
    if restored is None or said is None or (restored.round, restored.deal) != (said.round, said.deal):
        return None
    if restored.form != event.form(restored.deal):
        return "fouled"
    return None if restored.verified else "unverified"
