"""Plays that were told whole and as planned, as nearly all are: a long journal is loaded play by play. Pure.

In such a play there is nothing that an arbiter must know, and judging its facts one by one finds nothing: the walls
were verified as the deal lies, everybody sat as booked, at most one declared, and nobody was fined. Whatever else a
table tells is taken fact by fact, as it is while the scorer works. What such a play says as its plan does is in memory
once: of a long journal that is a fifth of it.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import force_setattr

from broker.event import BookedPlay, Event
from broker.protocol import Confirmed, Declared, Fact, LogMessage, Restored, Result, Seated
from broker.protocol.play_sequence import OF_A_PLAY, PlaySoFar

NEXT: Final[Mapping[type, tuple[type, ...]]] = {
    Restored: (Seated,),
    Seated: (Confirmed,),
    Confirmed: (Declared, Result),
    Declared: (Result,),
}
"""What comes after each fact of such a play."""

NAMING: Final = (Seated, Result)

ALONE, FIRST, WITHIN, LAST = range(4)
"""Where a message stands in a whole play; `ALONE`: in none."""


class WholePlay(NamedTuple):
    """All facts of a play, its result last, and what its sequence has come to."""

    facts: Sequence[LogMessage]
    ended: PlaySoFar


class _UnderWay:
    """A table's play that has gone as planned up to now."""

    __slots__ = ("booking", "facts", "next", "places", "seq")

    def __init__(self, booking: BookedPlay, place: int, message: LogMessage) -> None:
        self.booking, self.facts, self.places = booking, [message], [place]
        self.seq, self.next = message.seq + 1, NEXT[Restored]

    def whole(self, result: Result) -> WholePlay | None:
        """Return the play with its result, if that asks for no closer look."""
        before = self.facts[-2].fact
        declared = tuple([press.seat for press in before.presses]) if type(before) is Declared else ()
        if len(declared) > 1 or declared != (*result.winners,) or result.fines or result.hand is not None:
            return None
        return WholePlay(self.facts, PlaySoFar("recorded", result.deal, result.players, declared))


class WholePlays:
    """Finds them among a journal's messages, given in its order."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._under_way: dict[int, _UnderWay] = {}
        self.places = bytearray()
        """Where each message stands in a whole play."""
        self.ending: dict[int, WholePlay] = {}
        """The plays by the places of the messages that end them."""

    def take(self, message: LogMessage) -> None:
        """Take in a fact, which is the next message."""
        play = self._under_way.get(message.table)
        if play is None or message.seq != play.seq:
            self._begin(message)
            return
        fact, kind = message.fact, type(message.fact)
        play.seq += 1
        if kind not in play.next:
            if kind in OF_A_PLAY:  # a call, or an arbiter's visit, changes nothing of a play
                self._begin(message)
            else:
                self.places.append(ALONE)
            return
        booking = play.booking
        if fact.round != booking.round or fact.deal != booking.deal or not _as_seated(fact, booking):
            self._begin(message)
            return
        play.facts.append(message)
        play.places.append(len(self.places))
        self.places.append(ALONE)
        if isinstance(fact, Result):
            self._end(play, message.table, fact)
        else:
            play.next = NEXT[kind]

    def take_other(self) -> None:
        """Take in that the next message is no fact."""
        self.places.append(ALONE)

    def _begin(self, message: LogMessage) -> None:
        """Begin a play, if a fact begins one as planned."""
        self._under_way.pop(message.table, None)
        fact, event = message.fact, self._event
        if isinstance(fact, Restored) and fact.verified:
            booking = event.bookings.get((message.table, fact.round))
            if booking is not None and booking.deal == fact.deal and fact.form == event.form(fact.deal):
                force_setattr(fact, "form", event.form(fact.deal))
                self._under_way[message.table] = _UnderWay(booking, len(self.places), message)
        self.places.append(ALONE)

    def _end(self, play: _UnderWay, table: int, result: Result) -> None:
        """End a play; it is a whole one if its result asks for no closer look."""
        del self._under_way[table]
        if whole := play.whole(result):
            for place in play.places:
                self.places[place] = WITHIN
            self.places[play.places[0]], self.places[play.places[-1]] = FIRST, LAST
            self.ending[play.places[-1]] = whole


def _as_seated(fact: Fact, booking: BookedPlay) -> bool:
    """Return whether a fact that names players names those who are booked, in their seats."""
    if not isinstance(fact, NAMING):
        return True
    if fact.players != booking.players:
        return False
    if [*fact.players] == [*booking.players]:  # in one order too: a message stays what it was
        force_setattr(fact, "players", booking.players)
    return True
