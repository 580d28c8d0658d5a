"""The desk's view, made from what the scorer knows."""

from collections.abc import Iterable, Mapping

from broker.contract.words import Imp, Seat
from broker.scorer.alerts import AlertBook, TableWatch
from broker.scorer.event import Event
from broker.scorer.intake import Intake
from broker.scorer.room import Room, result_of
from broker.scorer.rulings.laying import Laid
from broker.scorer.standings import rows, team_rows
from broker.scorer.view import BesideView, PlayView, SeatView, TableView, View
from broker.scoring.compare import Exact
from broker.scoring.written import written

ImpOf = Mapping[tuple[int, int], Mapping[Seat, Exact]]
"""IMPs of a play's seats, by table and deal; none for a play with nothing to compare with."""


def view_of(
    event: Event,
    room: Room,
    intake: Intake,
    watch: TableWatch,
    alerts: AlertBook,
    *,
    version: int,
    connected: bool,
) -> View:
    """Give the whole room at this moment; `final` without a look at the clock."""
    compared = [group for group in room.groups() if len(group.plays) > 1]
    imps: ImpOf = {(one.play.table, one.play.deal): one.imp for group in compared for one in group.plays}
    return View(
        version=version,
        event=event.name,
        title=event.plan.title,
        profile=event.profile.id,
        connected=connected,
        final=room.final,
        corrections_until=room.book.deadline,
        plays_in=room.plays_in,
        plays_expected=len(event.plan.plays),
        tables=tuple(_table(event, room, intake, watch, table) for table in event.tables),
        plays=tuple(_plays(event, room, imps)),
        standings=rows(room.standings(), event.players),
        teams=team_rows(room.team_standings()),
        deals_left_out=tuple(sorted(room.teams.left_out)),
        alerts=alerts.newest_first(),
        beside=tuple(BesideView(one.name, int(one.imp) - one.fine, one.fine) for one in room.adjustments()),
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
    for key in room.newest_first():
        laid = room.play(key)
        yield _play(event, room, laid, imps.get((laid.line, laid.deal)))


def _play(event: Event, room: Room, laid: Laid, imp: Mapping[Seat, Exact] | None) -> PlayView:
    message = room.results.get((laid.table, laid.round))
    entered = result_of(message).points if message else {}
    return PlayView(
        at=message.at if message else room.book.entries[laid.rulings[-1]].at,
        table=laid.table,
        round=laid.round,
        deal=laid.deal,
        win=laid.win,
        discarder=laid.discarder,
        provisional=not room.complete(laid.deal),
        ruled=tuple(room.book.entries[id_].kind for id_ in laid.rulings),
        counts=laid.points is not None,
        seats={
            seat: SeatView(
                player=player,
                name=event.players[player].name,
                points=(laid.points or entered).get(seat, 0),
                hand_value=laid.winners.get(seat),
                fine=laid.fines.get(player, 0),
                imp=_imp(laid, player, imp[seat] if imp else None),
            )
            for seat, player in laid.players.items()
        },
    )


def _imp(laid: Laid, player: str, compared: Exact | None) -> Imp | None:
    """Give what the play gives a player in all; None where it can be compared with nothing and nobody ruled on it."""
    if compared is None and (laid.points is not None or not laid.settled):
        return None
    given = laid.awards.get(player, 0) + laid.instead.get(player, 0) - laid.fines.get(player, 0)
    return written((compared or 0) + given)
