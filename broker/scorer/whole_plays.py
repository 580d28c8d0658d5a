"""Plays that were told whole and as planned, as nearly all are: a long journal is loaded play by play. Pure.

In such a play there is nothing that an arbiter must know, and judging its facts one by one finds nothing: the walls
were verified as the deal lies, everybody sat as booked, at most one declared, nobody was fined, the table told nothing
else meanwhile, and the desk ruled nothing. Whatever else a table tells is taken fact by fact, as it is while the scorer
works. Of such a play only its result is in memory as a message; its other facts are read from their JSON when somebody
asks for them, which is rare.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from broker.event import BookedPlay, Event
from broker.protocol import (
    UNREADABLE,
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


class _Identity(Struct, frozen=True, gc=False):
    """What is looked at of a fact that is known to be right."""

    id: str


class _Walls(PlayRef, frozen=True, kw_only=True, gc=False, tag="restored"):
    """What is looked at of a play's walls. Texts are compared with those of the plan, and so need no other look."""

    verified: Literal[True]
    form: str


class _Outcome(Struct, frozen=True, gc=False):
    """What a result says after its players. Few are different, and plays with the same one share it."""

    win: WinKind
    winners: Annotated[dict[Seat, HandValue], Meta(max_length=1)]
    discarder: Seat | None
    points: dict[Seat, Points]
    fines: Annotated[dict[Seat, Fine], Meta(max_length=0)]
    hand: None = None
    declared_on: None = None

    def result(self, profile: str, booking: BookedPlay) -> Result:
        """Return the result of a planned play that has ended so."""
        return Result(
            round=booking.round,
            deal=booking.deal,
            profile=profile,
            players=booking.players,
            win=self.win,
            winners=self.winners,
            discarder=self.discarder,
            points=self.points,
            fines=self.fines,
        )


_Unclaimed = tuple[ToldFact[_Walls], ToldFact[Raw], ToldFact[Raw], KeptFact[Raw]]
_Claimed = tuple[ToldFact[_Walls], ToldFact[Raw], ToldFact[Raw], ToldFact[Declared], KeptFact[Raw]]

_UNCLAIMED_PLAYS: Final[msgspec.json.Decoder[_Unclaimed]] = msgspec.json.Decoder(_Unclaimed)
_CLAIMED_PLAYS: Final[msgspec.json.Decoder[_Claimed]] = msgspec.json.Decoder(_Claimed)
_IDENTITIES: Final[msgspec.json.Decoder[tuple[_Identity, ...]]] = msgspec.json.Decoder(tuple[_Identity, ...])
_OUTCOMES: Final[msgspec.json.Decoder[_Outcome]] = msgspec.json.Decoder(_Outcome)


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
    last: int
    """The number of its result."""
    result: LogMessage
    stretch: Stretch
    """Where they are in the journal."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its facts."""
        return tuple([one.id for one in _IDENTITIES.decode(self.stretch.array())])

    def messages(self) -> tuple[LogMessage, ...]:
        """Return its facts."""
        return *facts_of(self.stretch.array())[:-1], self.result

    def facts(self) -> Iterator[tuple[int, LogMessage]]:
        """Return its facts one by one, with when each was taken."""
        return zip(self.stretch.received, self.messages(), strict=True)

    def ended(self) -> PlaySoFar:
        """Return what its sequence has come to."""
        return PlaySoFar("recorded", self.deal, self.players, self.declared)


class PlayFinder:
    """Finds the whole plays of an event. `are_right`: whether the points of a result follow from its outcome.

    But for its walls, presses and outcome, a play as planned is told in the words of the plan, byte for byte.
    """

    def __init__(self, event: Event, are_right: Callable[[Result], bool]) -> None:
        self._bookings, self._form, self._are_right = event.bookings, event.form, are_right
        self._profile = event.profile.id
        self._words: dict[int, tuple[bytes, ...]] = {}
        """What facts say before, between and after round and deal, by the identity of the plan's players."""
        self._outcomes: dict[bytes, _Outcome | None] = {}
        """What the ends of results say; None: they ask for a closer look."""

    def find(self, stretch: Stretch) -> WholePlay | None:
        """Return the play of which a stretch of the journal has all facts; None if it asks for a closer look."""
        if stretch.size < MOST_TOLD - 1:
            return None
        try:
            facts = (_CLAIMED_PLAYS if stretch.size == MOST_TOLD else _UNCLAIMED_PLAYS).decode(stretch.array())
        except UNREADABLE:
            return None
        told, last, claim = facts[0], facts[-1], facts[3].fact  # of the result, where nobody has declared
        walls, key = told.fact, (told.table, told.fact.round)
        booking = self._bookings.get(key)
        if booking is None or booking.deal != walls.deal or walls.form != (form := self._form(walls.deal)):
            return None
        outcome = self._outcome(booking, b"".join((facts[1].fact, facts[2].fact, last.fact)))
        if outcome is None or not _in_order(facts, stretch.received):
            return None
        declared = _claimed(claim, booking) if isinstance(claim, Declared) else ()
        if declared != (*outcome.winners,):
            return None
        result = last.saying(outcome.result(self._profile, booking))
        return WholePlay(key, walls.deal, told.seq, told.at, form, booking.players, declared, last.seq, result, stretch)

    def _outcome(self, booking: BookedPlay, told: bytes) -> _Outcome | None:
        """Return how a play has ended that was told as planned; None if it was not, or somebody must see it.

        `told`: what was said of the players, that they are right, and of the result.
        """
        words = self._words.get(id(booking.players)) or self._read_words(booking.players)
        begin = (b'"round":%d,"deal":%d' % (booking.round, booking.deal)).join(words)
        if not told.startswith(begin):
            return None
        end = told[len(begin) :]
        return self._outcomes[end] if end in self._outcomes else self._read_outcome(end, booking)

    def _read_words(self, players: Mapping[Seat, PlayerId]) -> tuple[bytes, ...]:
        """Return what tables say of these players, in the order of the plan; many plays may have the same."""
        seated, profile = msgspec.json.encode(players), self._profile.encode()
        words = self._words[id(players)] = (
            b'{"type":"seated",',
            b',"players":%b}{"type":"confirmed",' % seated,
            b'}{"type":"result",',
            b',"profile":"%b","players":%b,' % (profile, seated),
        )
        return words

    def _read_outcome(self, end: bytes, booking: BookedPlay) -> _Outcome | None:
        """Read how a result ends, once for all that end so: their points are right, or not, with it."""
        outcome = None
        with suppress(*UNREADABLE):
            outcome = _OUTCOMES.decode(b"{" + end)
        if outcome and not self._are_right(outcome.result(self._profile, booking)):
            outcome = None
        self._outcomes[end] = outcome
        return outcome


def _in_order(facts: _Unclaimed | _Claimed, received: Sequence[int]) -> bool:
    """Return whether facts of one table follow without a gap, and its clock can be right."""
    table, seq, at = facts[0].table, facts[0].seq, facts[0].at
    for one, then in zip(facts, received, strict=False):  # there are as many
        if one.seq != seq or one.table != table or not at <= one.at <= then:
            return False
        seq, at = seq + 1, one.at
    return True


def _claimed(said: Declared, booking: BookedPlay) -> tuple[Seat, ...] | None:
    """Return who has declared in this play; None if it was another one."""
    as_planned = said.round == booking.round and said.deal == booking.deal
    return tuple([one.seat for one in said.presses]) if as_planned else None


def unfolded(kept: Iterable[LogMessage | WholePlay]) -> Iterator[LogMessage]:
    """Return facts, those of whole plays one by one."""
    for one in kept:
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
        self.highest = 0
        """Of all numbers."""
        self._last_whole = 0
        """The highest number in a whole play: what a table tells while a scorer works comes after it."""

    def __getitem__(self, seq: int) -> LogMessage:
        """Return a fact."""
        fact = self.at(seq)
        if fact is None:
            raise KeyError(seq)
        return fact

    def at(self, seq: int) -> LogMessage | None:
        """Return a fact; None if there is none, as of most numbers that are asked for."""
        found = self._find(seq)
        return found.messages()[seq - found.first] if isinstance(found, WholePlay) else found

    def __contains__(self, seq: object) -> bool:
        """Return whether there is a fact of a number."""
        return isinstance(seq, int) and self._find(seq) is not None

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
        return found.ids[seq - found.first] if isinstance(found, WholePlay) else self[seq].id

    def last(self, most: int) -> list[int]:
        """Return the numbers that were taken last, in that order."""
        found: list[int] = []
        for first, one in reversed(self._facts.items()):
            found += range(one.last, first - 1, -1) if isinstance(one, WholePlay) else (first,)
            if len(found) >= most:
                break
        return found[:most][::-1]

    def take(self, fact: LogMessage) -> None:
        """Take in a fact."""
        self._count += fact.seq not in self
        self.highest = max(self.highest, fact.seq)
        self._facts[fact.seq] = fact

    def take_whole(self, play: WholePlay) -> None:
        """Take in all facts of a play."""
        self._facts[play.first] = play
        self._count += play.stretch.size
        if (last := play.last) > self._last_whole:
            self._last_whole = last
            self.highest = max(self.highest, last)

    def _find(self, seq: int) -> LogMessage | WholePlay | None:
        """Return a fact, or the play that has it."""
        found = self._facts.get(seq)
        if found is None and seq <= self._last_whole:
            for first in range(seq - 1, seq - MOST_TOLD, -1):
                play = self._facts.get(first)
                if isinstance(play, WholePlay) and seq <= play.last:
                    return play
        return found
