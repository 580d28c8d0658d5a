"""Plays that were told whole and as planned, as nearly all are: a long journal is loaded play by play. Pure.

In such a play there is nothing that an arbiter must know, and judging its facts one by one finds nothing: the walls
were verified as the deal lies, everybody sat as booked, at most one declared, nobody was fined, the table told nothing
else meanwhile, and the desk ruled nothing. Whatever else a table tells is taken fact by fact, as it is while the scorer
works. Of such a play only its result is in memory as a message; its other facts are read from their JSON when somebody
asks for them, which is rare.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from mmap import mmap
from typing import Final, Literal

import msgspec
from msgspec import Struct

from broker.event import Event
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
from broker.protocol.types import PlayRef
from broker.store.chain import MOST_TOLD, Stretch
from broker.store.records import KeptFact, ToldFact, facts_of


class _Walls(PlayRef, frozen=True, kw_only=True, gc=False, tag="restored"):
    """What is looked at of a play's walls. Texts are compared with those of the plan, and so need no other look."""

    verified: Literal[True]
    form: str


class _Seated(PlayRef, frozen=True, kw_only=True, gc=False, tag="seated"):
    players: msgspec.Raw


class _Result(PlayRef, frozen=True, kw_only=True, gc=False, tag="result"):
    profile: str
    players: msgspec.Raw
    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None
    points: dict[Seat, Points]
    fines: dict[Seat, Fine]
    hand: None = None


_Unclaimed = tuple[ToldFact[_Walls], ToldFact[_Seated], ToldFact[Confirmed], KeptFact[_Result]]
_Claimed = tuple[ToldFact[_Walls], ToldFact[_Seated], ToldFact[Confirmed], ToldFact[Declared], KeptFact[_Result]]

_UNCLAIMED_PLAYS: Final[msgspec.json.Decoder[_Unclaimed]] = msgspec.json.Decoder(_Unclaimed)
_CLAIMED_PLAYS: Final[msgspec.json.Decoder[_Claimed]] = msgspec.json.Decoder(_Claimed)


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
    received: Sequence[int]
    """When each was taken."""
    source: bytes | mmap
    start: int
    end: int
    """Where their JSON lies, as an array."""

    @property
    def last(self) -> int:
        """The number of its result."""
        return self.first + len(self.ids) - 1

    def messages(self) -> tuple[LogMessage, ...]:
        """Return its facts."""
        return *facts_of(self.source[self.start : self.end])[:-1], self.result

    def facts(self) -> Iterator[tuple[int, LogMessage]]:
        """Return its facts one by one, with when each was taken."""
        return zip(self.received, self.messages(), strict=True)

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
        if len(stretch.heights) < MOST_TOLD - 1:
            return None
        decoder = _CLAIMED_PLAYS if len(stretch.heights) == MOST_TOLD else _UNCLAIMED_PLAYS
        try:
            facts = decoder.decode(stretch.array())
        except UNREADABLE:
            return None
        walls, last = facts[0], facts[-1]
        key, said, form = (walls.table, last.fact.round), last.fact, walls.fact.form
        booking = self._event.bookings.get(key)
        if booking is None or booking.deal != said.deal or form != self._event.form(said.deal):
            return None
        declared = tuple([press.seat for press in facts[3].fact.presses]) if len(facts) == MOST_TOLD else ()
        usual = declared == (*said.winners,) and len(declared) <= 1 and not said.fines
        sat = self._have(booking.players, facts[1].fact.players, said.players)
        if not (usual and sat and said.profile == self._event.profile.id and self._in_order(facts, stretch.received)):
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
            key,
            said.deal,
            walls.seq,
            walls.at,
            form,
            booking.players,
            declared,
            last.saying(result),
            tuple([one.id for one in facts]),
            array("q", stretch.received),
            stretch.source,
            stretch.start,
            stretch.end,
        )

    def _have(self, planned: Mapping[Seat, PlayerId], seated: msgspec.Raw, paid: msgspec.Raw) -> bool:
        """Return whether facts have the players of the plan, in one order too: a message stays what it was."""
        seats = self._seats.get(id(planned))
        if seats is None:
            seats = self._seats[id(planned)] = msgspec.json.encode(planned)
        return bytes(seated) == seats == bytes(paid)

    def _in_order(self, facts: _Unclaimed | _Claimed, received: Sequence[int]) -> bool:
        """Return whether facts of one play follow without a gap, and the clock of their table can be right."""
        (table, seq, at), (round_, deal) = (
            (facts[0].table, facts[0].seq, facts[0].at),
            (facts[0].fact.round, facts[0].fact.deal),
        )
        for one, then in zip(facts, received, strict=True):
            said = one.fact
            if one.seq != seq or one.table != table or said.round != round_ or said.deal != deal:
                return False
            if not at <= one.at <= then or one.event != self._event.name:
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
