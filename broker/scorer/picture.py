"""The desk's view, made from what the scorer knows."""

from collections.abc import Iterable, Mapping

from broker.contract.messages import LogMessage, Result
from broker.contract.words import Seat
from broker.scorer.alerts import AlertBook, TableWatch
from broker.scorer.event import Event
from broker.scorer.intake import Intake
from broker.scorer.room import Room
from broker.scorer.standings import rows
from broker.scorer.view import PlayView, SeatView, TableView, View
from broker.scoring.compare import Exact
from broker.scoring.written import written

ImpOf = Mapping[tuple[int, int], Mapping[Seat, Exact]]
"""IMPs of a play's seats, by table and deal; none for a play with nothing to compare with."""


def view_of(
    event: Event, room: Room, intake: Intake, watch: TableWatch, alerts: AlertBook, *, version: int, connected: bool
) -> View:
    """Give the whole room at this moment."""
    compared = [group for group in room.groups() if len(group.plays) > 1]
    imps: ImpOf = {(one.play.table, one.play.deal): one.imp for group in compared for one in group.plays}
    return View(
        version=version,
        event=event.name,
        title=event.plan.title,
        profile=event.profile.id,
        connected=connected,
        final=room.final,
        plays_in=len(room.results),
        plays_expected=len(event.plan.plays),
        tables=tuple(_table(event, room, intake, watch, table) for table in event.tables),
        plays=tuple(_plays(event, room, imps)),
        standings=rows(room.standings(), event.players),
        alerts=alerts.newest_first(),
    )


def _table(event: Event, room: Room, intake: Intake, watch: TableWatch, table: int) -> TableView:
    said = watch.states.get(table)
    booking = event.bookings.get((table, said.round)) if said and said.round else None
    seated = (room.seatings.of((table, said.round)) if said and said.round else None) or (booking and booking.players)
    return TableView(
        table=table,
        lifecycle=said.lifecycle if said else None,
        state=said.state if said else None,
        round=said.round if said else None,
        deal=said.deal if said else None,
        unsent=said.unsent if said else 0,
        calling=said.calling if said else False,
        health=dict(said.health) if said else {},
        gaps=intake.books[table].gaps(),
        plays_in=room.plays_at(table),
        plays_expected=event.expected_at[table],
        players={seat: event.players[p].name for seat, p in seated.items()} if seated else {},
        paused=said.paused if said else False,
        ordered=said.ordered if said else 0,
    )


def _plays(event: Event, room: Room, imps: ImpOf) -> Iterable[PlayView]:
    for message in reversed(room.results.values()):
        if isinstance(message.fact, Result):
            imp = imps.get((message.table, message.fact.deal))
            yield _play(event, message, message.fact, imp, provisional=not room.complete(message.fact.deal))


def _play(
    event: Event, message: LogMessage, result: Result, imp: Mapping[Seat, Exact] | None, *, provisional: bool
) -> PlayView:
    fines = {seat: fine.imp for seat, fine in result.fines.items()}
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
                name=event.players[player].name,
                points=result.points[seat],
                hand_value=result.winners.get(seat),
                fine=fines.get(seat, 0),
                imp=written(imp[seat] - fines.get(seat, 0)) if imp else None,
            )
            for seat, player in result.players.items()
        },
    )
