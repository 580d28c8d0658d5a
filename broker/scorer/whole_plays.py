"""Plays that were told whole and as planned, as nearly all are: a long journal is loaded play by play. Pure.

In such a play there is nothing that an arbiter must know, and judging its facts one by one finds nothing: the walls
were verified as the deal lies, everybody sat as booked, at most one declared, and nobody was fined. Whatever else a
table tells is taken fact by fact, as it is while the scorer works. What such a play says as its plan does is in memory
once: of a long journal that is a fifth of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Final, NamedTuple

from msgspec.structs import force_setattr

from broker.event import BookedPlay, Event
from broker.protocol import Confirmed, Declared, LogMessage, Restored, Result, Seated
from broker.protocol.play_sequence import OF_A_PLAY, PlaySoFar
from broker.store import Recorded

STEPS: Final = [Restored, Seated, Confirmed, Declared, Result], [Restored, Seated, Confirmed, Result]
"""The facts of such a play: somebody has declared, or nobody."""

ALONE, FIRST, WITHIN, LAST = range(4)
"""Where a message stands in a whole play; `ALONE`: in none."""


class WholePlay(NamedTuple):
    """All facts of a play, its result last, and what its sequence has come to."""

    facts: Sequence[LogMessage]
    ended: PlaySoFar


class WholePlays:
    """Finds them among a journal's messages, given in its order."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._under_way: dict[int, list[tuple[int, LogMessage]]] = {}
        """What each table has told since it restored its walls last, with the places."""
        self.places = bytearray()
        """Where each message stands in a whole play."""
        self._ending: dict[int, WholePlay] = {}
        """The plays by the places of their results."""

    def take(self, message: LogMessage) -> None:
        """Take in a fact, which is the next message."""
        place = len(self.places)
        self.places.append(ALONE)
        kind = type(message.fact)
        if kind is Restored:
            self._under_way[message.table] = [(place, message)]
            return
        under_way = self._under_way.get(message.table)
        if under_way is not None:
            under_way.append((place, message))
            if kind is Result:
                del self._under_way[message.table]
                self._end(under_way)

    def take_other(self) -> None:
        """Take in that the next message is no fact."""
        self.places.append(ALONE)

    def _end(self, under_way: Sequence[tuple[int, LogMessage]]) -> None:
        """Mark a play that has its result, if it is a whole one. Calls and visits of arbiters change nothing of it."""
        facts, places = list[LogMessage](), list[int]()
        for seq, (place, message) in enumerate(under_way, under_way[0][1].seq):
            if message.seq != seq:
                return
            if type(message.fact) in OF_A_PLAY:
                facts.append(message)
                places.append(place)
        ended = _ended(facts, self._event) if [type(one.fact) for one in facts] in STEPS else None
        if ended is not None:
            for place in places:
                self.places[place] = WITHIN
            self.places[places[0]], self.places[places[-1]] = FIRST, LAST
            self._ending[places[-1]] = WholePlay(facts, ended)

    def among(
        self, messages: Iterable[Recorded], begins: Callable[[int, LogMessage], bool]
    ) -> Iterator[tuple[int, Recorded | WholePlay]]:
        """Return all messages with their places; of plays that are whole these, in the places of their results.

        `begins` is asked at its first fact whether a play may count as a whole; otherwise its facts come one by one.
        """
        by_facts = set[int]()
        """Tables with such a play under way."""
        places = chain(self.places, repeat(ALONE))  # what has come back from elsewhere stands behind all that was read
        for number, (message, place) in enumerate(zip(messages, places, strict=False)):
            if place == WITHIN and not by_facts:  # as nearly always
                continue
            if place != ALONE and isinstance(message, LogMessage):
                if place == FIRST and not begins(number, message):
                    by_facts.add(message.table)
                if message.table not in by_facts:
                    if place == LAST:
                        yield number, self._ending[number]
                    continue
                if place == LAST:
                    by_facts.discard(message.table)
            yield number, message


def _ended(facts: Sequence[LogMessage], event: Event) -> PlaySoFar | None:
    """Return what a play has come to of which these are all facts; None where it asks for a closer look."""
    walls, seated, *_, before, last = (one.fact for one in facts)
    booking = event.bookings.get((facts[0].table, walls.round))
    if booking is None or not isinstance(walls, Restored) or not isinstance(last, Result):
        return None
    for one in facts:
        if one.fact.round != booking.round or one.fact.deal != booking.deal:
            return None
    declared = tuple([press.seat for press in before.presses]) if isinstance(before, Declared) else ()
    if len(declared) > 1 or declared != (*last.winners,) or last.fines or last.hand is not None:
        return None
    form = event.form(booking.deal)
    if not walls.verified or walls.form != form or not (_as_booked(seated, booking) and _as_booked(last, booking)):
        return None
    force_setattr(walls, "form", form)
    return PlaySoFar("recorded", booking.deal, last.players, declared)


def _as_booked(fact: object, booking: BookedPlay) -> bool:
    """Return whether a fact has the players in their seats."""
    if not isinstance(fact, (Seated, Result)) or fact.players != booking.players:
        return False
    if [*fact.players] == [*booking.players]:  # in one order too: a message stays what it was
        force_setattr(fact, "players", booking.players)
    return True
