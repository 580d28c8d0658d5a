"""Who may speak for a table, and who may rule there: devices by their keys, arbiters by their sessions.

A device is admitted when it is paired at the desk, when the organiser has listed its key, or when the head arbiter
accepts it. The records are in the journal, so that whoever reads it can verify every fact in it.

An arbiter's session is opened by the desk, or by a PIN, which is judged here alone. Each fact of an arbiter names its
session. One that names none, or one that was not opened for its table, or that has ended, is refused. Wrong PINs make
their own table wait, and no other: where there are very many in all, tables that have given wrong ones wait sooner. To
compare a PIN with its hash takes a moment, on purpose: another thread does it, and what needs to know waits. A device
that signs nothing, and that the head arbiter has accepted all the same, names no session: it is believed as it was.
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
"""Facts that name a session; a result names one for each fine."""

IN_PERSON: Final = {BY_PIN: "pin", UNPROVEN_SCOPE: "pin", BY_DESK: "desk"}
"""What lets an arbiter in at a table, and how a `LetIn` names it. Any other session is one order's."""

FREE_TRIES: Final = 3
"""So many wrong PINs at a table cost no waiting."""

SESSION_UNKNOWN: Final = "session_unknown"

FIRST_WAIT_S: Final = 60.0
LONGEST_WAIT_S: Final = 3600.0
"""After each further one the wait doubles, to an hour."""

MOST_IN_ALL: Final = 30
"""With so many wrong PINs in an hour at all tables, a table that has given one waits at once."""

MOST_HELD: Final = 100
"""Facts of one table that wait until it is known whether a PIN is right; its device sends more than these again."""

JUDGED_KEPT: Final = 100
"""Of each table: what was found of a PIN is found again of the same one, at no cost."""


class _Seal(Struct, frozen=True):
    """What is looked at of a fact to prove it."""

    table: int
    seq: int = 0
    device: str | None = None
    before: str | None = None
    signature: str | None = None


_SEALS = msgspec.json.Decoder(_Seal)


class Admissions:
    """The devices that are admitted at each table."""

    def __init__(self, records: Iterable[object] = ()) -> None:
        """Start from what is stored: whatever is no record of a device is passed over."""
        self._admitted: dict[tuple[int, str], DeviceAdmitted] = {}
        self._proven: set[str] = set()
        """Hashes of facts in this batch that were proven."""
        self._hashes: dict[bytes, str] = {}
        """Of the facts in this batch."""
        self._decided: set[tuple[int, str]] = set()
        self.number = 0
        """The highest of a record that is here, or known to have been given."""
        for record in records:
            if isinstance(record, DeviceRecord):
                self.apply(record)

    def apply(self, record: DeviceRecord) -> None:
        """Take in one record."""
        self.number = max(self.number, record.number)
        self._decided.add((record.table, record.device))
        if isinstance(record, DeviceAdmitted):
            self._admitted[record.table, record.device] = record
        else:
            self._admitted.pop((record.table, record.device), None)

    def admits(self, table: int, device: str) -> bool:
        """Return whether a device may speak for a table."""
        return (table, device) in self._admitted

    def knew(self, table: int, device: str) -> bool:
        """Return whether a device has ever been admitted at a table, or revoked there: one of the two may be lost."""
        return (table, device) in self._decided

    def all(self) -> Sequence[DeviceAdmitted]:
        """Return all devices that are admitted, by table."""
        return [one for _, one in sorted(self._admitted.items())]

    def prove(
        self,
        payloads: Sequence[bytes],
        has_taken: Callable[[int, int, str], bool] = lambda _table, _number, _hash: False,
    ) -> None:
        """Verify the facts of a batch together: a signature is over the hash of the fact before.

        So where a device has made several in a row, its last signature proves them all. `has_taken`: whether a fact,
        by table, number and hash, was taken, and so was proven then: after a backlog a broker sends many again.
        """
        self._proven.clear()
        self._hashes.clear()
        vouched: set[tuple[int, str | None, str]] = set()
        for payload in reversed(payloads):
            try:
                seal = _SEALS.decode(stored_form(payload))  # no further: nothing behind a signature is signed
            except UNREADABLE:
                continue
            digest = self._hashes[payload] = fact_hash(payload)
            if has_taken(seal.table, seal.seq, digest):
                self._proven.add(digest)
                continue
            if (seal.table, seal.device, digest) not in vouched and not self._is_signed(seal, payload):
                continue
            self._proven.add(digest)
            if seal.before:
                vouched.add((seal.table, seal.device, seal.before))

    def hash_of(self, payload: bytes) -> str:
        """Return the hash of a fact, as it came: it is computed once."""
        return self._hashes.get(payload) or fact_hash(payload)

    def check_sender(self, given: PinGiven, payload: bytes) -> None:
        """Refuse a PIN that no device has sent which is admitted at its table. Raises Refused."""
        if given.signature is None:
            raise Refused("unsigned", N_("no device has signed this message"))
        if not self.admits(given.table, given.device):
            text = N_("device {device} is not admitted at table {table}", device=given.device, table=given.table)
            raise Refused("unknown_device", text)
        if not self._is_signed(given, payload):
            raise Refused("bad_signature", N_("the signature is not that of device {device}", device=given.device))

    def _is_signed(self, seal: _Seal | LogMessage | PinGiven, payload: bytes) -> bool:
        found = self._admitted.get((seal.table, seal.device or ""))
        return found is not None and found.key is not None and is_signed_by(found.key, payload, seal.signature)

    def check(self, fact: LogMessage, payload: bytes, digest: str) -> None:
        """Refuse a fact that no device has signed which is admitted at its table. Raises Refused."""
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
        if digest not in self._proven and not self._is_signed(fact, payload):
            raise Refused("bad_signature", N_("the signature is not that of device {device}", device=fact.device or ""))


class PinWaits(Exception):
    """It is not known yet whether a PIN is right: what needs to know is judged again then."""


@dataclass(frozen=True, slots=True)
class PinCheck:
    """A PIN that is to be compared with the hash."""

    table: int
    nonce: str
    pin: str = field(repr=False)
    hashed: str = field(repr=False)

    def is_right(self) -> bool:
        """Return whether it is the hash's. Takes a moment."""
        return pin_matches(self.hashed, self.pin)


class PinChecker:
    """Compares PINs one after the other, on a thread of its own, and holds back the facts that wait for that."""

    def __init__(self, found: Callable[[PinCheck, bool], None]) -> None:
        """`found` is called on that thread."""
        self._found = found
        self._held: dict[int, list[Incoming]] = {}
        """By table, in order. They are acknowledged, but no receipt names them yet."""
        self._thread = ThreadPoolExecutor(1, "pin")

    def start(self, check: PinCheck) -> None:
        """Begin, as soon as those before are done."""
        self._thread.submit(lambda: self._found(check, check.is_right()))

    def close(self) -> None:
        """Begin no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def hold(self, table: int, first: Incoming) -> None:
        """Hold back a fact, and all that its table says after it."""
        self._held[table] = []
        self.holds(first)

    def holds(self, one: Incoming) -> bool:
        """Return whether a message is a fact of a table that waits; it is held back then."""
        place = parse_topic(one.topic) if self._held else None
        if place is None or place.topic is not LOG or place.table not in self._held:
            return False
        if len(held := self._held[place.table]) < MOST_HELD:
            held.append(Incoming(one.topic, one.payload, lambda: None))
        return True

    def released(self, table: int) -> list[Incoming]:
        """Return what was held back of a table, which waits no more."""
        return self._held.pop(table, [])


@dataclass(slots=True)
class _TableVisits:
    """What is known of the arbiters at one table."""

    visits: dict[int, LetIn | Left] = field(default_factory=dict)
    """By number of the fact."""
    orders: dict[str, int] = field(default_factory=dict)
    """Sessions of orders that were carried out, by the fact that said so."""
    judged: dict[str, str | None] = field(default_factory=dict)
    """PINs that were judged, by nonce, oldest first: why one is not right."""
    wrong: int = 0
    """Wrong PINs since the last right one."""
    wrong_at: float = 0.0
    answer: PinAnswer | None = None
    """What the table was told last."""
    checking: bool = False
    """Whether a PIN is being compared."""
    asked: PinGiven | None = None
    """The last one that has no answer yet."""

    def opened(self, session: str) -> int:
        """Return the number of the fact that began a session; 0 if there is none."""
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

    def nameless(self, seq: int) -> bool:
        """Return whether the arbiter who is there was let in before sessions had names."""
        last = max((at for at in self.visits if at < seq), default=None)
        return last is not None and isinstance(self.visits[last], LetIn) and self.visits[last].session is None


class ArbiterAccess:
    """All sessions of an event. On the scorer's thread alone, but for the desk's orders."""

    def __init__(
        self,
        event: str,
        key: SigningKey,
        clock: Callable[[], int],
        seconds: Callable[[], float],
        start: Callable[[PinCheck], None],
        stored: Iterable[object] = (),
    ) -> None:
        """Take the event's key, the wall clock in ms, a clock in s that counts on, and what is stored.

        `start` begins to compare a PIN; what comes of it is for `found`.
        """
        self._start = start
        self.sessions = SessionKey.of_event(event, key)
        self.pin_key = PinKey.of_event(key)
        self.hashed: Callable[[], str | None] = lambda: None
        """Return the hash of the event's PIN, where one is set; it stays on this machine."""
        self._event, self._clock, self._seconds = event, clock, seconds
        self._tables: dict[int, _TableVisits] = {}
        self._wrong: deque[float] = deque(maxlen=MOST_IN_ALL)
        """When the last wrong PINs were given, at any table."""
        self._news: list[tuple[int, int]] = []
        for message in stored:
            if isinstance(message, LogMessage) and type(message.fact) in KINDS:
                self.apply(message)

    @property
    def mark(self) -> PinMark | None:
        """What tells one setting of the PIN from another; None: there is none."""
        hashed = self.hashed()
        return hashed and pin_mark(hashed)

    def answer(self, table: int) -> PinAnswer | None:
        """Return what a table was told last."""
        return self._of(table).answer

    def wrong_pins(self) -> Iterator[tuple[int, int]]:
        """Return, once, the tables at which a wrong PIN was given, and how many were since the last right one."""
        news, self._news = self._news, []
        yield from news

    def _of(self, table: int) -> _TableVisits:
        return self._tables.setdefault(table, _TableVisits())

    # ---- a PIN ------------------------------------------------------------------------------

    def ask(self, asked: PinGiven) -> PinAnswer | None:
        """Judge a PIN that was given at a table; where it is right, open a session. None: the answer comes later."""
        try:
            code = self._judge(asked.table, asked.device, asked.session, asked.sealed)
        except PinWaits:
            self._of(asked.table).asked = asked
            return None
        session = None
        if code is None:
            until = self._clock() + SESSION_LIFETIME_MS
            session = self.sessions.open(asked.table, BY_PIN, AT_THE_TABLE, asked.session, until)
        answer = PinAnswer(asked=asked.session, session=session, code=code)
        self._of(asked.table).answer = answer
        return answer

    def _judge(self, table: int, device: str, nonce: str, sealed: str) -> str | None:
        """Return why a PIN is not right. Raises PinWaits if it was not judged before."""
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
            return self._note(table, nonce, right=False)
        visits.checking = True
        self._start(PinCheck(table, nonce, pin, hashed))
        raise PinWaits

    def found(self, check: PinCheck, *, right: bool) -> None:
        """Take in whether a PIN is right, unless another has been set meanwhile; who has asked has the answer then."""
        visits = self._of(check.table)
        visits.checking = False
        if check.hashed == self.hashed():
            self._note(check.table, check.nonce, right=right)
        asked, visits.asked = visits.asked, None
        if asked is not None:
            self.ask(asked)

    def _note(self, table: int, nonce: str, *, right: bool) -> str | None:
        """Remember whether a PIN was right; return why it was not."""
        visits = self._of(table)
        visits.judged[nonce] = None if right else "pin_wrong"
        if len(visits.judged) > JUDGED_KEPT:
            del visits.judged[next(iter(visits.judged))]
        if right:
            visits.wrong = 0
            return None
        visits.wrong, visits.wrong_at = visits.wrong + 1, self._seconds()
        self._wrong.append(visits.wrong_at)
        self._news.append((table, visits.wrong))
        return "pin_wrong"

    def _locked_until(self, visits: _TableVisits) -> float:
        hour_ago = self._seconds() - LONGEST_WAIT_S
        many = len(self._wrong) == MOST_IN_ALL and self._wrong[0] > hour_ago
        beyond = visits.wrong - (1 if many else FREE_TRIES)
        return visits.wrong_at + min(FIRST_WAIT_S * 2 ** min(beyond, 10), LONGEST_WAIT_S) if beyond >= 0 else 0.0

    # ---- facts ------------------------------------------------------------------------------

    def check(self, message: LogMessage, began: int) -> None:
        """Refuse an arbiter's fact whose session does not allow it. `began`: the number of its play's first fact.

        Raises Refused; PinWaits: judge it again once `found` was called for its table.
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
            if isinstance(of, LetIn) or not visits.nameless(seq):
                raise Refused("session_missing", N_("no arbiter had been let in for this action"))
            return
        proven = (
            author == AT_THE_TABLE if is_unproven(session) else self.sessions.verifies(session, table, author or "")
        )
        if not proven or (is_unproven(session) and not isinstance(of, LetIn) and not visits.opened(session)):
            raise Refused("session_unknown", N_("no such session was opened for table {table}", table=table))
        if visits.ended(session, seq) or (not is_unproven(session) and expiry_of(session) < self._clock()):
            raise Refused("session_ended", N_("the arbiter’s session at table {table} had ended", table=table))

    def _check_scope(self, message: LogMessage, fact: OfArbiter) -> None:
        """Refuse what a session is not good for: an order's is, once, for what was ordered."""
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
        """Refuse an arbiter who was let in by a PIN that nobody could judge then, where it proves wrong."""
        code = self._judge(message.table, fact.sealed_by or message.device or "", nonce, fact.sealed or "")
        self._of(message.table).answer = PinAnswer(asked=nonce, session=fact.session if not code else None, code=code)
        if code == "pin_locked":
            raise Refused("pin_locked", N_("too many wrong PINs were entered at table {table}", table=message.table))
        if code is not None:
            raise Refused("pin_unproven", N_("the PIN entered at table {table} was wrong", table=message.table))

    def apply(self, message: LogMessage) -> None:
        """Take in a fact that is (about to be) in the journal."""
        fact = message.fact
        if isinstance(fact, (LetIn, Left)):
            self._of(message.table).visits[message.seq] = fact
        elif isinstance(fact, OF_ARBITERS) and fact.session and scope_of(fact.session) not in IN_PERSON:
            self._of(message.table).orders[fact.session] = message.seq


def _is_ordered(scope: str, fact: OfArbiter) -> bool:
    """Return whether a fact follows from an order."""
    match fact:
        case Paused(begin=begin):
            return scope == ("pause" if begin else "resume")
        case TimeAdded():
            return scope == "extra_time"
        case Ruled(decision=Reopen()):
            return scope == "reopen"
    return False
