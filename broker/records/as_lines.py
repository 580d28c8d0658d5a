"""An event's plays as `homologue score` reads them: JSON, one a line."""

from collections.abc import Iterator
from typing import Any

import msgspec

from broker.scorer.stored import Stored
from broker.scoring.plays import ScoredPlay


def written(stored: Stored, *, embargoed: bool = False) -> str:
    """Give a line for each play of the event, by deal and table.

    Those that have no result yet are still to come; and so are, unless asked for, those of a deal that a table has
    still to play: their points are nobody's to know.
    """
    return "".join(msgspec.json.encode(line).decode() + "\n" for line in _lines(stored, embargoed=embargoed))


def _lines(stored: Stored, *, embargoed: bool) -> Iterator[dict[str, Any]]:
    done = {
        (play.deal, play.table): play
        for group in stored.room.groups()
        for play in group.members
        if embargoed or not stored.embargoed(play.deal)
    }
    for planned in sorted(stored.event.plan.plays, key=lambda play: (play.deal, play.table)):
        play = done.get((planned.deal, planned.table))
        yield _played(play) if play else {"deal": planned.deal, "table": planned.table, "players": planned.players}


def _played(play: ScoredPlay) -> dict[str, Any]:
    line = {"deal": play.deal, "table": play.table, "players": play.players, "points": play.points}
    more = {"fines": play.fines, "form": play.form}
    return line | {key: value for key, value in more.items() if value}
