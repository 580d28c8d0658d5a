"""Judges every incoming message: accepted, duplicate, or refused. A refused message changes nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from broker.errors import BadEvent, RuleError
from broker.event import Event, RiichiBooking
from broker.i18n import N_
from broker.protocol import (
    ARBITER_FACTS,
    SEATS,
    Adjusted,
    Beat,
    Call,
    Confirmed,
    CountRequest,
    DealPlayed,
    Declared,
    Fact,
    FineRuled,
    KeptBack,
    LogMessage,
    Message,
    NewerFact,
    PinGiven,
    PlanChanged,
    Refusal,
    Refused,
    Result,
    RiichiRecorded,
    RiichiTakenBack,
    Ruled,
    Ruling,
    Seated,
    TableState,
    Taken,
    TilesLaid,
    decode_on_topic,
    fact_hash,
    is_same_fact,
    players_named,
)
from broker.rules import choices_of, points_paid
from broker.scorer.access import SESSION_UNKNOWN, Admissions, ArbiterAccess, PinWaits
from broker.scorer.quarantine import MOST_PASSED, UNEXPLAINED
from broker.scorer.whole_plays import FactsByNumber, WholePlay
from broker.store import DESK, LINK_ALTERED, LOST, Fault, Recorded, RefusedRow

OF_RIICHI = (Confirmed, Declared, Call, RiichiRecorded, RiichiTakenBack, *ARBITER_FACTS)
"""Kinds of facts that belong to riichi sessions."""

MOST_MISSING = 500
"""How many facts of one table may be missing below a new one."""

MOST_GAPS = 1000
"""Most missing facts that one receipt lists."""

MOST_LISTED = 100
"""Most accepted facts, and most refused ones, that one receipt lists."""

# Limits of facts of one kind per play: more than people ever need, as a protection against runaway programs. A table's
# own program stays within them, so whatever is refused here came from another program, or from a broken one. The
# numbers of facts refused for this reason do not count as missing, so later facts of the table are still accepted.

MOST_RULED: Final = 20
"""Rulings of a table on one play. A device speaks for anyone who has its PIN, and must not flood the rulings."""

MOST_LAID: Final = 8
"""Reports per play of the tiles that were laid. Each one is searched and answered."""

MOST_OF_A_KIND: Final = 200
"""Facts of any other kind in one play, such as a hundred calls."""

MOST_IN_A_SESSION: Final = 2_000
"""The same limit for a riichi session, in which one round contains the hands and calls of a whole evening."""

COUNTED_TOGETHER: Final = "arbiters"
"""Kind under which all facts about arbiters, except rulings, are counted: a session, one round, has many visits."""

OVER_QUOTA: Final = frozenset({"too_many_rulings", "too_many_facts"})
"""Codes of refusals for exceeding a limit."""


@dataclass(frozen=True, slots=True)
class IntakeVerdict:
    """The verdict on one message. `code` is None if it is accepted, or was accepted before."""

    message: Message | None
    code: str | None = None
    text: str = ""
    new: bool = False
    known_flood: bool = False
    """Whether arbiters already know that there are too many of this kind."""
    hash: str = ""
    """The hash of a new fact."""
    waits: bool = False
    """Whether the message depends on a PIN that is still being judged, and has to be judged again."""


@dataclass(slots=True)
class TableBook:
    """The state of one table's sequence of facts."""

    accepted: FactsByNumber = field(default_factory=FactsByNumber)
    refused: list[Refusal] = field(default_factory=list)
    recent: dict[int, None] = field(default_factory=dict)
    """Numbers recently accepted or seen again, the latest last."""
    upto: int = 0
    """The highest number that was accepted."""
    missing: set[int] = field(default_factory=set)
    """Numbers below `upto` that were not accepted."""
    requested: dict[int, int | None] = field(default_factory=dict)
    """Numbers of facts whose stored rows were altered or lost, with the heights of the rows that are still there."""
    passed_over: set[int] = field(default_factory=set)
    """Numbers that nobody waits for, because they were refused for exceeding a limit."""
    hashes: dict[int, str] = field(default_factory=dict)
    """Hashes of the accepted facts that no later fact names as its predecessor."""
    rejected_hashes: set[str] = field(default_factory=set)
    """Hashes of facts refused because they do not fit the chain. Facts that follow them do not fit either."""

    @property
    def head(self) -> str | None:
        """The hash of the fact with the number `upto`."""
        return self.hashes.get(self.upto)

    def has(self, seq: int, digest: str) -> bool:
        """Return whether a fact with this number and hash was accepted, and is stored intact."""
        if seq > self.upto or seq not in self.accepted or seq in self.requested:
            return False
        after = self.accepted.at(seq + 1)
        return digest == (after.before if after and after.before else self.hashes.get(seq))

    def follows(self, message: LogMessage, digest: str) -> bool:
        """Return whether a fact fits between its neighbours. Each fact names the hash of the one before it."""
        before, after = self.hashes.get(message.seq - 1), self.accepted.at(message.seq + 1)
        if after is not None and after.before not in (None, digest):
            return False
        return message.before is None or (
            message.before not in self.rejected_hashes and before in (None, message.before)
        )

    def reject_hash(self, digest: str) -> None:
        """Remember a fact that does not fit the chain, so that facts following it are refused, too."""
        if len(self.rejected_hashes) >= MOST_MISSING:
            self.rejected_hashes.clear()
        self.rejected_hashes.add(digest)

    def take(self, message: LogMessage, digest: str | None = None) -> None:
        """Record an accepted fact."""
        seq = message.seq
        self.accepted.take(message)
        after = self.accepted.at(seq + 1)
        if digest and (after is None or after.before is None):
            self.hashes[seq] = digest
        if message.before:
            self.hashes.pop(seq - 1, None)
        if seq > self.upto:
            if seq > self.upto + 1:
                self.missing.update(range(self.upto + 1, seq))
            self.upto = seq
        else:
            self.missing.discard(seq)
        self.passed_over.discard(seq)
        if self.refused:
            self.refused = [one for one in self.refused if (one.seq, one.id) != (seq, message.id)]

    def loaded(self) -> None:
        """Complete the book after it was filled from the store with accepted and refused facts."""
        self.upto = self.accepted.highest
        if len(self.accepted) < self.upto:
            self.missing = set(range(1, self.upto + 1)) - self.accepted.keys()
        followed = {seq for seq in self.hashes if (after := self.accepted.at(seq + 1)) and after.before}
        self.hashes = {seq: digest for seq, digest in self.hashes.items() if seq not in followed}
        self.refused = [
            one for one in self.refused if one.seq not in self.accepted or self.accepted.id_of(one.seq) != one.id
        ]
        self.passed_over -= self.accepted.keys()
        self.recent = dict.fromkeys(self.accepted.last(MOST_LISTED))

    def request_again(self, seq: int, height: int | None) -> None:
        """Ask the table for a fact again. `height`: of its row in the store, or None if there is no such row.

        If a row was lost, recovered and then altered, this is called twice: the fact that comes repairs the altered
        row.
        """
        self.requested[seq] = self.requested.get(seq) if height is None else height
        if seq not in self.accepted and height is not None:  # beyond its last fact, a table resends lost ones unasked
            self.missing.update(range(self.upto + 1, seq + 1))
            self.missing.add(seq)
            self.upto = max(self.upto, seq)

    def mark_recent(self, seq: int) -> None:
        """Move a number to the end of the list for the next receipt."""
        self.recent.pop(seq, None)
        self.recent[seq] = None
        while len(self.recent) > MOST_LISTED:
            del self.recent[next(iter(self.recent))]

    def recent_facts(self) -> tuple[Taken, ...]:
        """Return the facts most recently accepted or seen again."""
        return tuple(Taken(seq=seq, id=self.accepted.id_of(seq)) for seq in self.recent)

    def requested_numbers(self) -> tuple[int, ...]:
        """Return the numbers of stored facts that the table is asked to send again."""
        return tuple(sorted(self.requested)[:MOST_LISTED])

    def lacks_before(self, seq: int) -> bool:
        """Return whether an earlier fact may still arrive, such as the one that let an arbiter in."""
        over = self.passed_over | {one.seq for one in self.refused if one.code not in UNEXPLAINED}
        beyond = range(self.upto + 1, seq)
        return any(one < seq and one not in over for one in self.missing) or any(one not in over for one in beyond)

    def gaps(self) -> tuple[int, ...]:
        """Return the numbers missing below the highest accepted one."""
        return tuple(sorted(self.missing - self.passed_over)[:MOST_GAPS])


def lacks_ruling(faults: Iterable[Fault]) -> bool:
    """Return whether the faults of a store may include a lost or altered ruling."""
    return any(fault.table in (DESK, None) and fault.code != LINK_ALTERED for fault in faults)


def kind_of(fact: Fact) -> str:
    """Return the kind under which a fact is counted."""
    return COUNTED_TOGETHER if isinstance(fact, ARBITER_FACTS) else type(fact).__name__


class Quotas:
    """Counts each table's facts per round and kind. `accepted` returns the accepted facts of a table in a round."""

    def __init__(self, accepted: Callable[[int, int], Iterable[LogMessage]]) -> None:
        self._accepted = accepted
        self._counts: dict[tuple[int, int], Counter[str]] = {}
        """Counts by table and round, for those that were needed since the start."""

    def count(self, message: LogMessage) -> None:
        """Count an accepted fact."""
        if (counts := self._counts.get((message.table, message.fact.round))) is not None:
            counts[kind_of(message.fact)] += 1

    def _counts_in(self, table: int, round_: int) -> Counter[str]:
        if (table, round_) not in self._counts:
            self._counts[table, round_] = Counter(kind_of(one.fact) for one in self._accepted(table, round_))
        return self._counts[table, round_]

    def check(self, message: LogMessage, *, session: bool) -> None:
        """Refuse a fact that exceeds its limit. `session`: the round is a riichi session. Raises Refused."""
        table, kind = message.table, kind_of(message.fact)
        count = self._counts_in(table, message.fact.round)[kind]
        if isinstance(message.fact, Ruled):
            if count >= MOST_RULED:
                text = N_(
                    "table {table} has already made {count} rulings on this play: rule at the desk instead",
                    table=table,
                    count=count,
                )
                raise Refused("too_many_rulings", text)
            return
        most = MOST_IN_A_SESSION if session and kind != COUNTED_TOGETHER else MOST_OF_A_KIND
        if count >= (MOST_LAID if isinstance(message.fact, TilesLaid) else most):
            text = N_("table {table} has reported this {count} times in one round", table=table, count=count)
            raise Refused("too_many_facts", text)


class Intake:
    """Judges messages against the event and what was accepted before."""

    def __init__(
        self,
        event: Event,
        stored: Sequence[Recorded | WholePlay],
        refused: Iterable[RefusedRow] = (),
        refuses: Callable[[int, str | None], bool] = lambda _table, _device: False,
        admissions: Admissions | None = None,
        heads: Mapping[tuple[int, int], str] = MappingProxyType({}),
        faults: Sequence[Fault] = (),
    ) -> None:
        """Start from the stored messages and refusals. `heads`: hashes of each table's last facts.

        `refuses`: whether the facts of a device are refused at a table. `admissions`: the devices whose signatures are
        accepted; without them no signature is checked, as when importing a journal. `faults`: those of the store;
        tables are asked for the facts concerned. Raises BadEvent if the stored messages belong to another plan, unless
        a ruling is missing that may have changed it.
        """
        self._refuses, self._admissions = refuses, admissions
        self.access: ArbiterAccess | None = None
        """Which arbiters may rule at the tables. None: this is not checked."""
        self._event = event
        self._players = set(event.players)
        self.books = {table: TableBook() for table in event.tables}
        self._ids: set[str] = set()
        """Ids of the accepted messages, without those of whole plays: loading half a million takes too long."""
        self._has_whole = False
        """Whether there are whole plays."""
        self.place_of: Callable[[str], tuple[int, int] | None] = lambda _id: None
        """Returns the table and number stored with an id, needed to look up the ids of whole plays."""
        self._quotas = Quotas(lambda table, round_: self.books[table].accepted.of_round(round_))
        self._known_floods: set[tuple[int, int, str]] = set()
        """Table, round and kind of facts that arbiters know to be too many."""
        self._replanned: set[tuple[int, int, int]] = set()
        """Table, round and deal of plays in which a ruling has replaced the planned deal."""
        self._seated_anew: dict[tuple[int, int], list[set[str]]] = {}
        """By table and round, the players seated there by changes of the plan, whether or not those still count."""
        self.unplanned: list[LogMessage] = []
        """Facts that do not fit the plan while a ruling is missing. They are stored, and count once it is back."""
        self._lacks_ruling = lacks_ruling(faults)
        for row in refused:
            if row.seq is not None and row.id is not None and row.table in self.books and row.code != "wrong_event":
                self._list_refusal(row.table, Refusal(seq=row.seq, id=row.id, code=row.code))
        for message in stored:
            if isinstance(message, Ruling):  # first: a recovered one is stored after the facts that need it
                self.rule(message)
        self._load(stored, heads)
        for fault in faults:
            self.request_again(fault)

    def _load(self, stored: Sequence[Recorded | WholePlay], heads: Mapping[tuple[int, int], str]) -> None:
        """Record the stored messages. Raises BadEvent."""
        bookings, books = self._event.bookings, self.books
        for message in stored:
            if isinstance(message, WholePlay):
                books[message.key[0]].accepted.take_whole(message)
                self._has_whole = True
            elif isinstance(message, LogMessage):
                fact = message.fact
                booking = bookings.get((message.table, fact.round))
                as_booked = booking is not None and booking.deal == fact.deal and not isinstance(fact, Result)
                if not as_booked and not self._fits(message):
                    self._hold_unplanned(message)
                books[message.table].accepted.take(message)
                self._ids.add(message.id)
        for (table, seq), digest in heads.items():
            books[table].hashes[seq] = digest
        for book in books.values():
            book.loaded()

    def _hold_unplanned(self, message: LogMessage) -> None:
        if not self._lacks_ruling or message.table not in self.books:
            text = f"the store has fact {message.seq} of table {message.table}, which does not fit the plan"
            raise BadEvent(text)
        self.unplanned.append(message)

    def request_again(self, fault: Fault) -> None:
        """Ask for the fact that a fault concerns, if it is a table's."""
        if fault.table in self.books and fault.seq is not None and fault.code != LINK_ALTERED:
            self.books[fault.table].request_again(fault.seq, None if fault.code == LOST else fault.height)

    def _fits(self, message: LogMessage) -> bool:
        """Return whether the plan, which may have been changed, still has the play and the players of a stored fact."""
        fact = message.fact
        if (message.table, fact.round) in self._event.riichi:
            return isinstance(fact, OF_RIICHI)
        known = not isinstance(fact, Result) or self._players.issuperset(fact.players.values())
        return known and self._has_deal(message.table, fact)

    def _has_deal(self, table: int, fact: Fact | CountRequest) -> bool:
        """Return whether a table has or had a deal in a round: until it receives a new plan, it follows the old one."""
        key = table, fact.round
        booking = self._event.places.get(key)
        seated = key in self._event.bookings or key in self._seated_anew
        if booking is not None and booking.deal == fact.deal and seated:
            return True
        return (*key, fact.deal) in self._replanned

    def has(self, id_: str) -> bool:
        """Return whether a message with this id was accepted. Rows that were set aside do not count."""
        if id_ in self._ids or not self._has_whole:
            return id_ in self._ids
        table, seq = self.place_of(id_) or (0, 0)
        return (
            table in self.books and seq in self.books[table].accepted and self.books[table].accepted.id_of(seq) == id_
        )

    def has_accepted(self, table: int, seq: int, digest: str) -> bool:
        """Return whether a fact was accepted, by its table, number and hash."""
        return table in self.books and self.books[table].has(seq, digest)

    def rule(self, ruling: Ruling) -> None:
        """Record a ruling of the desk."""
        self._ids.add(ruling.id)
        if isinstance(ruling.decision, DealPlayed) and ruling.table and ruling.round:
            self._replanned.add((ruling.table, ruling.round, ruling.decision.played))
        elif isinstance(ruling.decision, PlanChanged):
            self._players.update(play.id for play in ruling.decision.entered)
            for play in ruling.decision.plays:
                seatings = self._seated_anew.setdefault((play.table, play.round), [])
                seatings.append(set(play.players.values()))

    def newly_planned(self) -> list[LogMessage]:
        """Return, once, the facts that did not fit the plan before and do now."""
        found = [one for one in self.unplanned if self._fits(one)]
        self.unplanned = [one for one in self.unplanned if one not in found]
        return found

    def take(self, message: LogMessage, digest: str) -> None:
        """Record a fact, with its hash, that is (about to be) in the journal."""
        book = self.books[message.table]
        book.take(message, digest)
        book.mark_recent(message.seq)
        self._ids.add(message.id)
        if self.access is not None:
            self.access.apply(message)
        self._quotas.count(message)

    def passed_over(self) -> Iterator[tuple[int, int]]:
        """Yield the table and number of each refused fact that nobody waits for."""
        for table, book in self.books.items():
            refused = {one.seq for one in book.refused if one.code not in UNEXPLAINED}
            yield from ((table, seq) for seq in sorted((book.passed_over | refused) - book.accepted.keys()))

    def refused(self) -> Iterator[tuple[int, int]]:
        """Return the table and number of each fact that was refused and not accepted since."""
        return ((table, one.seq) for table, book in self.books.items() for one in book.refused)

    def pass_over(self, table: int, seq: int) -> bool:
        """Stop waiting for a fact that a hall has refused. Return whether this is new."""
        book = self.books.get(table)
        if book is None or seq in book.accepted or seq in book.passed_over or len(book.passed_over) >= MOST_PASSED:
            return False
        book.passed_over.add(seq)
        return True

    def judge(self, topic: str, payload: bytes) -> IntakeVerdict:
        """Judge one message. Changes nothing except what the next receipt lists."""
        message: Message | None = None
        try:
            _, message = decode_on_topic(topic, payload)
            return self._judge(message, payload)
        except PinWaits:
            return IntakeVerdict(message, waits=True)
        except Refused as refused:
            if isinstance(message, LogMessage) and message.event == self._event.name and message.table in self.books:
                if refused.code == SESSION_UNKNOWN and self.books[message.table].lacks_before(message.seq):
                    return IntakeVerdict(message)  # neither accepted nor refused: its table sends it again
                self._list_refusal(message.table, Refusal(seq=message.seq, id=message.id, code=refused.code))
                return IntakeVerdict(
                    message, refused.code, refused.text, known_flood=self._is_known_flood(message, refused.code)
                )
            return IntakeVerdict(message, refused.code, refused.text)

    def _is_known_flood(self, message: LogMessage, code: str) -> bool:
        """Return whether it was already known that a table sends too many facts of a kind."""
        if code not in OVER_QUOTA:
            return False
        about = message.table, message.fact.round, kind_of(message.fact)
        known = about in self._known_floods
        self._known_floods.add(about)
        return known

    def _judge(self, message: Message, payload: bytes) -> IntakeVerdict:
        if message.event != self._event.name:
            raise Refused("wrong_event", N_("this scorer serves another event: {event}", event=self._event.name))
        if not isinstance(message, LogMessage | TableState | CountRequest | Beat | KeptBack | PinGiven):
            raise Refused("not_for_scorer", N_("the scorer does not accept this kind of message"))
        if message.table not in self.books:
            raise Refused("unknown_table", N_("this event has no table {table}", table=message.table))
        if isinstance(message, LogMessage):
            return self._judge_fact(message, payload)
        if isinstance(message, CountRequest):
            self._check_count(message)
        if isinstance(message, PinGiven):
            self._check_pin(message, payload)
        return IntakeVerdict(message)

    def _check_count(self, request: CountRequest) -> None:
        """Refuse a count for a deal that the table does not play. A riichi session has no deals."""
        if (request.table, request.round) in self._event.riichi or self._has_deal(request.table, request):
            return
        raise _no_deal(request.table, request)

    def _check_pin(self, given: PinGiven, payload: bytes) -> None:
        """Refuse a PIN that was not sent by the device that serves the table."""
        if self._admissions is not None:
            self._admissions.check_sender(given, payload)
        if self._refuses(given.table, given.device):
            raise Refused("another_device", N_("another device is in use at table {table}", table=given.table))

    def _judge_fact(self, message: LogMessage, payload: bytes) -> IntakeVerdict:
        digest = self._admissions.hash_of(payload) if self._admissions else fact_hash(payload)
        if self._admissions is not None:
            self._admissions.check(message, payload, digest)
        if self._refuses(message.table, message.sender or message.device):
            raise Refused("another_device", N_("another device is in use at table {table}", table=message.table))
        # The sender is not compared: a dead device's facts are sent by the device that has taken over its journal.
        message = replace(message, sender=None)
        book = self.books[message.table]
        before = book.accepted.at(message.seq)
        if before is not None and is_same_fact(before, message):
            book.mark_recent(message.seq)
            return IntakeVerdict(message)
        if before is not None:
            book.reject_hash(digest)
            raise Refused(
                "conflict", f"fact {message.seq} of table {message.table} was already received with different content"
            )
        if self.has(message.id):
            raise Refused("id_reused", N_("message {id} was already received with a different number", id=message.id))
        if not book.follows(message, digest):
            book.reject_hash(digest)
            raise Refused(
                "chain_broken",
                N_("message {number} does not follow the messages stored before and after it", number=message.seq),
            )
        if message.seq > len(book.accepted) + len(book.passed_over) + MOST_MISSING:
            text = N_(
                "message {number} is too far ahead; received so far: {count}",
                number=message.seq,
                count=len(book.accepted),
            )
            raise Refused("seq_out_of_range", text)
        self._check_play(message)
        self._quotas.check(message, session=(message.table, message.fact.round) in self._event.riichi)
        self._check_arbiter(message)
        return IntakeVerdict(message, new=True, hash=digest)

    def _check_arbiter(self, message: LogMessage) -> None:
        """Refuse an arbiter's fact without a valid session. Who fined a player may have left before the result came."""
        if self.access is None:
            return
        began = message.seq
        if isinstance(message.fact, Result) and message.fact.fines:
            of_play = self.books[message.table].accepted.of_round(message.fact.round)
            began = min((one.seq for one in of_play), default=began)
        self.access.check(message, began)

    def _check_play(self, message: LogMessage) -> None:
        fact = message.fact
        if isinstance(fact, NewerFact):
            raise Refused(
                "unknown_fact",
                N_("this message comes from a newer program and is not known here: {kind}", kind=fact.type),
            )
        session = self._event.riichi.get((message.table, fact.round))
        if session is not None:
            self._check_riichi(session, fact)
            return
        if isinstance(fact, RiichiRecorded | RiichiTakenBack):
            raise Refused(
                "not_planned",
                N_("table {table} has no riichi session in round {round}", table=message.table, round=fact.round),
            )
        if not self._has_deal(message.table, fact):
            raise _no_deal(message.table, fact)
        if isinstance(fact, Seated):
            self._check_players(message.table, fact)
        if isinstance(fact, Result):
            self._check_result(message.table, fact)
        if isinstance(fact, Ruled):
            self._check_ruled(message.table, fact)

    def _check_ruled(self, table: int, fact: Ruled) -> None:
        """Refuse a ruling that no table can make. Its device speaks for whoever has its PIN, not the head arbiter."""
        if fact.role != "table_arbiter":
            raise Refused("not_ruled_here", N_("the head arbiter makes rulings at the desk, not at a table"))
        named, exactly = set(players_named(fact.decision)), isinstance(fact.decision, Adjusted)
        if not any(named == here if exactly else named <= here for here in self._seatings((table, fact.round))):
            raise Refused(
                "wrong_players",
                "a ruling at a table may name only players of its play, and an adjustment must name all four",
            )
        if isinstance(fact.decision, FineRuled):
            self._check_penalty(fact.decision)

    def _check_penalty(self, ruled: FineRuled) -> None:
        """Refuse a penalty that the rules do not provide for an infraction; tables only choose among those provided."""
        if ruled.infraction is None:  # a false hu in a play that ended without a result
            return
        known = choices_of(self._event.profile, ruled.infraction)
        for imp in ruled.takes.values():
            if (ruled.measure, imp) not in known:
                raise Refused("fine_not_in_profile", N_("the rules have no fine of {imp} IMP for this", imp=imp))

    def _check_riichi(self, session: RiichiBooking, fact: Fact) -> None:
        if not isinstance(fact, OF_RIICHI):
            raise Refused(
                "not_planned",
                N_("table {table} plays a riichi session in round {round}", table=session.table, round=fact.round),
            )
        if isinstance(fact, RiichiRecorded) and fact.profile != session.profile:
            raise Refused(
                "wrong_profile",
                N_("this session uses the rules {own}, not {other}", own=session.profile, other=fact.profile),
            )

    def _check_players(self, table: int, fact: Result | Seated) -> None:
        *_, planned = seatings = self._seatings((table, fact.round))
        here = set(fact.players.values())
        if set(fact.players) != set(SEATS) or len(here) != len(SEATS) or here not in seatings:
            raise Refused("wrong_players", N_("the players here are {players}", players=", ".join(sorted(planned))))

    def _seatings(self, key: tuple[int, int]) -> list[set[str]]:
        """Return the seatings of a play, former ones too: until it receives a new plan, a table follows the old one."""
        settled = [set(self._event.bookings[key].players.values())] if key in self._event.bookings else []
        return settled + self._seated_anew.get(key, [])

    def _check_result(self, table: int, result: Result) -> None:
        if result.profile != self._event.profile.id:
            raise Refused(
                "wrong_profile",
                N_("this event uses the rules {own}, not {other}", own=self._event.profile.id, other=result.profile),
            )
        self._check_players(table, result)
        fines = {fine.imp for fine in result.fines.values()}
        if fines - set(self._event.profile.false_hu.fines.value):
            raise Refused("fine_not_in_profile", N_("the rules have no fine of {imp} IMP", imp=sorted(fines)))
        try:
            right = points_paid(result, self._event.winds(result.deal)[1], self._event.profile)
        except RuleError as error:
            raise Refused("impossible_result", error.text) from None
        if right != result.points:
            raise Refused(
                "wrong_points", N_("the points do not match that outcome; they should be {right}", right=right)
            )

    def _list_refusal(self, table: int, refusal: Refusal) -> None:
        """List a refused fact for the receipt, with its latest code only: an older one would mislead its table."""
        book, about = self.books[table], (refusal.seq, refusal.id)
        book.refused = [*(one for one in book.refused if (one.seq, one.id) != about), refusal][-MOST_LISTED:]
        if refusal.code in OVER_QUOTA and len(book.passed_over) < MOST_PASSED:
            book.passed_over.add(refusal.seq)


def _no_deal(table: int, about: Fact | CountRequest) -> Refused:
    return Refused(
        "not_planned",
        N_("table {table} does not play deal {deal} in round {round}", table=table, deal=about.deal, round=about.round),
    )
