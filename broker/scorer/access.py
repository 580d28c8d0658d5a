"""Who may speak for a table, and who may rule there: devices identified by keys, arbiters by sessions.

A device is admitted when it is paired at the desk, when the organiser has listed its key, or when the head arbiter
accepts it. The records are in the journal, so that whoever reads it can verify every fact in it.

An arbiter's session is opened by the desk, or by a PIN, which only this module judges. Each fact of an arbiter names
its session. A fact is refused if it names no session, or one that was not opened for its table or has ended. After
wrong PINs a table must wait. This does not affect other tables, except that after many wrong PINs in all, tables that
have entered a wrong one must wait sooner. Comparing a PIN with its hash is slow on purpose, so another thread does it,
and messages that depend on the result wait. A device that signs nothing, but was accepted by the head arbiter, names no
session; its facts are accepted without one.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec import Struct

from broker.i18n import N_
from broker.protocol import (
    AT_THE_TABLE,
    LOG,
    UNREADABLE,
    DeviceAdmitted,
    DeviceRecord,
    Fine,
    Left,
    LetIn,
    LogMessage,
    Overridden,
    Paused,
    PinAnswer,
    PinGiven,
    PinMark,
    Refused,
    Reopen,
    Result,
    Ruled,
    SigningKey,
    TimeAdded,
    fact_hash,
    is_signed_by,
    parse_topic,
    stored_form,
)
from broker.protocol.arbiter_session import (
    BY_DESK,
    BY_PIN,
    SESSION_LIFETIME_MS,
    UNPROVEN_SCOPE,
    PinKey,
    PinPlace,
    SessionKey,
    expiry_of,
    is_unproven,
    nonce_of,
    pin_mark,
    pin_matches,
    scope_of,
)
from broker.protocol.link import Incoming

OfArbiter = Ruled | Overridden | Paused | TimeAdded | LetIn | Left
OF_ARBITERS: Final = (Ruled, Overridden, Paused, TimeAdded, LetIn, Left)
KINDS: Final = frozenset(OF_ARBITERS)
"""Facts that name a session. A result names one for each fine."""

IN_PERSON: Final = {BY_PIN: "pin", UNPROVEN_SCOPE: "pin", BY_DESK: "desk"}
"""Scopes of sessions that let an arbiter in at a table, and the name of each in `LetIn`. Others are for one order."""

FREE_TRIES: Final = 3
"""Wrong PINs at a table that cost no waiting."""

SESSION_UNKNOWN: Final = "session_unknown"

FIRST_WAIT_S: Final = 60.0
LONGEST_WAIT_S: Final = 3600.0
"""The wait doubles after each further wrong PIN, up to an hour."""

MOST_IN_ALL: Final = 30
"""With this many wrong PINs in an hour at all tables, a table that has entered one must wait at once."""

MOST_HELD: Final = 100
"""Facts of one table that wait until a PIN is judged. Its device resends any beyond these."""

MOST_JUDGED: Final = 100
"""PIN verdicts remembered per table, so that the same PIN need not be compared again."""


class _SignedPart(Struct, frozen=True):
    """The fields of a fact that are needed to verify its signature."""

    table: int
    seq: int = 0
    device: str | None = None
    before: str | None = None
    signature: str | None = None


_SIGNED_PARTS = msgspec.json.Decoder(_SignedPart)


class Admissions:
    """The devices admitted at each table."""

    def __init__(self, records: Iterable[object] = ()) -> None:
        """Start from the stored messages, ignoring those that are not device records."""
        self._admitted: dict[tuple[int, str], DeviceAdmitted] = {}
        self._verified: set[str] = set()
        """Hashes of the facts in this batch whose signature was verified."""
        self._hashes: dict[bytes, str] = {}
        """Hashes of the facts in this batch."""
        self._decided: set[tuple[int, str]] = set()
        self.number = 0
        """The highest record number that is stored here, or known to have been used."""
        for record in records:
            if isinstance(record, DeviceRecord):
                self.apply(record)

    def apply(self, record: DeviceRecord) -> None:
        """Apply one record."""
        self.number = max(self.number, record.number)
        self._decided.add((record.table, record.device))
        if isinstance(record, DeviceAdmitted):
            self._admitted[record.table, record.device] = record
        else:
            self._admitted.pop((record.table, record.device), None)

    def admits(self, table: int, device: str) -> bool:
        """Return whether a device may speak for a table."""
        return (table, device) in self._admitted

    def has_record(self, table: int, device: str) -> bool:
        """Return whether a device was ever admitted or revoked at a table; one of the two records may be lost."""
        return (table, device) in self._decided

    def all(self) -> Sequence[DeviceAdmitted]:
        """Return all admitted devices, by table."""
        return [admission for _, admission in sorted(self._admitted.items())]

    def verify_batch(
        self,
        payloads: Sequence[bytes],
        was_accepted: Callable[[int, int, str], bool] = lambda _table, _number, _hash: False,
    ) -> None:
        """Verify the facts of a batch together. A signature also covers the hash of the previous fact.

        So if a device has made several facts in a row, its last signature proves them all. `was_accepted` returns
        whether the fact with a table, number and hash was accepted, and therefore verified, before: after a backlog a
        broker sends many again.
        """
        self._verified.clear()
        self._hashes.clear()
        vouched: set[tuple[int, str | None, str]] = set()
        for payload in reversed(payloads):
            try:
                part = _SIGNED_PARTS.decode(stored_form(payload))  # only this part is signed
            except UNREADABLE:
                continue
            digest = self._hashes[payload] = fact_hash(payload)
            if was_accepted(part.table, part.seq, digest):
                self._verified.add(digest)
                continue
            if (part.table, part.device, digest) not in vouched and not self._is_signed(part, payload):
                continue
            self._verified.add(digest)
            if part.before:
                vouched.add((part.table, part.device, part.before))

    def hash_of(self, payload: bytes) -> str:
        """Return the hash of a fact as it was received, computed only once."""
        return self._hashes.get(payload) or fact_hash(payload)

    def check_sender(self, given: PinGiven, payload: bytes) -> None:
        """Refuse a PIN that was not sent by a device admitted at its table. Raises Refused."""
        if given.signature is None:
            raise Refused("unsigned", N_("no device has signed this message"))
        if not self.admits(given.table, given.device):
            text = N_("device {device} is not admitted at table {table}", device=given.device, table=given.table)
            raise Refused("unknown_device", text)
        if not self._is_signed(given, payload):
            raise Refused("bad_signature", N_("the signature is not that of device {device}", device=given.device))

    def _is_signed(self, part: _SignedPart | LogMessage | PinGiven, payload: bytes) -> bool:
        admitted = self._admitted.get((part.table, part.device or ""))
        return admitted is not None and admitted.key is not None and is_signed_by(admitted.key, payload, part.signature)

    def check(self, fact: LogMessage, payload: bytes, digest: str) -> None:
        """Refuse a fact that was not signed by a device admitted at its table. Raises Refused."""
        if fact.signature is None:
            sender = self._admitted.get((fact.table, fact.sender or fact.device or ""))
            if sender is None or sender.key is not None:
                raise Refused("unsigned", N_("no device has signed this message"))
            return
        if not self.admits(fact.table, fact.device or ""):
            raise Refused(
                "unknown_device",
                N_("device {device} is not admitted at table {table}", device=fact.device or "", table=fact.table),
            )
        if digest not in self._verified and not self._is_signed(fact, payload):
            raise Refused("bad_signature", N_("the signature is not that of device {device}", device=fact.device or ""))


class PinWaits(Exception):
    """Whether a PIN is right is not known yet. The message that depends on it is judged again when it is."""


@dataclass(frozen=True, slots=True)
class PinCheck:
    """A PIN to be compared with the hash."""

    table: int
    nonce: str
    pin: str = field(repr=False)
    hashed: str = field(repr=False)

    def is_right(self) -> bool:
        """Return whether the PIN matches the hash. This is slow."""
        return pin_matches(self.hashed, self.pin)


class PinChecker:
    """Compares PINs one after the other on its own thread, and holds back the facts that wait for the result."""

    def __init__(self, on_result: Callable[[PinCheck, bool], None]) -> None:
        """`on_result` is called on that thread."""
        self._on_result = on_result
        self._held: dict[int, list[Incoming]] = {}
        """Facts held back, by table, in order. They are acknowledged, but no receipt lists them yet."""
        self._thread = ThreadPoolExecutor(1, "pin")

    def start(self, check: PinCheck) -> None:
        """Queue a comparison."""
        self._thread.submit(lambda: self._on_result(check, check.is_right()))

    def close(self) -> None:
        """Cancel the queued comparisons."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def start_holding(self, table: int, first: Incoming) -> None:
        """Hold back a fact, and all later ones of its table."""
        self._held[table] = []
        self.hold_if_waiting(first)

    def hold_if_waiting(self, message: Incoming) -> bool:
        """Return whether a message is a fact of a table that waits. If so, hold it back."""
        place = parse_topic(message.topic) if self._held else None
        if place is None or place.topic is not LOG or place.table not in self._held:
            return False
        if len(held := self._held[place.table]) < MOST_HELD:
            held.append(Incoming(message.topic, message.payload, lambda: None))
        return True

    def released(self, table: int) -> list[Incoming]:
        """Return the facts held back for a table, which no longer waits."""
        return self._held.pop(table, [])


@dataclass(slots=True)
class _TableVisits:
    """The arbiters' visits at one table, and its PINs."""

    visits: dict[int, LetIn | Left] = field(default_factory=dict)
    """Visits, by number of the fact."""
    orders: dict[str, int] = field(default_factory=dict)
    """Sessions of orders that were carried out, with the number of the fact that reported it."""
    judged: dict[str, str | None] = field(default_factory=dict)
    """Judged PINs by nonce, oldest first: the refusal code, or None for a right one."""
    wrong: int = 0
    """Wrong PINs since the last right one."""
    wrong_at: float = 0.0
    answer: PinAnswer | None = None
    """The last answer sent to the table."""
    checking: bool = False
    """Whether a PIN is being compared."""
    pending: PinGiven | None = None
    """The last request that has not been answered yet."""

    def opened(self, session: str) -> int:
        """Return the number of the fact that began a session, or 0 if there is none."""
        began = (seq for seq, one in self.visits.items() if isinstance(one, LetIn) and one.session == session)
        return next(began, 0)

    def ended(self, session: str, seq: int) -> bool:
        """Return whether a session had ended before the fact `seq`: its arbiter had left, or another was let in."""
        began = self.opened(session)
        return any(
            one.session == session if isinstance(one, Left) else bool(began) and one.session != session
            for at, one in self.visits.items()
            if began < at < seq
        )

    def let_in_without_session(self, seq: int) -> bool:
        """Return whether the arbiter at the table was let in before sessions had names."""
        last = max((at for at in self.visits if at < seq), default=None)
        return last is not None and isinstance(self.visits[last], LetIn) and self.visits[last].session is None


class ArbiterAccess:
    """All arbiter sessions of an event. For the scorer's thread only, except for the desk's orders."""

    def __init__(
        self,
        event: str,
        key: SigningKey,
        clock: Callable[[], int],
        seconds: Callable[[], float],
        start: Callable[[PinCheck], None],
        stored: Iterable[object] = (),
    ) -> None:
        """Take the event's key, the wall clock in ms, a monotonic clock in s, and the stored messages.

        `start` begins to compare a PIN; the result is passed to `pin_checked`.
        """
        self._start = start
        self.sessions = SessionKey.of_event(event, key)
        self.pin_key = PinKey.of_event(key)
        self.hashed: Callable[[], str | None] = lambda: None
        """Returns the hash of the event's PIN, or None if no PIN is set. The hash never leaves this machine."""
        self._event, self._clock, self._seconds = event, clock, seconds
        self._tables: dict[int, _TableVisits] = {}
        self._wrong: deque[float] = deque(maxlen=MOST_IN_ALL)
        """Times of the last wrong PINs at any table."""
        self._new_wrong: list[tuple[int, int]] = []
        for message in stored:
            if isinstance(message, LogMessage) and type(message.fact) in KINDS:
                self.apply(message)

    @property
    def mark(self) -> PinMark | None:
        """The mark that tells one setting of the PIN from another, or None if no PIN is set."""
        hashed = self.hashed()
        return hashed and pin_mark(hashed)

    def answer(self, table: int) -> PinAnswer | None:
        """Return the last answer sent to a table."""
        return self._of(table).answer

    def wrong_pins(self) -> Iterator[tuple[int, int]]:
        """Yield, once, the tables with new wrong PINs, and their number since the last right one."""
        new, self._new_wrong = self._new_wrong, []
        yield from new

    def _of(self, table: int) -> _TableVisits:
        return self._tables.setdefault(table, _TableVisits())

    # ---- PINs -------------------------------------------------------------------------------

    def ask(self, request: PinGiven) -> PinAnswer | None:
        """Judge a PIN entered at a table, and open a session if it is right. None: the answer comes later."""
        try:
            code = self._judge(request.table, request.device, request.session, request.sealed)
        except PinWaits:
            self._of(request.table).pending = request
            return None
        session = None
        if code is None:
            until = self._clock() + SESSION_LIFETIME_MS
            session = self.sessions.open(request.table, BY_PIN, AT_THE_TABLE, request.session, until)
        answer = PinAnswer(asked=request.session, session=session, code=code)
        self._of(request.table).answer = answer
        return answer

    def _judge(self, table: int, device: str, nonce: str, sealed: str) -> str | None:
        """Return why a PIN is wrong, or None if it is right. Raises PinWaits if it has not been judged yet."""
        visits = self._of(table)
        if nonce in visits.judged:
            return visits.judged[nonce]
        if visits.checking:
            raise PinWaits
        if self._seconds() < self._locked_until(visits):
            return "pin_locked"
        hashed = self.hashed()
        pin = self.pin_key.open(sealed, PinPlace(self._event, table, device, nonce))
        if hashed is None or pin is None:
            return self._record_pin(table, nonce, right=False)
        visits.checking = True
        self._start(PinCheck(table, nonce, pin, hashed))
        raise PinWaits

    def pin_checked(self, check: PinCheck, *, right: bool) -> None:
        """Record whether a PIN is right, unless the PIN was changed meanwhile, and answer the waiting request."""
        visits = self._of(check.table)
        visits.checking = False
        if check.hashed == self.hashed():
            self._record_pin(check.table, check.nonce, right=right)
        request, visits.pending = visits.pending, None
        if request is not None:
            self.ask(request)

    def _record_pin(self, table: int, nonce: str, *, right: bool) -> str | None:
        """Remember whether a PIN was right. Return the refusal code if it was not."""
        visits = self._of(table)
        visits.judged[nonce] = None if right else "pin_wrong"
        if len(visits.judged) > MOST_JUDGED:
            del visits.judged[next(iter(visits.judged))]
        if right:
            visits.wrong = 0
            return None
        visits.wrong, visits.wrong_at = visits.wrong + 1, self._seconds()
        self._wrong.append(visits.wrong_at)
        self._new_wrong.append((table, visits.wrong))
        return "pin_wrong"

    def _locked_until(self, visits: _TableVisits) -> float:
        hour_ago = self._seconds() - LONGEST_WAIT_S
        many = len(self._wrong) == MOST_IN_ALL and self._wrong[0] > hour_ago
        beyond = visits.wrong - (1 if many else FREE_TRIES)
        return visits.wrong_at + min(FIRST_WAIT_S * 2 ** min(beyond, 10), LONGEST_WAIT_S) if beyond >= 0 else 0.0

    # ---- facts ------------------------------------------------------------------------------

    def check(self, message: LogMessage, began: int) -> None:
        """Refuse an arbiter's fact that its session does not allow. `began`: the number of its play's first fact.

        Raises Refused, or PinWaits: then judge it again once `pin_checked` was called for its table.
        """
        fact = message.fact
        if message.signature is None:
            return
        if isinstance(fact, Result):
            for fine in fact.fines.values():
                self._check_session(message.table, began, fine, fine.author)
        elif isinstance(fact, OF_ARBITERS):
            self._check_session(message.table, message.seq, fact, fact.author)
            self._check_scope(message, fact)

    def _check_session(self, table: int, seq: int, of: OfArbiter | Fine, author: str | None) -> None:
        """Refuse a session that was not opened here for this author, or had ended before the fact `seq`."""
        session, visits = of.session, self._of(table)
        if session is None:
            if isinstance(of, LetIn) or not visits.let_in_without_session(seq):
                raise Refused("session_missing", N_("no arbiter was let in for this action"))
            return
        proven = (
            author == AT_THE_TABLE if is_unproven(session) else self.sessions.verifies(session, table, author or "")
        )
        if not proven or (is_unproven(session) and not isinstance(of, LetIn) and not visits.opened(session)):
            raise Refused("session_unknown", N_("no such session was opened for table {table}", table=table))
        if visits.ended(session, seq) or (not is_unproven(session) and expiry_of(session) < self._clock()):
            raise Refused("session_ended", N_("the arbiter’s session at table {table} had ended", table=table))

    def _check_scope(self, message: LogMessage, fact: OfArbiter) -> None:
        """Refuse a fact outside its session's scope. An order's session is valid once, for what was ordered."""
        session, visits = fact.session, self._of(message.table)
        if session is None:
            return
        scope = scope_of(session)
        good = IN_PERSON.get(scope) == fact.by if isinstance(fact, LetIn) else scope in IN_PERSON
        if not good and not _is_ordered(scope, fact):
            raise Refused("session_unknown", N_("no such session was opened for table {table}", table=message.table))
        if session in visits.orders or (isinstance(fact, LetIn) and visits.opened(session)):
            text = N_("the arbiter’s session at table {table} had ended", table=message.table)
            raise Refused("session_ended", text)
        if isinstance(fact, LetIn) and is_unproven(session):
            self._check_pin(message, fact, nonce_of(session))

    def _check_pin(self, message: LogMessage, fact: LetIn, nonce: str) -> None:
        """Refuse an arbiter who was let in by a PIN that could not be judged at the time, if it proves wrong."""
        code = self._judge(message.table, fact.sealed_by or message.device or "", nonce, fact.sealed or "")
        self._of(message.table).answer = PinAnswer(asked=nonce, session=fact.session if not code else None, code=code)
        if code == "pin_locked":
            raise Refused("pin_locked", N_("too many wrong PINs were entered at table {table}", table=message.table))
        if code is not None:
            raise Refused("pin_unproven", N_("the PIN entered at table {table} was wrong", table=message.table))

    def apply(self, message: LogMessage) -> None:
        """Apply a fact that is (about to be) in the journal."""
        fact = message.fact
        if isinstance(fact, (LetIn, Left)):
            self._of(message.table).visits[message.seq] = fact
        elif isinstance(fact, OF_ARBITERS) and fact.session and scope_of(fact.session) not in IN_PERSON:
            self._of(message.table).orders[fact.session] = message.seq


def _is_ordered(scope: str, fact: OfArbiter) -> bool:
    """Return whether a fact carries out an order of this scope."""
    match fact:
        case Paused(begin=begin):
            return scope == ("pause" if begin else "resume")
        case TimeAdded():
            return scope == "extra_time"
        case Ruled(decision=Reopen()):
            return scope == "reopen"
    return False
