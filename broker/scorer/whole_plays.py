"""Plays that were told whole and as planned, as nearly all are: a long journal is loaded play by play. Pure.

In such a play there is nothing that an arbiter must know, and judging its facts one by one finds nothing: the walls
were verified as the deal lies, everybody sat as booked, at most one declared, nobody was fined, the table told nothing
else meanwhile, and the desk ruled nothing. Whatever else a table tells is taken fact by fact, as it is while the scorer
works. Of such a play only its result is in memory as a message; its other facts are read from their JSON when somebody
asks for them, which is rare.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Final, Literal, Protocol

import msgspec
from msgspec import Struct

from broker.event import BookedPlay, Event
from broker.protocol import (
    UNREADABLE,
    Confirmed,
    Declared,
    Fine,
    HandValue,
    LogMessage,
    PlayerId,
    Points,
    Result,
    Seat,
    WinKind,
)
from broker.protocol.play_sequence import PlaySoFar
from broker.store.chain import MOST_TOLD, Stretch
from broker.store.records import KeptFact, ToldFact, facts_of


class _Walls(Struct, frozen=True, gc=False, tag_field="type", tag="restored"):
    """What is looked at of a play's walls. Texts are compared with those of the plan, and so need no other look."""

    round: int
    deal: int
    verified: Literal[True]
    form: str


class _Seated(Struct, frozen=True, gc=False, tag_field="type", tag="seated"):
    round: int
    deal: int
    players: msgspec.Raw


class _Result(Struct, frozen=True, gc=False, tag_field="type", tag="result"):
    round: int
    deal: int
    profile: str
    players: msgspec.Raw
    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None
    points: dict[Seat, Points]
    fines: dict[Seat, Fine]
    hand: None = None


class _Step(Protocol):
    """What all facts say."""

    @property
    def round(self) -> int: ...

    @property
    def deal(self) -> int: ...


class _Undeclared(Struct, frozen=True, gc=False, array_like=True):
    """All facts of a play in which nobody has declared."""

    walls: ToldFact[_Walls]
    seated: ToldFact[_Seated]
    confirmed: ToldFact[Confirmed]
    result: KeptFact[_Result]

    def steps(self) -> tuple[ToldFact[_Step], ...]:
        return self.walls, self.seated, self.confirmed, self.result

    def declared(self) -> tuple[Seat, ...]:
        return ()


class _Declared(Struct, frozen=True, gc=False, array_like=True):
    """All facts of a play in which somebody has."""

    walls: ToldFact[_Walls]
    seated: ToldFact[_Seated]
    confirmed: ToldFact[Confirmed]
    claim: ToldFact[Declared]
    result: KeptFact[_Result]

    def steps(self) -> tuple[ToldFact[_Step], ...]:
        return self.walls, self.seated, self.confirmed, self.claim, self.result

    def declared(self) -> tuple[Seat, ...]:
        return tuple([press.seat for press in self.claim.fact.presses])


_DECODERS: Final[Mapping[int, msgspec.json.Decoder[_Undeclared | _Declared]]] = {
    len(kind.__struct_fields__): msgspec.json.Decoder(kind) for kind in (_Undeclared, _Declared)
}
"""By how many facts there are."""


class WholePlay(Struct, frozen=True, eq=False, gc=False):
    """All facts of a play."""

    key: tuple[int, int]
    """Table and round."""
    deal: int
    first: int
    """The number of its first fact; the others follow without a gap."""
    began: int
    """When its table says that it told that."""
    form: str
    """Of its walls."""
    players: Mapping[Seat, PlayerId]
    declared: tuple[Seat, ...]
    result: LogMessage
    ids: tuple[str, ...]
    told: Stretch

    @property
    def last(self) -> int:
        """The number of its result."""
        return self.first + len(self.ids) - 1

    def messages(self) -> tuple[LogMessage, ...]:
        """Return its facts."""
        return *facts_of(self.told.array())[:-1], self.result

    def facts(self) -> Iterator[tuple[int, LogMessage]]:
        """Return its facts one by one, with when each was taken."""
        return zip(self.told.received, self.messages(), strict=True)

    def ended(self) -> PlaySoFar:
        """Return what its sequence has come to."""
        return PlaySoFar("recorded", self.deal, self.players, self.declared)


class PlayFinder:
    """Finds the whole plays of an event."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._seats: dict[int, bytes] = {}
        """Players as facts have them, by the identity of the plan's: many plays may have the same."""

    def find(self, stretch: Stretch) -> WholePlay | None:
        """Return the play of which a stretch of the journal has all facts; None where it asks for a closer look."""
        if len(stretch.heights) not in _DECODERS:
            return None
        try:
            told = _DECODERS[len(stretch.heights)].decode(stretch.array())
        except UNREADABLE:
            return None
        walls, last, said = told.walls, told.result, told.result.fact
        booking, form = self._event.bookings.get((walls.table, said.round)), walls.fact.form
        if booking is None or booking.deal != said.deal or form != self._event.form(said.deal):
            return None
        if not (self._is_usual(told, booking) and _in_order(told.steps(), stretch.received, self._event.name)):
            return None
        result = Result(
            round=said.round,
            deal=said.deal,
            profile=said.profile,
            players=booking.players,
            win=said.win,
            winners=said.winners,
            discarder=said.discarder,
            points=said.points,
            fines=said.fines,
        )
        return WholePlay(
            (walls.table, said.round),
            said.deal,
            walls.seq,
            walls.at,
            form,
            booking.players,
            told.declared(),
            last.saying(result),
            tuple([one.id for one in told.steps()]),
            stretch,
        )

    def _is_usual(self, told: _Undeclared | _Declared, booking: BookedPlay) -> bool:
        """Return whether those who were booked sat there, and nothing is to be looked at in the result.

        The players stand in the order of the plan, too: a message stays what it was.
        """
        said, declared, players = told.result.fact, told.declared(), booking.players
        if len(declared) > 1 or declared != (*said.winners,) or said.fines or said.profile != self._event.profile.id:
            return False
        seats = self._seats.get(id(players))
        if seats is None:
            seats = self._seats[id(players)] = msgspec.json.encode(players)
        return bytes(said.players) == seats == bytes(told.seated.fact.players)


def _in_order(steps: tuple[ToldFact[_Step], ...], received: Sequence[int], event: str) -> bool:
    """Return whether facts of one play follow each other without a gap, and the clock of their table can be right."""
    table, seq, at, play = steps[0].table, steps[0].seq, steps[0].at, (steps[0].fact.round, steps[0].fact.deal)
    for one, then in zip(steps, received, strict=True):
        if one.seq != seq or one.table != table or not at <= one.at <= then:
            return False
        if one.fact.round != play[0] or one.fact.deal != play[1] or one.event != event:
            return False
        seq, at = seq + 1, one.at
    return True


def unfolded(kept: Iterable[LogMessage | WholePlay]) -> Iterator[LogMessage]:
    """Return facts, those of whole plays one by one; such a play stands there for each of its facts."""
    for _, same in groupby(kept, key=id):
        one = next(same)
        if isinstance(one, WholePlay):
            yield from one.messages()
        else:
            yield one


class FactsByNumber(Mapping[int, LogMessage]):
    """Facts of one table, in the order in which they were taken; those of whole plays are read when somebody asks."""

    def __init__(self) -> None:
        self._facts: dict[int, LogMessage | WholePlay] = {}
        """A whole play by its first number."""
        self._count = 0

    def __getitem__(self, seq: int) -> LogMessage:
        """Return a fact."""
        found = self._find(seq)
        return found.messages()[seq - found.first] if isinstance(found, WholePlay) else found

    def __contains__(self, seq: object) -> bool:
        """Return whether there is a fact of a number."""
        with suppress(KeyError):
            return isinstance(seq, int) and bool(self._find(seq))
        return False

    def __iter__(self) -> Iterator[int]:
        """Return all numbers."""
        for seq, one in self._facts.items():
            yield from range(seq, one.last + 1) if isinstance(one, WholePlay) else (seq,)

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    def id_of(self, seq: int) -> str:
        """Return the id of a fact."""
        found = self._find(seq)
        return found.ids[seq - found.first] if isinstance(found, WholePlay) else found.id

    def take(self, fact: LogMessage) -> None:
        """Take in a fact."""
        self._count += fact.seq not in self
        self._facts[fact.seq] = fact

    def take_whole(self, play: WholePlay) -> None:
        """Take in all facts of a play."""
        self._facts[play.first] = play
        self._count += len(play.ids)

    def _find(self, seq: int) -> LogMessage | WholePlay:
        """Return a fact, or the play that has it. Raises KeyError."""
        for first in range(seq, seq - MOST_TOLD, -1):
            found = self._facts.get(first)
            if found is not None and (first == seq or (isinstance(found, WholePlay) and seq <= found.last)):
                return found
        raise KeyError(seq)
