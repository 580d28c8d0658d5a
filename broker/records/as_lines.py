"""An event's plays as `homologue score` reads them: JSON, one a line, and a line for a player's IMPs of no play."""

from collections.abc import Iterator
from typing import Any

import msgspec

from broker.contract.words import SEATS
from broker.scorer.event import Booking
from broker.scorer.rulings.laying import Laid
from broker.scorer.stored import Stored
from broker.scoring.plays import ScoredPlay

Line = dict[str, Any]


def written(stored: Stored, *, embargoed: bool = False) -> str:
    """Give a line for each play of the event as it counts, by deal and table; then what counts beside all plays.

    Those that have no result yet are still to come; and so are, unless asked for, those of a deal that a table has
    still to play: what is known of them is nobody's to know.
    """
    return "".join(msgspec.json.encode(line).decode() + "\n" for line in _lines(stored, embargoed=embargoed))


def _lines(stored: Stored, *, embargoed: bool) -> Iterator[Line]:
    counted = {(laid.table, laid.round): play for laid, play in stored.counted(embargoed=embargoed)}
    plays = [_line(stored, planned, counted.get((planned.table, planned.round))) for planned in stored.event.plan.plays]
    yield from sorted(plays, key=lambda line: (line["deal"], line["table"]))
    yield from _of_players(stored, {player for line in plays for player in line["players"].values()})


def _line(stored: Stored, planned: Booking, play: ScoredPlay | None) -> Line:
    """Give the line of a planned play, `play` being what counts of it and may be told."""
    laid = stored.room.play((planned.table, planned.round))
    if play is None and laid.settled:  # a table may have played another deal: that is told with its result
        return {"deal": planned.deal, "table": planned.table, "players": planned.players}
    line = {"deal": laid.deal, "table": laid.table, "players": laid.players}
    moved = laid.deal != planned.deal or laid.players != planned.players
    return line | (_ruled(laid, play) if play else {}) | ({"out_of_place": True} if moved else {})


def _ruled(laid: Laid, play: ScoredPlay) -> Line:
    """Give what counts of a play. Of an unplayed one every award is said: the profile's would be added else."""
    if play.points is not None:
        told: Line = {"points": play.points, "awards": play.awards, "fines": play.fines, "form": play.form}
    elif laid.settled:
        awards = {seat: play.awards.get(seat, 0) for seat in SEATS}
        told = {"unplayed": "nobody", "awards": awards, "fines": play.fines}
    else:
        told = {"awards": play.awards, "fines": play.fines}
    return {key: value for key, value in told.items() if value}


def _of_players(stored: Stored, playing: set[str]) -> Iterator[Line]:
    """Give the IMPs of no play, and name those who are ranked without a play."""
    beside = {one.name: one for one in stored.beside()}
    for player in sorted({*beside, *stored.event.players.keys() - playing}):
        one = beside.get(player)
        given = {"award": one.imp, "fine": one.fine} if one else {}
        yield {"player": player} | {key: value for key, value in given.items() if value}
