"""A player's sheet: each play, what it was compared with, and what it gave."""

from collections.abc import Iterator

from msgspec import Struct

from broker.contract.receipt_code import receipt_code
from broker.contract.words import SEATS, Seat
from broker.scorer.moment import Moment
from broker.scorer.rulings.absences import StandIn
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
    country: str = ""
    club: str = ""
    stand_ins: tuple[StandIn, ...] = ()
    """Who has sat, or is to sit, in the player's place."""


def player_sheet(moment: Moment, standings: Ladder, player: str) -> PlayerSheet:
    """Give a player's sheet. Raises KeyError where the event has no such player."""
    known, origin = moment.event.players[player], moment.event.origin_of(player)
    plays = tuple(sorted(_plays(moment, player), key=lambda play: play.round))
    return PlayerSheet(
        player=player,
        name=known.name,
        rung=next((rung for rung in standings.rungs if rung.player == player), None),
        final=standings.final,
        plays=plays,
        to_come=max(0, len(moment.event.bookings_of[player]) - len(plays)),
        country=origin.country,
        club=origin.club,
        stand_ins=tuple(one for one in moment.stand_ins if one.player == player),
    )


def _plays(moment: Moment, player: str) -> Iterator[PlayOfPlayer]:
    for scored in moment.plays_of(player):
        play = play_line(moment, scored.deal, scored.table)
        if play is None:
            continue
        said = moment.results.get(moment.place(scored))
        code = receipt_code(said) if said else None
        provisional = scored.deal not in moment.complete
        for seat in SEATS:
            if scored.entry(seat) == player:
                line = play.seats[seat]
                yield PlayOfPlayer(play.round, play.table, scored.deal, seat, line, provisional, code)
