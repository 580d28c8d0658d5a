"""A player's sheet: each play, what it was compared with, and what it gave."""

from collections.abc import Iterator

from msgspec import Struct

from broker.contract.receipt_code import receipt_code
from broker.contract.words import Seat
from broker.scorer.moment import Moment
from broker.scorer.sheets.deal import SeatLine, play_line
from broker.scorer.sheets.ladder import Ladder, Rung


class PlayOfPlayer(Struct, frozen=True):
    """One play, from one seat."""

    round: int
    table: int
    deal: int
    seat: Seat
    line: SeatLine
    provisional: bool
    code: str | None
    """Of the play's receipt."""


class PlayerSheet(Struct, frozen=True):
    """All plays of a player that may be told, by rounds."""

    player: str
    name: str
    rung: Rung | None
    """The player's line in the standings; None for who is not ranked."""
    final: bool
    plays: tuple[PlayOfPlayer, ...]
    to_come: int
    """Plays that are not here: not played, not in, or under embargo."""


def player_sheet(moment: Moment, standings: Ladder, player: str) -> PlayerSheet:
    """Give a player's sheet. Raises KeyError where the event has no such player."""
    known = moment.event.players[player]
    plays = tuple(_plays(moment, player))
    return PlayerSheet(
        player=player,
        name=known.name,
        rung=next((rung for rung in standings.rungs if rung.player == player), None),
        final=standings.final,
        plays=plays,
        to_come=len(moment.event.bookings_of[player]) - len(plays),
    )


def _plays(moment: Moment, player: str) -> Iterator[PlayOfPlayer]:
    for booking in moment.event.bookings_of[player]:
        play = play_line(moment, booking.deal, booking.table)
        provisional = booking.deal not in moment.complete
        if play is None:
            continue
        said = moment.result(booking.deal, booking.table)
        code = receipt_code(said[0]) if said else None
        for seat, line in play.seats.items():
            if line.player == player:
                yield PlayOfPlayer(booking.round, play.table, booking.deal, seat, line, provisional, code)
