"""Below a deal's traveller: plays that an arbiter has settled without points; and at the end, IMPs of no play."""

from collections.abc import Iterator

from broker.contract.words import SEATS
from broker.records.printed.grid import Block, Cell, Line
from broker.records.printed.signed import signed
from broker.records.printed.words import Words
from broker.scorer.rulings.laying import Laid
from broker.scorer.stored import Stored
from broker.scoring.plays import ScoredPlay

BETWEEN = " · "

OfDeal = dict[int, list[Line]]


def unplayed(stored: Stored, words: Words, *, embargoed: bool) -> OfDeal:
    """Give the notes of each deal: a line for each of its plays that are void or adjusted."""
    found: OfDeal = {}
    for laid, play in sorted(stored.counted(embargoed=embargoed), key=lambda one: one[0].table):
        if kind := stored.instead(laid):
            said = words.say(kind, table=laid.table, round=laid.round)
            text = BETWEEN.join((said, *_given(stored, laid, play)))
            found.setdefault(laid.deal, []).append(Line("note", (Cell(text),)))
    return found


def _given(stored: Stored, laid: Laid, play: ScoredPlay) -> Iterator[str]:
    for seat in SEATS:
        if imp := play.awards.get(seat, 0) - play.fines.get(seat, 0):
            yield f"{stored.event.players[laid.players[seat]].name} {signed(imp)}"


def of_no_play(stored: Stored, words: Words) -> Iterator[Block]:
    """Give a block of those who were given or fined something of no play, if there are any."""
    lines = tuple(
        Line("note", (Cell(f"{stored.event.players[one.name].name} {signed(one.imp - one.fine)}"),))
        for one in stored.beside()
        if one.imp != one.fine
    )
    if lines:
        yield Block((Line("heading", (Cell(words.say("of_no_play")), Cell(""))),), lines)
