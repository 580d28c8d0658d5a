"""Alerts for the arbiters, derived from facts as they arrive or are replayed, and stored for the desk.

A concern is a code with values. The desk shows its sentence in the reader's language; messages carry it in English.
Rulings at a table come from its device, not from an account, so arbiters are always alerted to them.

Which arbiter goes to which call, and who has seen which alert, is in the store, so that it survives a restart. If two
arbiters accept a call at once, the first one goes: each request contains what its sender saw, and the second saw
something else. Such marks apply to what existed at the time: nobody is going to a call opened later, and nobody has
seen an alert that comes again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice
from operator import itemgetter
from typing import Final
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from broker.errors import CallAttended
from broker.event import Event
from broker.i18n import N_, Message
from broker.protocol import (
    Adjusted,
    Call,
    Confirmed,
    Correct,
    Declared,
    LogMessage,
    Overridden,
    ParsedTopic,
    Reopen,
    Restored,
    Result,
    RiichiRecorded,
    Ruled,
    Seated,
    TilesLaid,
    Void,
    decision_kind,
)
from broker.rulings import RulingEntry
from broker.scorer.intake import IntakeVerdict
from broker.scorer.quarantine import ApartFact
from broker.scorer.state import EventState
from broker.scorer.tables import Seatings, Since
from broker.scorer.view import AlertView, Attending
from broker.store import DESK, Fault, Journal

ALERT_CODES: Final[Mapping[str, Message]] = {
    "centre_found": N_("The centre is connected."),
    "centre_lost": N_("No connection to the centre. Play on: messages are sent as soon as there is one."),
    "centre_has_more": N_(
        "The centre has more messages of this hall than the store here, which is an older copy. Tables send theirs "
        "again; compare your rulings with the centre’s."
    ),
    "centre_refuses": N_("The centre refused a message from this hall. Ask the centre’s arbiters which one."),
    "hall_revoked": N_("The centre no longer accepts messages from this hall. Ask its arbiters why."),
    "hall_silent": N_("Hall {hall} is offline. Play continues there, and its messages will be sent later."),
    "hall_ruling_refused": N_("A ruling of hall {hall} does not count here: {what}. Rule here if it should."),
    "node_back": N_("Node {number} of the centre’s broker, {node}, is back."),
    "node_lost": N_("Node {number} of the centre’s broker, {node}, does not answer. Check whether that machine is on."),
    "table_lost": N_("Table {table} went offline without being switched off."),
    "table_silent": N_("No message from table {table} for {seconds} s: check its device and its network."),
    "two_devices": N_("Two devices are sending for table {table}."),
    "device_waits": N_(
        "Table {table}: a device that is not known is sending, {device}. Nothing from it counts until it is accepted."
    ),
    "pin_wrong": N_("Table {table}: a wrong PIN was entered ({count} since the last correct one). Ask who entered it."),
    "event_key_changed": N_(
        "The event’s key has changed: paired tables no longer trust this scorer. Restore event.key from a copy, or "
        "pair them again."
    ),
    "gap": N_("Table {table}: messages before number {number} are missing."),
    "fouled": N_("Table {table}: deal {deal} is being played with another arrangement of tiles."),
    "unverified": N_("Table {table}: deal {deal} was restored without verification."),
    "session_differs": N_("Table {table}: entry {entry} of the riichi session does not match the earlier entries."),
    "paper_differs": N_("Table {table}: the result for round {round} differs from the one entered from paper."),
    "settled_before": N_(
        "Table {table}: a result for round {round} (deal {deal}) arrived but does not count: {kind}, ruled earlier "
        "by {author}."
    ),
    "ruled_at_table": N_(
        "Table {table}: {kind}, ruled at the table on deal {deal}, round {round}, by {author}: {reason}"
    ),
    "fined_at_table": N_("Table {table}: fined on deal {deal}, round {round}: {fines}; by {author}: {reason}"),
    "ruled_after_end": N_(
        "Table {table}: {kind}, ruled on deal {deal}, round {round}, reported after the correction period."
    ),
    "overridden": N_("Table {table}: an arbiter let deal {deal} continue: {guards}. Reason: {reason}"),
    "seating_differs": N_("Table {table}: not seated as planned for deal {deal}."),
    "player_repeats_deal": N_("Table {table}: {names} already played deal {deal}."),
    "device_unwell": N_("Table {table}: {what}"),
    "device_well": N_("Table {table}: fixed: {what}"),
    "clock_ahead": N_("Table {table}: its clock is {span} ahead of this computer’s."),
    "clock_behind": N_("Table {table}: its clock is {span} behind this computer’s."),
    "clock_right": N_("Table {table}: its clock is correct again."),
    "scorer_disk_low": N_("The scorer’s disk is getting full. Free up disk space."),
    "scorer_disk_read_only": N_("The scorer’s disk is nearly full: the desk is read-only until there is more space."),
    "scorer_disk_full": N_(
        "The scorer’s disk is full: no results are stored until there is more space. Tables keep everything."
    ),
    "scorer_disk_ample": N_("The scorer’s disk has enough space again."),
    "backup_failed": N_("Backup copies: {text}"),
    "backup_resumed": N_("Backup copies are working again."),
    "store_shrunk": N_("Stored messages are missing: {count}. By table: {tables}. Rulings from the desk: {rulings}."),
    "store_older": N_(
        "The store is missing messages: table {table} has receipts up to {safe}, but its "
        "stored messages end at {upto}. Was the store replaced by an older copy? Tables will resend theirs."
    ),
    "row_altered": N_(
        "Table {table}: stored message {number} was altered on disk. The table has been asked to resend it."
    ),
    "row_unreadable": N_(
        "Table {table}: stored message {number} cannot be read. The table has been asked to resend it."
    ),
    "row_wrong_points": N_(
        "Table {table}: stored result {number} has wrong points. The table has been asked to resend it."
    ),
    "row_bad_signature": N_("Table {table}: stored message {number} is not signed by its device."),
    "ruling_altered": N_("Desk ruling {number} was altered on disk and does not count."),
    "second_home_failed": N_("Rulings are not written to their second home: {text}"),
    "second_home_resumed": N_("Rulings are written to their second home again."),
    "standby_lost": N_("The standby {desk} is offline. If this machine fails now, nothing takes over."),
    "standby_back": N_("The standby {desk} is online again."),
    "standby_took_over": N_("This machine has taken over from {desk}. Check whether that one has failed."),
    "desk_port_taken": N_(
        "The desk could not be opened: another program is using its port on this machine. Results are "
        "still being stored."
    ),
    "desk_address_refused": N_(
        "The desk could not be opened: this machine cannot use its address. Results are still being stored."
    ),
    "standby_behind": N_("There is no standby, or it is not up to date."),
    "rulings_back": N_("Desk rulings {numbers} were recovered from their second home."),
    "rulings_missing": N_("Desk rulings {numbers} are missing. Make them again if they are not recovered."),
    "ruling_late": N_("Desk ruling {number} was recovered after later ones. Restart the scorer to apply it."),
    "ruling_too_late": N_(
        "Ruling {number} by {author} was recovered after another had taken its number, so it does not count. "
        "Its reason: {reason}"
    ),
    "admissions_back": N_("Decisions about devices recovered from their second home: {count}."),
    "kept_unproven": N_("Table {table} returned a ruling of another event. Check its device."),
    "link_altered": N_(
        "Table {table}: the checksum of stored message {number} was altered on disk. The message still counts."
    ),
    "row_repaired": N_("Table {table}: message {number} was resent and is now stored."),
    "arbiters_pin_set": N_("{who} set the arbiters’ PIN."),
    "pairing_opened": N_("{who} opened pairing codes for tables: {about}."),
    "pairing_taken": N_("Table {table}: a device was paired: {detail}."),
    "device_accepted": N_("Table {table}: {who} accepted the device {detail}."),
    "faces_shown": N_("{who} was shown the faces of deals: {about}."),
    "account_added": N_("{who} created the account {about} ({detail})."),
    "account_disabled": N_("{who} disabled the account {about}."),
    "token_added": N_("{who} created the token {about} ({detail}) for another program."),
    "webhook_added": N_("{who} set up notification of another program about the final results: {about}."),
    "people_restored": N_("The accounts were restored from a copy: {about}."),
    "device_listed": N_("Table {table}: {who} registered the device {detail}; it is accepted when the scorer starts."),
    "device_revoked": N_("Table {table}: {who} revoked the device {detail}."),
    "event_closed": N_(
        "{who} closed the event and revoked devices: {detail}. Tables have to be paired again to play on."
    ),
    "account_enabled": N_("{who} enabled the account {about}."),
    "password_set": N_("{who} set the password of {about}."),
    "standings_unwritten": N_("The standings file cannot be written: {text}"),
}
"""The sentence for each code, filled with `{table}` and the concern's values. Other codes use `Concern.found`."""


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that an arbiter must know. `about` distinguishes it from others with the same code and table."""

    code: str
    table: int | None = None
    about: int | None = None
    values: Mapping[str, int | str] = field(default_factory=dict)
    """The values for the code's sentence."""
    topic: str | None = None
    found: str = ""
    """The English text, if the code has no sentence in ALERT_CODES, such as the reason of a refusal."""

    @property
    def text(self) -> str:
        """The full English text."""
        sentence = ALERT_CODES.get(self.code)
        return sentence.format(**{"table": self.table or "?", **self.values}) if sentence else self.found


def concern_of_refusal(topic: str, place: ParsedTopic | None, verdict: IntakeVerdict) -> Concern:
    """Return the concern for a refused message. Its table is that of the topic, to which no other table can write."""
    fact = verdict.message
    # Each conflicting fact is reported by itself. Other refusals share an alert, as there may be any number.
    about = fact.seq if verdict.code == "conflict" and isinstance(fact, LogMessage) else None
    return Concern(
        verdict.code or "", place.table if place else None, about=about, topic=topic[:200], found=verdict.text
    )


def concern_of_hall(code: str, hall: str = "", what: str = "") -> Concern:
    """Return a concern about a hall (at the centre), or about the centre (in a hall)."""
    about = crc32(hall.encode()) if hall else None  # distinguishes halls
    return Concern(code, about=about, values={"hall": hall, "what": what})


def concern_of_gap(table: int, seq: int) -> Concern:
    """Return the concern that the fact before this one is missing."""
    return Concern("gap", table, about=seq, values={"number": seq})


GONE_CODES: Final = frozenset({"row_lost", "row_missing"})
ROW_CODES: Final = frozenset({"row_altered", "row_unreadable", "row_wrong_points", "row_bad_signature", "link_altered"})
"""Codes of faults in stored rows (broker/store/records.py)."""


def concerns_of_faults(faults: Sequence[Fault]) -> Iterator[Concern]:
    """Yield the concerns for faults of the store: one for everything that is missing, and one for each other row."""
    missing = [fault for fault in faults if fault.code in GONE_CODES]
    if missing:
        tables, rulings = _numbers_by_table(missing), ranges(fault.seq or 0 for fault in missing if fault.table == DESK)
        values: dict[str, int | str] = {"count": len(missing), "tables": tables or "-", "rulings": rulings or "-"}
        yield Concern("store_shrunk", values=values)
    for fault in faults:
        if fault.code not in ROW_CODES:
            continue
        number: dict[str, int | str] = {"number": "?" if fault.seq is None else fault.seq}
        if fault.table == DESK and fault.code != "link_altered":
            yield Concern("ruling_altered", about=fault.height, values=number)
        else:
            unknown_table = {} if fault.table else {"table": "?"}
            yield Concern(fault.code, fault.table or None, about=fault.height, values={**number, **unknown_table})


def _numbers_by_table(faults: Iterable[Fault]) -> str:
    """Return row numbers by table, as in `1: 3-5, 9; 2: 7`. Where the table is unknown, give heights: `?: 17`."""
    numbers: dict[int, list[int]] = {}
    for fault in faults:
        if fault.table != DESK:
            numbers.setdefault(fault.table or 0, []).append(fault.height if fault.seq is None else fault.seq)
    return "; ".join(f"{table or '?'}: {ranges(found)}" for table, found in sorted(numbers.items()))


def ranges(numbers: Iterable[int]) -> str:
    """Format numbers as `3-5, 9`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def concern_of_apart(fact: ApartFact) -> Concern:
    """Return the concern for a fact kept apart because it does not follow: one concern per play."""
    table, round_ = fact.key
    deal = fact.message.fact.deal
    text = f"table {table}: its report of round {round_}, deal {deal} does not follow, and is kept apart"
    return Concern(fact.code, table, about=round_, values={"round": round_, "deal": deal}, found=text)


def concerns_of_fact(state: EventState, message: LogMessage, now: int) -> Iterator[Concern]:
    """Yield the concerns for a fact that was just applied. `now` in ms since 1970, by the scorer's clock."""
    yield from concerns_without_repeats(state, message, now)
    if isinstance(message.fact, Seated | Result):
        yield from concerns_of_repeats(state.event, state.tables.seatings, message, message.fact)


OF_NO_CONCERN: Final = frozenset({Confirmed, Declared, Call, TilesLaid})
"""Kinds of facts that never concern arbiters. A long journal has very many of them."""


def concerns_without_repeats(state: EventState, message: LogMessage, now: int) -> Iterable[Concern]:
    """Return the concerns of a fact, except repeated deals: in a long journal there is a faster way to find those."""
    event, fact = state.event, message.fact
    found: Iterable[Concern] = ()
    if type(fact) in OF_NO_CONCERN:
        return found
    match fact:
        case Result():
            found = _concerns_of_result(event, state, message, fact)
        case Restored():
            found = _concerns_of_walls(event, message, fact)
        case Seated():
            found = _concerns_of_seats(event, state.tables.seatings, message, fact)
        case Overridden():
            values: dict[str, int | str] = {"deal": fact.deal, "guards": ", ".join(fact.guards), "reason": fact.reason}
            found = (Concern("overridden", message.table, about=message.seq, values=values),)
        case Ruled():
            found = _concerns_of_ruling(state, message, now)
        case RiichiRecorded():
            found = _concerns_of_session(event, state, message)
    return found


def _concerns_of_result(event: Event, state: EventState, message: LogMessage, fact: Result) -> Iterable[Concern]:
    seated = _concerns_of_seats(event, state.tables.seatings, message, fact)
    if not fact.fines and state.book.last((message.table, fact.round)) is None:
        return seated  # nearly always so, and a long journal has very many results
    return chain(_concerns_of_settled(state, message, fact), _concerns_of_fines(event, message, fact), seated)


def _concerns_of_session(event: Event, state: EventState, message: LogMessage) -> Iterator[Concern]:
    session = event.riichi.get((message.table, message.fact.round))
    for entry in state.tables.sessions.differing(session) if session else ():
        yield Concern("session_differs", message.table, about=entry, values={"entry": entry})


def _concerns_of_walls(event: Event, message: LogMessage, fact: Restored) -> Iterator[Concern]:
    for code, right in (("fouled", fact.form == event.form(fact.deal)), ("unverified", fact.verified)):
        if not right:
            yield Concern(code, message.table, about=message.seq, values={"deal": fact.deal})


def _concerns_of_ruling(state: EventState, message: LogMessage, now: int) -> Iterator[Concern]:
    """Yield the concerns for a ruling at a table. `now` in ms since 1970, because a table's own clock may be wrong."""
    fact, table = message.fact, message.table
    if not isinstance(fact, Ruled):
        return
    values: dict[str, int | str] = {"kind": decision_kind(fact.decision), "deal": fact.deal, "round": fact.round}
    all_values = {**values, "author": fact.author, "reason": fact.reason}
    yield Concern("ruled_at_table", table, about=message.seq, values=all_values)
    if state.book.deadline is not None and now > state.book.deadline:
        yield Concern("ruled_after_end", table, about=message.seq, values=values)


def _concerns_of_fines(event: Event, message: LogMessage, result: Result) -> Iterator[Concern]:
    """Yield the concern for fines that come with a result. An older table does not report who gave them."""
    if not result.fines:
        return
    about = ((event.players[result.players[seat]].name, fine.imp) for seat, fine in result.fines.items())
    fines = ", ".join(f"{name} {imp} IMP" for name, imp in about)
    values: dict[str, int | str] = {
        "fines": fines,
        "deal": result.deal,
        "round": result.round,
        "author": ", ".join(sorted({fine.author or "?" for fine in result.fines.values()})),
        "reason": ", ".join(sorted({fine.reason for fine in result.fines.values()})),
    }
    yield Concern("fined_at_table", message.table, about=message.seq, values=values)


def _concerns_of_settled(state: EventState, message: LogMessage, result: Result) -> Iterator[Concern]:
    """Yield the concern for a result whose play was already settled by another ruling."""
    table = message.table
    entry = _settled_by(state.book.of((table, result.round)))
    if entry is None or _as_settled(entry, result):
        return
    if isinstance(entry.decision, Correct) and entry.decision.source == "paper":
        yield Concern("paper_differs", table, about=message.seq, values={"round": result.round})
        return
    values: dict[str, int | str] = {"round": result.round, "deal": result.deal, "kind": entry.kind}
    all_values = {**values, "author": entry.author, "ruling": entry.id}
    yield Concern("settled_before", table, about=message.seq, values=all_values)


def _settled_by(entries: Sequence[RulingEntry]) -> RulingEntry | None:
    """Return the desk's ruling that replaces a result, if any. Rulings at the table follow the table's own results."""
    outcomes = (entry for entry in reversed(entries) if isinstance(entry.decision, Correct | Void | Adjusted | Reopen))
    last = next(outcomes, None)
    return None if last is None or last.at_table or isinstance(last.decision, Reopen) else last


def _as_settled(entry: RulingEntry, result: Result) -> bool:
    """Return whether a ruling records the play as the table does, including fines."""
    ruled = entry.decision
    if not isinstance(ruled, Correct):
        return False
    fines = {result.players[seat]: fine.imp for seat, fine in result.fines.items()}
    entered = result.win, result.winners, result.discarder, result.hand, fines
    return (ruled.win, ruled.winners, ruled.discarder, ruled.hand, ruled.fines) == entered


def _concerns_of_seats(
    event: Event, seatings: Seatings, message: LogMessage, fact: Seated | Result
) -> tuple[Concern, ...]:
    """Return the concern if players sit neither as planned nor as the table reported before."""
    key = message.table, fact.round
    seated = seatings.of(key) if isinstance(fact, Result) else None
    if fact.players == (seated or event.bookings[key].players):
        return ()
    return (Concern("seating_differs", message.table, about=message.seq, values={"deal": fact.deal}),)


def concerns_of_repeats(
    event: Event, seatings: Seatings, message: LogMessage, fact: Seated | Result
) -> Iterator[Concern]:
    """Yield the concern for players who have played this deal before."""
    if repeating := seatings.repeating((message.table, fact.round), fact.deal, fact.players.values()):
        names = ", ".join(event.players[one].name for one in repeating)
        yield Concern("player_repeats_deal", message.table, message.seq, {"names": names, "deal": fact.deal})


MOST_PER_CODE: Final = 50
"""Alerts stored per code, so that frequent alerts of one kind do not displace those of another."""

MOST_AT_ONCE: Final = 20
"""Most alerts from one batch, so that a table that floods the broker does not flood the arbiter."""

PAUSE_MS: Final = 1000
"""A concern of the same kind is reported again only after a second without it."""

Kind = tuple[str, int | None, int | None]
"""Code, table, and `about`."""


class AlertBook:
    """The most recent alerts of each code, newest first, and the concerns not yet turned into alerts."""

    def __init__(self) -> None:
        self._by_code: dict[str, list[tuple[int, AlertView]]] = {}
        self._number = count()
        self._newest_first: tuple[AlertView, ...] | None = ()
        self._last: dict[Kind, int] = {}
        self._found: list[Concern] = []

    def note(self, concerns: Iterable[Concern]) -> None:
        """Collect concerns for the next `add`."""
        self._found.extend(concerns)

    def add(self, concerns: Iterable[Concern], now: int) -> tuple[Concern, ...]:
        """Turn the collected concerns and these into alerts. Return the new ones: one of each kind, up to a limit.

        `now` in ms. Concerns beyond the limit are dropped, and are reported when they occur again.
        """
        found = (*self._found, *concerns)
        self._found.clear()
        one_each = {(concern.code, concern.table, concern.about): concern for concern in found}
        # A clock that was set back must not silence anything, so only concerns reported just before `now` are skipped.
        self._last = {kind: at for kind, at in self._last.items() if 0 <= now - at < PAUSE_MS}
        quiet = one_each.keys() & self._last.keys()
        fresh = {kind: concern for kind, concern in one_each.items() if kind not in quiet}
        new = dict(islice(fresh.items(), MOST_AT_ONCE))
        self._last.update(dict.fromkeys((*quiet, *new), now))
        for concern in new.values():
            self._add(now, concern)
        return tuple(new.values())

    def load(self, past: Iterable[tuple[int, Concern]]) -> None:
        """Add alerts from before this scorer's start, with their timestamps (ms), to those already stored."""
        before = [
            (one.at, Concern(one.code, one.table, one.about, one.values, found=one.text))
            for one in reversed(self.newest_first())
        ]
        self._by_code.clear()
        for at, concern in sorted([*before, *past], key=itemgetter(0)):
            self._add(at, concern)

    def newest_first(self) -> tuple[AlertView, ...]:
        """Return the stored alerts, newest first."""
        if self._newest_first is None:
            entries = sorted(
                (one for of_code in self._by_code.values() for one in of_code), key=itemgetter(0), reverse=True
            )
            self._newest_first = tuple(alert for _, alert in entries)
        return self._newest_first

    def _add(self, at: int, concern: Concern) -> None:
        alert = AlertView(at, concern.code, concern.table, concern.text, dict(concern.values), concern.about)
        stored = self._by_code.setdefault(concern.code, [])
        stored.append((next(self._number), alert))
        if len(stored) > MOST_PER_CODE:
            of_table = Counter(one.table for _, one in stored)
            del stored[max(range(len(stored)), key=lambda place: (of_table[stored[place][1].table], -place))]
        self._newest_first = None


GOING: Final = "goes/"
SEEN: Final = "seen/"
"""Key prefixes in the store, followed by the table, and by the `alert_key`."""


class GoingToCall(Struct, frozen=True):
    """Records that someone goes to the call that a table opened at a time (ms since 1970; None: unknown)."""

    by: Attending
    call: int | None


class SeenMark(Struct, frozen=True):
    """Records that someone has seen the alerts of one kind up to a time (ms since 1970)."""

    by: Attending
    upto: int


def alert_key(alert: AlertView) -> str:
    """Return the key of an alert: its code, table and `about`. An alert that comes again has the same key."""
    return "/".join((alert.code, *("" if one is None else str(one) for one in (alert.table, alert.about))))


class Attendance:
    """Who goes to which call, and who has seen which alert. For the scorer's thread only.

    `clock` returns ms since 1970. `changed` is called with the tables concerned.
    """

    def __init__(self, journal: Journal, clock: Callable[[], int], changed: Callable[[set[int]], None]) -> None:
        self._journal, self._clock, self._changed = journal, clock, changed
        self._attending = {int(table): one for table, one in journal.stored_structs(GOING, GoingToCall).items()}
        self._seen = journal.stored_structs(SEEN, SeenMark)
        self._shown: tuple[tuple[AlertView, ...], tuple[AlertView, ...]] = ((), ())

    # ---- calls ------------------------------------------------------------------------------

    def call(self, table: int, since: int | None) -> Attending | None:
        """Return who goes to a table's call. `since`: when it was opened, or None if unknown."""
        found = self._attending.get(table)
        if found is None:
            return None
        opened_before = found.call is None and since is not None and since <= found.by.at
        return found.by if found.call == since or opened_before else None

    def is_attended(self, table: int, call: Since | None) -> bool:
        """Return whether an arbiter is on the way to this call of a table."""
        return call is not None and self.call(table, call.at) is not None

    def attend(self, table: int, since: int | None, seen: int, account: str, name: str) -> bool:
        """Record that an arbiter goes to a call. `seen`: the `at` of whoever they saw going and replace; 0: nobody.

        Return whether this is new. Raises CallAttended if someone else goes.
        """
        before = self.call(table, since)
        if before and before.account == account:
            return False
        self._refuse_unless(before, seen, table)
        now = max(self._clock(), before.at + 1 if before else 0)
        self._store(table, GoingToCall(Attending(account, name, now), since))
        return True

    def leave(self, table: int, since: int | None, seen: int, account: str) -> bool:
        """Record that an arbiter no longer goes to a call. Return whether this is new.

        Raises CallAttended if someone else goes.
        """
        before = self.call(table, since)
        if before is None:
            return False
        self._refuse_unless(before, seen if before.account == account else 0, table)
        self._store(table, None)
        return True

    def apply(self, message: LogMessage) -> None:
        """Forget who went to a call that is over. If a clock is slow, a later call could have the same time."""
        if isinstance(message.fact, Call) and not message.fact.open and message.table in self._attending:
            self._store(message.table, None)

    def _refuse_unless(self, before: Attending | None, seen: int, table: int) -> None:
        if (before.at if before else 0) != seen:
            name = before.name if before else "nobody"
            raise CallAttended(f"table {table}: {name} is going there now")

    def _store(self, table: int, going: GoingToCall | None) -> None:
        with self._journal.commit():
            self._journal.set_struct(f"{GOING}{table}", going)
        self._attending.pop(table, None)
        if going:
            self._attending[table] = going
        self._changed({table})

    # ---- alerts -----------------------------------------------------------------------------

    def alerts(self, stored: tuple[AlertView, ...]) -> tuple[AlertView, ...]:
        """Return the alerts with who has seen each."""
        if self._shown[0] is not stored:
            self._shown = stored, tuple(self._with_mark(alert) for alert in stored) if self._seen else stored
        return self._shown[1]

    def mark_seen(self, alert: AlertView, account: str, name: str) -> bool:
        """Record that someone has seen an alert, and earlier ones of its kind. The first to see it stays recorded.

        Return whether this is new.
        """
        mark = self._seen.get(alert_key(alert))
        if mark is not None and mark.upto >= alert.at:
            return False
        self._store_mark(alert_key(alert), SeenMark(Attending(account, name, self._clock()), alert.at))
        return True

    def mark_unseen(self, alert: AlertView) -> bool:
        """Record that an alert was not seen after all. Return whether this is new."""
        if alert_key(alert) not in self._seen:
            return False
        self._store_mark(alert_key(alert), None)
        return True

    def _store_mark(self, key: str, mark: SeenMark | None) -> None:
        with self._journal.commit():
            self._journal.set_struct(f"{SEEN}{key}", mark)
        self._seen.pop(key, None)
        if mark:
            self._seen[key] = mark
        self._shown = ((), ())
        self._changed(set())

    def _with_mark(self, alert: AlertView) -> AlertView:
        mark = self._seen.get(alert_key(alert))
        return replace(alert, seen=mark.by) if mark and alert.at <= mark.upto else alert
