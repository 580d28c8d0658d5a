"""Plays that were told whole and as planned, as nearly all are: a long journal is loaded play by play. Pure.

In such a play there is nothing that an arbiter must know, and judging its facts one by one finds nothing: the walls
were verified as the deal lies, everybody sat as booked, at most one declared, nobody was fined, the table told nothing
else meanwhile, and the desk ruled nothing. Whatever else a table tells is taken fact by fact, as it is while the scorer
works. Of such a play only its result is in memory as a message; its other facts are read from their JSON when somebody
asks for them, which is rare.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from broker.event import BookedPlay, Event
from broker.protocol import Confirmed, Declared, LogMessage, PlayerId, Restored, Result, Ruling, Seat, Seated
from broker.protocol.play_sequence import PlaySoFar
from broker.store import Recorded
from broker.store.records import KeptFact, fact_of

STEPS: Final = {Restored: (Seated,), Seated: (Confirmed,), Confirmed: (Declared, Result), Declared: (Result,)}
"""What follows what in such a play: somebody has declared, or nobody."""

ToldFact = tuple[KeptFact, int, bytes, int]
"""A fact of a journal: what it says, when it was taken (ms since 1970), its JSON, and its place. No class: so many."""


class WholePlay(Struct, frozen=True, gc=False):
    """All facts of a play."""

    table: int
    round: int
    first: int
    """The number of its first fact; the others follow without a gap."""
    began: int
    """When its table says that it told that."""
    walls: Restored
    players: Mapping[Seat, PlayerId]
    declared: tuple[Seat, ...]
    result: LogMessage
    ids: tuple[str, ...]
    received: tuple[int, ...]
    """When each was taken."""
    bodies: tuple[bytes, ...]
    """The JSON of each but the result."""

    @property
    def key(self) -> tuple[int, int]:
        """Table and round."""
        return self.table, self.round

    @property
    def numbers(self) -> range:
        """The numbers of its facts."""
        return range(self.first, self.result.seq + 1)

    @property
    def kept(self) -> tuple[LogMessage | bytes, ...]:
        """Its facts as they are kept: only the result is one that was read."""
        return *self.bodies, self.result

    def facts(self) -> Iterator[tuple[int, LogMessage]]:
        """Return its facts one by one, with when each was taken."""
        return zip(self.received, (*map(fact_of, self.bodies), self.result), strict=True)

    def ended(self) -> PlaySoFar:
        """Return what its sequence has come to."""
        return PlaySoFar("recorded", self.walls.deal, self.players, self.declared)


class PlayFinder:
    """Finds whole plays among a journal's messages, given in its order."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._under_way: dict[int, tuple[BookedPlay, list[ToldFact]]] = {}
        """What each table has told since it restored its walls, as long as nothing of it is unusual."""
        self._found: list[Recorded | WholePlay | bytes | None] = []
        """Facts as their JSON, but of plays only these, in the places of their results."""
        self._received = array("q")

    def take(self, fact: KeptFact, received: int, body: bytes) -> None:
        """Take in the next message, a fact that may be of a whole play."""
        told, said = (fact, received, body, len(self._found)), fact.fact
        self._found.append(body)
        self._received.append(received)
        if type(said) is Restored:
            if (booking := self._begun(fact, said, received)) is not None:
                self._under_way[fact.table] = booking, [told]
            else:
                self._under_way.pop(fact.table, None)
        elif (under_way := self._under_way.get(fact.table)) is not None:
            booking, facts = under_way
            if not _follows(booking, facts[-1][0], fact, received):
                del self._under_way[fact.table]
                return
            facts.append(told)
            if type(said) is Result:
                del self._under_way[fact.table]
                self._end(booking, facts)

    def take_alone(self, message: Recorded, received: int) -> None:
        """Take in the next message, which is of no whole play."""
        self._found.append(message)
        self._received.append(received)
        if isinstance(message, Ruling):  # what is under way may be judged otherwise since
            self._under_way.clear()

    def _begun(self, fact: KeptFact, walls: Restored, received: int) -> BookedPlay | None:
        """Return the play that begins as planned with walls as its deal lies; None where it does not."""
        booking = self._event.bookings.get((fact.table, walls.round))
        if booking is None or booking.deal != walls.deal or not walls.verified or fact.at > received:
            return None
        return booking if walls.form == self._event.form(walls.deal) and fact.event == self._event.name else None

    def _end(self, booking: BookedPlay, told: Sequence[ToldFact]) -> None:
        """Put a play that has its result in the place of that, if it is a whole one."""
        play = _whole_play(booking, told)
        if play is not None:
            for _, _, _, place in told:
                self._found[place] = None
            self._found[place] = play

    def messages(self) -> tuple[list[Recorded | WholePlay], Sequence[int]]:
        """Return all messages and whole plays, and when each was taken; of a play its result."""
        there = [(one, at) for one, at in zip(self._found, self._received, strict=True) if one is not None]
        self._found.clear()
        return [fact_of(one) if isinstance(one, bytes) else one for one, _ in there], array(
            "q", (at for _, at in there)
        )


def _follows(booking: BookedPlay, before: KeptFact, fact: KeptFact, received: int) -> bool:
    """Return whether a fact is the next of its play, and the clock of its table can be right."""
    said = fact.fact
    if said.round != booking.round or said.deal != booking.deal or type(said) not in STEPS[type(before.fact)]:
        return False
    return fact.seq == before.seq + 1 and before.at <= fact.at <= received and fact.event == before.event


def _whole_play(booking: BookedPlay, told: Sequence[ToldFact]) -> WholePlay | None:
    """Return the play of which these are all facts; None where it asks for a closer look."""
    facts, received, bodies, _ = zip(*told, strict=True)
    first, last = facts[0], facts[-1]
    walls, seated, before, result = first.fact, facts[1].fact, facts[-2].fact, last.fact
    declared = tuple([press.seat for press in before.presses]) if type(before) is Declared else ()
    if len(declared) > 1 or declared != (*result.winners,) or result.fines or result.hand is not None:
        return None
    if not (_as_booked(seated, booking) and _as_booked(result, booking)):
        return None
    return WholePlay(
        first.table,
        booking.round,
        first.seq,
        first.at,
        walls,
        booking.players,
        declared,
        last.message(),
        tuple([fact.id for fact in facts]),
        received,
        bodies[:-1],
    )


def _as_booked(fact: Seated | Result, booking: BookedPlay) -> bool:
    """Return whether a fact has the players in their seats, in one order too: a message stays what it was."""
    if fact.players != booking.players or [*fact.players] != [*booking.players]:
        return False
    force_setattr(fact, "players", booking.players)
    return True
