"""Projections of the tables' facts other than results: times, seats, visits of arbiters, riichi sessions. No I/O.

Each projection handles facts of some `kinds`: `apply` takes one accepted fact with its corrected time, in any order.
The other methods only read.

A Pi's clock has no battery, and a hall often has no time server, so a table's clock may be a day off. A table that was
offline sends its facts late; then its clock knows better than ours when they happened.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from broker.event import Event, RiichiBooking, SessionKey
from broker.protocol import (
    ARBITER_FACTS,
    SEATS,
    AnyArbiterFact,
    Call,
    Confirmed,
    LogMessage,
    Paused,
    PlannedSession,
    Player,
    PlayerId,
    Restored,
    Result,
    RiichiRecorded,
    RiichiTakenBack,
    Seat,
    Seated,
)
from broker.rules import RuleError
from broker.rules.riichi import (
    RiichiProfile,
    event_from_message,
    first_state,
    points_by_seat,
    settle_event,
    standing_from_state,
)
from broker.rulings import PlayKey
from broker.scorer.whole_plays import WholePlay


class TableFacts:
    """The projections of one event's facts. `rules_of` returns the rules of a riichi session."""

    def __init__(self, rules_of: Callable[[RiichiBooking], RiichiProfile], seatings: "Seatings | None" = None) -> None:
        """`seatings`: existing ones, for trying a ruling."""
        self.clock = FactTimes()
        self.times = TableTimes()
        self.seatings = Seatings() if seatings is None else seatings
        self.visits = Visits()
        self.sessions = RiichiSessions(rules_of)
        self._of_kind = defaultdict[type[Struct], list[Callable[[LogMessage], None]]](list)
        """Handlers by kind of fact, since a starting scorer applies hundreds of thousands of facts."""
        for projection in (self.times, self.seatings, self.visits, self.sessions):
            for kind in projection.kinds:
                self._of_kind[kind].append(projection.apply)

    def apply(self, message: LogMessage) -> None:
        """Apply one accepted fact."""
        for apply in self._of_kind.get(type(message.fact), ()):
            apply(message)

    def take_whole(self, plays: Sequence[WholePlay]) -> None:
        """Apply all facts of whole plays from a journal."""
        for last in {one.key[0]: one for one in plays}.values():
            self.clock.take_whole(last)
            self.times.take_whole(last)
        self.seatings.take_whole(plays)

    def take_over(self, message: LogMessage) -> None:
        """Apply a fact that an arbiter lets count, perhaps long after it happened: only seats and riichi sessions."""
        self.seatings.apply(message)
        self.sessions.apply(message)

    def leave_out(self, message: LogMessage) -> None:
        """Forget a fact that an arbiter no longer lets count."""
        self.seatings.forget(message)
        self.sessions.forget(message)


class Since(NamedTuple):
    """When something began, and in which round."""

    at: int
    """Ms since 1970; for a table that was offline, by its own clock as far as that can be right (`FactTimes`)."""
    round: int


class RestoredWalls(NamedTuple):
    """A table's report of how it restored its walls."""

    round: int
    deal: int
    form: str
    verified: bool


class TableTimes:
    """Since when each table plays, calls and pauses, and what it restored last."""

    kinds = (Confirmed, Result, Call, Restored, Paused)

    def __init__(self) -> None:
        self.playing: dict[int, Since] = {}
        self.calling: dict[int, Since] = {}
        self.pausing: dict[int, Since] = {}
        self.restored: dict[int, RestoredWalls] = {}

    def queue(self) -> list[int]:
        """Return the tables with an open call, the oldest call first."""
        return [table for _, table in sorted((one.at, table) for table, one in self.calling.items())]

    def apply(self, message: LogMessage) -> None:
        """Apply one accepted fact."""
        fact, table = message.fact, message.table
        if isinstance(fact, Confirmed):
            self.playing[table] = Since(message.at, fact.round)
        elif isinstance(fact, Result):
            began = self.playing.get(table)
            if began is not None and began.round <= fact.round:
                del self.playing[table]
        elif isinstance(fact, Call):
            _note_since(self.calling, message, begins=fact.open)
        elif isinstance(fact, Restored):
            self.restored[table] = RestoredWalls(fact.round, fact.deal, fact.form, fact.verified)
        elif isinstance(fact, Paused):
            _note_since(self.pausing, message, begins=fact.begin)

    def take_whole(self, play: WholePlay) -> None:
        """Apply a whole play, which is over."""
        table, round_ = play.key
        self.restored[table] = RestoredWalls(round_, play.deal, play.form, verified=True)
        self.playing.pop(table, None)


def _note_since(since: dict[int, Since], message: LogMessage, *, begins: bool) -> None:
    """Record when something first began, until it ends."""
    if begins:
        since.setdefault(message.table, Since(message.at, message.fact.round))
    else:
        since.pop(message.table, None)


class Seatings:
    """Who sat where in each play, and who has played which deal."""

    kinds = (Seated, Result)

    def __init__(self) -> None:
        self._seated: dict[PlayKey, dict[int, Mapping[Seat, PlayerId]]] = {}
        """Who sat down in each play, by the number of the fact."""
        self._counted: dict[PlayKey, Result | WholePlay] = {}
        self._of_deal: defaultdict[int, dict[PlayKey, Result | WholePlay]] = defaultdict(dict)
        self._have_played: dict[int, Counter[PlayerId]] = {}
        """How often each player has played each deal, counted on demand."""

    def copy(self) -> "Seatings":
        """Return an independent copy."""
        new = Seatings()
        new._seated = {key: dict(facts) for key, facts in self._seated.items()}
        new._counted = dict(self._counted)
        new._of_deal.update({deal: dict(results) for deal, results in self._of_deal.items()})
        return new

    def apply(self, message: LogMessage) -> None:
        """Apply one accepted fact. Facts that are not about seats change nothing."""
        fact, key = message.fact, (message.table, message.fact.round)
        if isinstance(fact, Seated):
            self._seated.setdefault(key, {})[message.seq] = fact.players
        elif isinstance(fact, Result):
            if before := self._counted.get(key):
                del self._of_deal[before.deal][key]
                self._have_played.pop(before.deal, None)
            self._counted[key] = self._of_deal[fact.deal][key] = fact
            self._have_played.pop(fact.deal, None)

    def take_whole(self, plays: Iterable[WholePlay]) -> None:
        """Apply whole plays, in which the players named by the result sat down."""
        for play in plays:
            key = play.key
            if key in self._seated or key in self._counted:
                self.apply(play.result)
                self._seated.setdefault(key, {})[play.first + 1] = play.players
            else:
                self._counted[key] = self._of_deal[play.deal][key] = play

    def forget(self, message: LogMessage) -> None:
        """Forget a fact that no longer counts."""
        fact, key = message.fact, (message.table, message.fact.round)
        if isinstance(fact, Seated):
            others = {seq: players for seq, players in self._seated.pop(key, {}).items() if seq != message.seq}
            self._seated |= {key: others} if others else {}
        elif self._counted.get(key) is fact:
            del self._counted[key], self._of_deal[fact.deal][key]
            self._have_played.pop(fact.deal, None)

    def begun(self) -> dict[PlayKey, Collection[PlayerId]]:
        """Return the plays that tables have begun, with those who sat down last."""
        seated = {key: facts[max(facts)] for key, facts in self._seated.items() if facts}
        counted = {key: one.players for key, one in self._counted.items()}
        return {key: players.values() for key, players in (seated | counted).items()}

    def of(self, key: PlayKey) -> Mapping[Seat, PlayerId] | None:
        """Return who sits there by the table's last fact about it, or by the result. None if there is neither."""
        if seated := self._seated.get(key):
            return seated[max(seated)]
        counted = self._counted.get(key)
        return counted.players if counted else None

    def repeating(self, key: PlayKey, deal: int, players: Iterable[PlayerId]) -> tuple[PlayerId, ...]:
        """Return those of these players who have a result with this deal in another play."""
        if deal not in self._have_played:
            results = self._of_deal.get(deal, {}).values()
            self._have_played[deal] = Counter(player for one in results for player in one.players.values())
        times, counted = self._have_played[deal], self._counted.get(key)
        own = counted.players.values() if counted else ()
        return tuple(sorted(one for one in players if times[one] - (one in own) > 0))

    def repeated(self, event: Event) -> set[int]:
        """Return the deals for which somebody has two results, or to which somebody has sat down again."""
        found = set()
        for deal, results in self._of_deal.items():
            players = [one.players.values() for one in results.values()]
            if len(set[PlayerId]().union(*players)) < sum(map(len, players)):
                found.add(deal)
        begun = ((key, event.bookings[key].deal) for key in self._seated.keys() - self._counted.keys())
        return found | {deal for key, deal in begun if self.repeating(key, deal, (self.of(key) or {}).values())}

    def to_come(self, event: Event, table: int, replanned: Mapping[int, int]) -> dict[int, tuple[PlayerId, ...]]:
        """Return, by round, who is to play a deal at a table a second time. Rounds with a result are over."""
        found = {
            one.round: self.repeating((table, one.round), replanned.get(one.round, one.deal), one.players.values())
            for one in event.plays_at(table)
            if (table, one.round) not in self._counted
        }
        return {round_: players for round_, players in found.items() if players}


class Visit(Struct, frozen=True):
    """An arbiter's action at a table other than a ruling. `at`: ms since 1970, corrected (see `FactTimes`)."""

    at: int
    table: int
    seq: int
    id: str
    fact: AnyArbiterFact

    @property
    def kind(self) -> str:
        """The kind of action: the fact's tag, except for the end of a pause."""
        if isinstance(self.fact, Paused) and not self.fact.begin:
            return "resumed"
        return str(self.fact.__struct_config__.tag)

    @property
    def author(self) -> str:
        """Who did it, or empty if unknown."""
        return getattr(self.fact, "author", "")

    @property
    def reason(self) -> str:
        """The reason, or empty if none was asked for, as when the desk has ordered it."""
        return getattr(self.fact, "reason", "")

    @property
    def ordered(self) -> bool:
        """Whether the desk has ordered it. An arbiter who does it at the table is asked for a reason."""
        return self.kind in {"paused", "time_added"} and not self.reason


VISIT_KINDS = ("paused", "resumed", "time_added", "let_in", "left", "pin_wrong")


class Visits:
    """The actions of arbiters at the tables."""

    kinds = ARBITER_FACTS

    def __init__(self) -> None:
        self._visits: list[Visit] = []

    def apply(self, message: LogMessage) -> None:
        """Apply one accepted fact."""
        if isinstance(message.fact, ARBITER_FACTS):
            self._visits.append(Visit(message.at, message.table, message.seq, message.id, message.fact))

    def oldest_first(self) -> list[Visit]:
        """Return the visits, oldest first."""
        return sorted(self._visits, key=lambda one: (one.at, one.table, one.seq))


class FactTimes:
    """Corrects the times of facts, given in the order in which they were accepted."""

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        """Time of each table's last fact, ms since 1970."""

    def corrected(self, message: LogMessage, received_at: int) -> LogMessage:
        """Return the message, with `received_at` as its time unless its own is between the table's last fact and that.

        `received_at`: ms since 1970, by the scorer's clock. For a table's first fact nothing vouches for its clock.
        """
        before = self._before.get(message.table)
        right = before is not None and before <= message.at <= received_at
        at = self._before[message.table] = message.at if right else received_at
        return message if right else replace(message, at=at)

    def are_right(self, plays: Sequence[WholePlay]) -> bool:
        """Return whether the times of a table's whole plays are right. Within each play they are in order."""
        before = self._before.get(plays[0].key[0])
        in_order = all(one.at <= then.began for one, then in pairwise(plays))
        return before is not None and before <= plays[0].began and in_order

    def take_whole(self, play: WholePlay) -> None:
        """Record the time of a play's last fact."""
        self._before[play.key[0]] = play.at


class RiichiSessions:
    """The state of each riichi session: its entries in the order of their facts (`seq`), except those taken back.

    An entry that does not follow from the previous ones is included, and left to an arbiter.
    """

    kinds = (RiichiRecorded, RiichiTakenBack)

    def __init__(self, rules_of: Callable[[RiichiBooking], RiichiProfile]) -> None:
        self._rules_of = rules_of
        self._facts: dict[SessionKey, dict[int, RiichiRecorded | RiichiTakenBack]] = {}
        self._entries: dict[SessionKey, tuple[RiichiRecorded, ...]] = {}

    def apply(self, message: LogMessage) -> None:
        """Apply one accepted fact. Facts of no session change nothing."""
        if isinstance(message.fact, RiichiRecorded | RiichiTakenBack):
            key = message.table, message.fact.round
            self._facts.setdefault(key, {})[message.seq] = message.fact
            self._entries[key] = self._entries_left(key)

    def forget(self, message: LogMessage) -> None:
        """Forget a fact that no longer counts."""
        key = message.table, message.fact.round
        if self._facts.get(key, {}).pop(message.seq, None):
            self._entries[key] = self._entries_left(key)

    def entries(self, key: SessionKey) -> tuple[RiichiRecorded, ...]:
        """Return the entries of a session: the same object until its table adds to it.

        Thread-safe, because the tuple is replaced as a whole.
        """
        return self._entries.get(key, ())

    def _entries_left(self, key: SessionKey) -> tuple[RiichiRecorded, ...]:
        entries: list[RiichiRecorded] = []
        for _, fact in sorted(self._facts[key].items()):
            if isinstance(fact, RiichiRecorded):
                entries.append(fact)
            elif entries and entries[-1].entry == fact.entry:
                entries.pop()
        return tuple(entries)

    def present(self, booked: Mapping[SessionKey, RiichiBooking], table: int) -> RiichiBooking | None:
        """Return the session that a table has to play now: the first that is not over, or the last, or None."""
        here = [one for (at, _), one in sorted(booked.items()) if at == table]
        for one in here:
            entries = self.entries((one.table, one.round))
            if not entries or entries[-1].event.kind != "end":
                return one
        return here[-1] if here else None

    def planned(self, booking: RiichiBooking, players: Mapping[str, Player]) -> PlannedSession:
        """Return a session as sent to its table, with its standing, for a device that knows nothing of it."""
        entries = self.entries((booking.table, booking.round))
        return PlannedSession(
            round=booking.round,
            players={seat: players[booking.players[seat]] for seat in SEATS},
            set=booking.set,
            standing=entries[-1].standing if entries else None,
            entries=entries[-1].entry if entries else 0,
        )

    def differing(self, booking: RiichiBooking) -> tuple[int, ...]:
        """Return the numbers of entries whose payments do not follow from the previous entries."""
        rules = self._rules_of(booking)
        state, wrong = first_state(rules), list[int]()
        for fact in self.entries((booking.table, booking.round)):
            try:
                settled = settle_event(state, event_from_message(fact.event), rules)
            except RuleError:
                return (*wrong, fact.entry)
            state = settled.state
            recorded = fact.deltas, fact.standing
            if recorded != (points_by_seat(settled.deltas), standing_from_state(state, fact.standing.hand)):
                wrong.append(fact.entry)
        return tuple(wrong)
