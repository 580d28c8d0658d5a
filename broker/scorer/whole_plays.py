"""Whole plays: complete and as planned, as nearly all are, so that a long journal can be loaded play by play. No I/O.

In such a play there is nothing that concerns an arbiter, and judging its facts one by one finds nothing: the walls were
verified in the deal's form, all players sat as booked, at most one declared, nobody was fined, the table reported
nothing else meanwhile, and the desk ruled nothing. Everything else is loaded fact by fact, as while the scorer is
running. Only what counts of a whole play is in memory. Its facts, including its result, are decoded from their JSON on
demand, which is rare.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from broker.event import BookedPlay, Event
from broker.protocol import (
    UNREADABLE,
    Declared,
    Fine,
    HandValue,
    LogMessage,
    PlayerId,
    PlayRef,
    PlaySoFar,
    Points,
    Result,
    Seat,
    WinKind,
)
from broker.rulings import result_of
from broker.store import COLUMNS, TEXTS, IntactRow, Rows, facts_of


class _Identity(Struct, frozen=True, gc=False):
    """The only field needed of a fact that is known to be valid."""

    id: str


class _Walls(PlayRef, frozen=True, kw_only=True, gc=False, tag="restored"):
    """The fields needed of a play's walls. Texts are compared with the plan's, and so need no other validation."""

    verified: Literal[True]
    form: str


class StoredOutcome(Struct, frozen=True, gc=False):
    """The part of a result after the players. There are few different ones, which plays share."""

    win: WinKind
    winners: Annotated[dict[Seat, HandValue], Meta(max_length=1)]
    discarder: Seat | None
    points: dict[Seat, Points]
    fines: Annotated[dict[Seat, Fine], Meta(max_length=0)]
    hand: None = None
    declared_on: None = None

    def result(self, profile: str, booking: BookedPlay) -> Result:
        """Return the result of a planned play with this outcome."""
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


_WALLS: Final[msgspec.json.Decoder[_Walls]] = msgspec.json.Decoder(_Walls)
_CLAIMS: Final[msgspec.json.Decoder[Declared]] = msgspec.json.Decoder(Declared)
_OUTCOMES: Final[msgspec.json.Decoder[StoredOutcome]] = msgspec.json.Decoder(StoredOutcome)
_IDENTITIES: Final[msgspec.json.Decoder[tuple[_Identity, ...]]] = msgspec.json.Decoder(tuple[_Identity, ...])

KINDS: Final = (b"restored", b"seated", b"confirmed", b"declared", b"result")
"""Kinds of facts in a whole play. If nobody has won, there is no declaration."""

MOST_FACTS: Final = len(KINDS)

LEADING_FIELDS: Final = re.compile(rb'"(?:type|round|deal|profile|players)":')
"""Leading fields of a fact. If one is repeated, its last value counts, so the fact is decoded by itself."""


class StoredRows:
    """The rows of a journal in order, by columns. `read`: consecutive parts, each with its own texts."""

    def __init__(self, read: Iterable[Rows]) -> None:
        self._parts = [*read]
        self._begins = [*accumulate((len(one.columns[0]) for one in self._parts), initial=0)]
        self.texts: dict[bytes, int] = {b"": 0}
        parts = [*map(self._numbers, self._parts)]
        names, nothing = (*COLUMNS, "start"), np.zeros(0, np.int64)
        self._columns = {name: np.concatenate([nothing, *(one[name] for one in parts)]) for name in names}

    def _numbers(self, rows: Rows) -> dict[str, NDArray[np.int64]]:
        """Return the columns of a part, with texts renumbered, and the offset of each body in the part's source."""
        columns = dict(zip(COLUMNS, (np.frombuffer(one, np.int64) for one in rows.columns), strict=True))
        number = np.array([self.texts.setdefault(one, len(self.texts)) for one in rows.texts], np.int64)
        columns |= {name: number[columns[name]] for name in TEXTS}
        return columns | {"start": np.cumsum(columns["length"]) - columns["length"]}

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self._columns[name]

    def __len__(self) -> int:
        return self._begins[-1]

    def row(self, row: int) -> IntactRow:
        """Return a row as stored."""
        return int(self["height"][row]), int(self["received"][row]), self.body(row)

    def body(self, row: int) -> bytes:
        """Return the body of a row."""
        part = self._parts[bisect_right(self._begins, row) - 1]
        start = int(self["start"][row])
        return part.source[start : start + int(self["length"][row])]

    def array(self, rows: Iterable[int]) -> bytes:
        """Return bodies as one JSON array."""
        return b"[%b]" % b",".join(map(self.body, rows))


class WholePlay(Struct, frozen=True, eq=False, gc=False):
    """All facts of a play."""

    key: tuple[int, int]
    """Table and round."""
    deal: int
    first: int
    """The number of its first fact. The others follow without a gap."""
    began: int
    """When its first fact was reported, by the table's clock."""
    form: str
    """Form of its walls."""
    players: Mapping[Seat, PlayerId]
    outcome: StoredOutcome
    """The outcome in its result. The winners have declared."""
    last: int
    """The number of its result."""
    at: int
    """When its result was reported, by the table's clock."""
    rows: Sequence[int]
    """The row numbers of its facts in `stored`."""
    stored: StoredRows

    @property
    def points(self) -> Mapping[Seat, Points]:
        """The points of its result."""
        return self.outcome.points

    @property
    def fines(self) -> Mapping[Seat, Fine]:
        """The fines of its result: none."""
        return self.outcome.fines

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its facts."""
        return tuple([one.id for one in _IDENTITIES.decode(self.stored.array(self.rows))])

    def messages(self) -> tuple[LogMessage, ...]:
        """Decode and return its facts."""
        return facts_of(self.stored.array(self.rows))

    @property
    def result(self) -> LogMessage:
        """Its result, decoded each time."""
        return self.messages()[-1]

    def facts(self) -> Iterator[tuple[int, LogMessage]]:
        """Yield its facts one by one, with the time at which each was accepted."""
        return zip(self.stored["received"][[*self.rows]].tolist(), self.messages(), strict=True)

    def ended(self) -> PlaySoFar:
        """Return the final state of its sequence."""
        return PlaySoFar("recorded", self.deal, self.players, (*self.outcome.winners,))


class WholePlayFinder:
    """Finds the whole plays of an event. `are_right`: whether the points of a result follow from its outcome.

    Apart from walls, presses and outcome, the facts of a play as planned match the plan byte for byte.
    """

    def __init__(self, event: Event, are_right: Callable[[Result], bool]) -> None:
        self._bookings, self._form, self._are_right = event.bookings, event.form, are_right
        self._profile = event.profile.id

    def find(self, rows: StoredRows, after: int) -> Iterator[WholePlay]:
        """Yield the plays whose facts are all in rows after a height, in the order of their results."""
        places, texts = _whole_rows(rows, after), [*rows.texts]
        first, claim, last = (places[:, at] for at in (0, 3, -1))
        presses = np.where(claim < last, rows["rest"][claim], 0)
        begun = (rows[name][first] for name in ("table", "round", "deal", "seq", "at", "rest"))
        ended = (rows[name][last] for name in ("players", "rest", "seq", "at"))
        columns = *begun, rows["players"][places[:, 1]], presses, *ended
        forms, claims = cache(lambda walls: _form_of(texts[walls])), cache(lambda claimed: _claimants(texts[claimed]))
        known, outcomes = dict[int, tuple[int | None, ...]](), dict[int, StoredOutcome | None]()
        for at, table, round_, deal, first_seq, began, walls, sat, claimed, named, end, final, over in zip(
            places.tolist(), *(column.tolist() for column in columns), strict=True
        ):
            booking = self._bookings.get((table, round_))
            if booking is None or booking.deal != deal or forms(walls) != (form := self._form(deal)):
                continue
            players = booking.players  # shared by many plays
            if (sat, named) != (known.get(id(players)) or known.setdefault(id(players), self._texts_of(rows, players))):
                continue
            outcome = outcomes[end] if end in outcomes else outcomes.setdefault(end, self._outcome(texts[end], booking))
            if outcome is None or claims(claimed) != (*outcome.winners,):
                continue
            here = at[: final - first_seq + 1]
            yield WholePlay((table, round_), deal, first_seq, began, form, players, outcome, final, over, here, rows)

    def _texts_of(self, rows: StoredRows, players: Mapping[Seat, PlayerId]) -> tuple[int | None, ...]:
        """Return the text numbers of the players in a play's `seated` and `result` facts."""
        text = b',"players":%b' % msgspec.json.encode(players)
        return rows.texts.get(text), rows.texts.get(b',"profile":"%b"%b' % (self._profile.encode(), text))

    def _outcome(self, text: bytes, booking: BookedPlay) -> StoredOutcome | None:
        """Decode an outcome, once for all equal ones. None if it needs a closer look, as wrong points do."""
        with suppress(*UNREADABLE):
            outcome = _OUTCOMES.decode(_full_json(b'{"type":"result"', text))
            return outcome if self._are_right(outcome.result(self._profile, booking)) else None
        return None


def _whole_rows(rows: StoredRows, after: int) -> NDArray[np.int64]:
    """Return the rows of plays that tables have reported in order and without interruption, as an array (plays, 5).

    Only rows after a height are included, in the order of the results. Without a declaration, the result is repeated.
    No other fact of the table and no decision of the desk comes between the rows, and the table's clock can be right.
    """
    by_table = np.argsort(rows["table"], kind="stable")
    kinds, kind = np.array([rows.texts.get(kind, -1) for kind in KINDS]), rows["kind"][by_table]
    begin = np.flatnonzero(kind[: 2 - MOST_FACTS] == kinds[0])
    size = np.where(kind[begin + 3] == kinds[3], MOST_FACTS, MOST_FACTS - 1)
    begin, size = (one[begin + size <= len(rows)] for one in (begin, size))
    step = np.minimum(np.arange(MOST_FACTS), size[:, None] - 1)
    found = by_table[begin[:, None] + step]
    first, last, claimed = found[:, :1], found[:, -1:], size == MOST_FACTS
    at, players, rest = rows["at"][found], rows["players"][found], rows["rest"][found]
    right = (rows["kind"][found] == np.where(found < last, kinds, kinds[-1])) & (at <= rows["received"][found])
    right &= rows["seq"][found] - rows["seq"][first] == step
    right[:, 1:] &= at[:, 1:] >= at[:, :-1]
    for column in (*(rows[name] for name in ("table", "round", "deal")), np.cumsum(rows["kind"] == 0)):
        right &= column[found] == column[first]
    right[:, 0] &= (players[:, 0] == 0) & (rows["height"][first[:, 0]] > after)
    right[:, 1] &= rest[:, 1] == 0
    right[:, 2] &= (players[:, 2] == 0) & (rest[:, 2] == 0)
    right[:, 3] &= ~claimed | ((players[:, 3] == 0) & (rest[:, 3] != 0))
    found = found[right.all(axis=1)]
    return np.asarray(found[np.argsort(found[:, -1])])


def _full_json(begin: bytes, rest: bytes) -> bytes:
    """Return a fact's JSON, given the rest of it, or undecodable b"" if the rest repeats how it begins."""
    return b"" if LEADING_FIELDS.search(rest) else b"%b%b}" % (begin, rest)


def _form_of(text: bytes) -> str | None:
    """Return the form of verified walls, or None for others."""
    with suppress(*UNREADABLE):
        return _WALLS.decode(_full_json(b'{"type":"restored","round":1,"deal":1', text)).form
    return None


def _claimants(text: bytes) -> tuple[Seat, ...] | None:
    """Return the seats that have declared, or None if they cannot be decoded."""
    with suppress(*UNREADABLE):
        claims = _CLAIMS.decode(_full_json(b'{"type":"declared","round":1,"deal":1', text)) if text else None
        return tuple([one.seat for one in claims.presses]) if claims else ()
    return None


def message_of_result(result: LogMessage | WholePlay) -> LogMessage:
    """Return a fact itself, or a whole play's result."""
    return result.result if isinstance(result, WholePlay) else result


def outcome_of(result: LogMessage | WholePlay) -> Result | WholePlay:
    """Return the content of a result; for a whole play, the play itself. Raises TypeError if it is not a result."""
    return result if isinstance(result, WholePlay) else result_of(result)


def unfolded(facts: Iterable[LogMessage | WholePlay]) -> Iterator[LogMessage]:
    """Yield facts, with whole plays expanded."""
    for one in facts:
        if isinstance(one, WholePlay):
            yield from one.messages()
        else:
            yield one


class FactsByNumber(Mapping[int, LogMessage]):
    """Facts of one table in the order of acceptance. Those of whole plays are decoded on access."""

    def __init__(self) -> None:
        self._facts: dict[int, LogMessage | WholePlay] = {}
        """Single facts by number, and whole plays by their first number."""
        self._count = 0
        self.highest = 0
        """The highest number."""
        self._last_whole = 0
        """The highest number in a whole play. Facts accepted while the scorer is running come later."""

    def __getitem__(self, seq: int) -> LogMessage:
        fact = self.at(seq)
        if fact is None:
            raise KeyError(seq)
        return fact

    def at(self, seq: int) -> LogMessage | None:
        """Return a fact, or None, as for most numbers asked for."""
        found = self._find(seq)
        return found.messages()[seq - found.first] if isinstance(found, WholePlay) else found

    def __contains__(self, seq: object) -> bool:
        return isinstance(seq, int) and self._find(seq) is not None

    def __iter__(self) -> Iterator[int]:
        for seq, one in self._facts.items():
            yield from range(seq, one.last + 1) if isinstance(one, WholePlay) else (seq,)

    def __len__(self) -> int:
        return self._count

    def of_round(self, round_: int) -> Iterator[LogMessage]:
        """Yield the facts of a round. Whole plays of other rounds are not decoded."""
        for one in self._facts.values():
            if isinstance(one, WholePlay):
                yield from one.messages() if one.key[1] == round_ else ()
            elif one.fact.round == round_:
                yield one

    def id_of(self, seq: int) -> str:
        """Return the id of a fact."""
        found = self._find(seq)
        return found.ids[seq - found.first] if isinstance(found, WholePlay) else self[seq].id

    def last(self, most: int) -> list[int]:
        """Return the most recently accepted numbers, in order."""
        found: list[int] = []
        for first, one in reversed(self._facts.items()):
            found += range(one.last, first - 1, -1) if isinstance(one, WholePlay) else (first,)
            if len(found) >= most:
                break
        return found[:most][::-1]

    def take(self, fact: LogMessage) -> None:
        """Add a fact."""
        self._count += fact.seq not in self
        self.highest = max(self.highest, fact.seq)
        self._facts[fact.seq] = fact

    def take_whole(self, play: WholePlay) -> None:
        """Add all facts of a whole play."""
        self._facts[play.first] = play
        self._count += play.last - play.first + 1
        if (last := play.last) > self._last_whole:
            self._last_whole = last
            self.highest = max(self.highest, last)

    def _find(self, seq: int) -> LogMessage | WholePlay | None:
        """Return a fact, or the whole play that contains it."""
        found = self._facts.get(seq)
        if found is None and seq <= self._last_whole:
            for first in range(seq - 1, seq - MOST_FACTS, -1):
                play = self._facts.get(first)
                if isinstance(play, WholePlay) and seq <= play.last:
                    return play
        return found
