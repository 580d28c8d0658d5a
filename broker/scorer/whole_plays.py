"""Plays that were told whole and as planned, as nearly all are: a long journal is loaded play by play. Pure.

In such a play there is nothing that an arbiter must know, and judging its facts one by one finds nothing: the walls
were verified as the deal lies, everybody sat as booked, at most one declared, nobody was fined, the table told nothing
else meanwhile, and the desk ruled nothing. Whatever else a table tells is taken fact by fact, as it is while the scorer
works. Of such a play only its result is in memory as a message; its other facts are read from their JSON when somebody
asks for them, which is rare.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import force_setattr

from broker.event import BookedPlay, Event
from broker.protocol import Confirmed, Declared, LogMessage, PlayerId, Restored, Result, Ruling, Seat, Seated
from broker.protocol.play_sequence import PlaySoFar
from broker.store import Recorded
from broker.store.records import KeptFact, fact_of

STEPS: Final = [Restored, Seated, Confirmed, Declared, Result], [Restored, Seated, Confirmed, Result]
"""The facts of such a play: somebody has declared, or nobody."""


ToldFact = tuple[KeptFact, int, bytes, int]
"""A fact of a journal: what it says, when it was taken (ms since 1970), its JSON, and its place. No class: so many."""


class WholePlay(NamedTuple):
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
    bodies: tuple[bytes, ...]
    received: tuple[int, ...]
    """When each was taken."""

    @property
    def key(self) -> tuple[int, int]:
        """Table and round."""
        return self.table, self.round

    @property
    def numbers(self) -> range:
        """The numbers of its facts."""
        return range(self.first, self.result.seq + 1)

    def facts(self) -> Iterator[tuple[int, LogMessage]]:
        """Return its facts one by one, with when each was taken."""
        return zip(self.received, map(fact_of, self.bodies), strict=True)

    def ended(self) -> PlaySoFar:
        """Return what its sequence has come to."""
        return PlaySoFar("recorded", self.walls.deal, self.players, self.declared)


class PlayFinder:
    """Finds whole plays among a journal's messages, given in its order."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._under_way: dict[int, list[ToldFact]] = {}
        """What each table has told since it restored its walls last."""
        self._found: list[Recorded | WholePlay | bytes | None] = []
        """Facts as their JSON, but of plays only these, in the places of their results."""
        self._received = array("q")

    def take(self, fact: KeptFact, received: int, body: bytes) -> None:
        """Take in the next message, a fact that may be of a whole play."""
        told, kind = (fact, received, body, len(self._found)), type(fact.fact)
        self._found.append(body)
        self._received.append(received)
        if kind is Restored:
            self._under_way[fact.table] = [told]
        elif (under_way := self._under_way.get(fact.table)) is not None:
            under_way.append(told)
            if kind is Result:
                del self._under_way[fact.table]
                self._end(under_way)

    def take_alone(self, message: Recorded, received: int) -> None:
        """Take in the next message, which is of no whole play."""
        self._found.append(message)
        self._received.append(received)
        if isinstance(message, Ruling):  # what is under way may be judged otherwise since
            self._under_way.clear()

    def _end(self, told: Sequence[ToldFact]) -> None:
        """Put a play that has its result in the place of that, if it is a whole one."""
        play = _whole_play(told, self._event) if [type(one[0].fact) for one in told] in STEPS else None
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


def _whole_play(told: Sequence[ToldFact], event: Event) -> WholePlay | None:
    """Return the play of which these are all facts; None where it asks for a closer look."""
    facts, received, bodies, _ = zip(*told, strict=True)
    first, last = facts[0], facts[-1]
    walls, seated, before, result = first.fact, facts[1].fact, facts[-2].fact, last.fact
    booking = event.bookings.get((first.table, walls.round))
    if booking is None or not isinstance(walls, Restored) or not isinstance(result, Result):
        return None
    if not _are_of(booking, facts, received, event.name):
        return None
    declared = tuple([press.seat for press in before.presses]) if isinstance(before, Declared) else ()
    if len(declared) > 1 or declared != (*result.winners,) or result.fines or result.hand is not None:
        return None
    if not walls.verified or walls.form != event.form(booking.deal):
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
        bodies,
        received,
    )


def _are_of(booking: BookedPlay, facts: Sequence[KeptFact], received: Sequence[int], event: str) -> bool:
    """Return whether facts are of a play, numbered without a gap, and the clock of their table can be right."""
    round_, deal, seq, at = booking.round, booking.deal, facts[0].seq, facts[0].at
    for one, taken in zip(facts, received, strict=True):
        fact = one.fact
        if fact.round != round_ or fact.deal != deal or one.seq != seq or not at <= one.at <= taken:
            return False
        if one.event != event:
            return False
        seq, at = seq + 1, one.at
    return True


def _as_booked(fact: object, booking: BookedPlay) -> bool:
    """Return whether a fact has the players in their seats, in one order too: a message stays what it was."""
    if not isinstance(fact, (Seated, Result)) or fact.players != booking.players:
        return False
    if [*fact.players] != [*booking.players]:
        return False
    force_setattr(fact, "players", booking.players)
    return True
