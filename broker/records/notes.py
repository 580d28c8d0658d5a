"""What counts in an event and PMN has no record for: it stands in comments below the records.

PMN tells a play by its points. A play that an arbiter has adjusted or declared void has none, and there is no tag for
what is given beside points.
"""

from collections.abc import Iterator

from broker.contract.words import SEATS, Seat
from broker.records.of_event import name_of, of_false_hu
from broker.scorer.rulings.laying import Laid
from broker.scorer.stored import Stored
from broker.scoring.plays import ScoredPlay

RULED = {
    "void": "declared void: it counts for nobody, and is in no datum.",
    "adjusted": "adjusted by an arbiter: it has no points, and is in no datum.",
    "withdrawn": "adjusted, since a player has withdrawn: it has no points, and is in no datum.",
    "": "still to come.",
}


def notes(stored: Stored, *, embargoed: bool = False) -> Iterator[str]:
    """Give a note for each play without points, or with IMPs that no tag tells; then one of what belongs to no play."""
    for laid, play in stored.counted(embargoed=embargoed):
        lines = [line for seat in SEATS if (line := _of_seat(stored, laid, play, seat))]
        if lines or play.points is None:
            what = RULED[stored.instead(laid)] if play.points is None else "beside the points."
            yield "\n".join((f"Table {laid.table}, round {laid.round}, deal {laid.deal}: {what}", *lines))
    beside = [one for one in stored.beside() if one.imp or one.fine]
    if beside:
        lines = [_line(one.name, stored.event.players[one.name].name, int(one.imp), one.fine) for one in beside]
        yield "\n".join(("Of no play.", *lines))


def _of_seat(stored: Stored, laid: Laid, play: ScoredPlay, seat: Seat) -> str:
    """Say what a seat has that stands in no record; nothing where all of it does."""
    award, fine = play.awards.get(seat, 0), play.fines.get(seat, 0)
    if play.points is not None and fine in of_false_hu(stored):
        fine = 0
    return (
        _line(play.players[seat], name_of(stored, play.players[seat], laid.round), award, fine) if award or fine else ""
    )


def _line(player: str, name: str, award: int, fine: int) -> str:
    said = [f"{award:+} IMP"] * bool(award) + [f"fined {fine} IMP"] * bool(fine)
    return f"{player} {name}: {', '.join(said)}"
