"""What arbiters are alerted to: concerns, each a code with values, and the sentences that say them.

The desk says a sentence in the reader's language, the wire in English.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from broker.i18n import N_, Message
from broker.protocol import LogMessage, ParsedTopic
from broker.scorer.intake import IntakeVerdict
from broker.scorer.quarantine import ApartFact
from broker.store import DESK, BackupReport, Fault


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing that an arbiter must know. `about` sets it apart from others of its code at its table."""

    code: str
    table: int | None = None
    about: int | None = None
    values: Mapping[str, int | str] = field(default_factory=dict)
    """What is filled into the sentence for the code."""
    topic: str | None = None
    found: str = ""
    """What there is to say, in English, where the code has no sentence in ALERT_CODES: why a message was refused."""

    @property
    def text(self) -> str:
        """The whole in English."""
        sentence = ALERT_CODES.get(self.code)
        return sentence.format(**{"table": self.table or "?", **self.values}) if sentence else self.found


def concern_of_refusal(topic: str, place: ParsedTopic | None, verdict: IntakeVerdict) -> Concern:
    """Return the concern of a refused message, at the table of its topic: a broker lets no table write on another's."""
    fact = verdict.message
    # Each fact of which there are two versions counts; of rubbish there may be any amount.
    about = fact.seq if verdict.code == "conflict" and isinstance(fact, LogMessage) else None
    return Concern(
        verdict.code or "", place.table if place else None, about=about, topic=topic[:200], found=verdict.text
    )


def concern_of_hall(code: str, hall: str = "", what: str = "") -> Concern:
    """Return what arbiters must know of a hall at the centre, or in a hall of the centre."""
    about = crc32(hall.encode()) if hall else None  # sets halls apart
    return Concern(code, about=about, values={"hall": hall, "what": what})


def concern_of_gap(table: int, seq: int) -> Concern:
    """Return what an arbiter must know where the fact before this one is missing."""
    return Concern("gap", table, about=seq, values={"number": seq})


GONE_CODES: Final = frozenset({"row_lost", "row_missing"})
ROW_CODES: Final = frozenset({"row_altered", "row_unreadable", "row_wrong_points", "row_bad_signature", "link_altered"})
"""What can be wrong with a stored row (broker/store/records.py)."""


def concern_of_second_home(report: BackupReport) -> Concern:
    """Return the concern of how the second home of rulings is doing."""
    return Concern("second_home_resumed" if report.well else "second_home_failed", values={"text": report.text})


def concerns_of_faults(faults: Sequence[Fault]) -> Iterator[Concern]:
    """Return what an arbiter must know of what is wrong with the store: what is gone together, each row by itself."""
    gone = [fault for fault in faults if fault.code in GONE_CODES]
    if gone:
        tables, rulings = _numbers_by_table(gone), ranges(fault.seq or 0 for fault in gone if fault.table == DESK)
        values: dict[str, int | str] = {"count": len(gone), "tables": tables or "-", "rulings": rulings or "-"}
        yield Concern("store_shrunk", values=values)
    for fault in faults:
        if fault.code not in ROW_CODES:
            continue
        number: dict[str, int | str] = {"number": "?" if fault.seq is None else fault.seq}
        if fault.table == DESK and fault.code != "link_altered":
            yield Concern("ruling_altered", about=fault.height, values=number)
        else:
            whose = {} if fault.table else {"table": "?"}
            yield Concern(fault.code, fault.table or None, about=fault.height, values={**number, **whose})


def _numbers_by_table(faults: Iterable[Fault]) -> str:
    """Name rows by table and numbers: `1: 3-5, 9; 2: 7`; those of which that is not known by their height, `?: 17`."""
    numbers: dict[int, list[int]] = {}
    for fault in faults:
        if fault.table != DESK:
            numbers.setdefault(fault.table or 0, []).append(fault.height if fault.seq is None else fault.seq)
    return "; ".join(f"{table or '?'}: {ranges(found)}" for table, found in sorted(numbers.items()))


def ranges(numbers: Iterable[int]) -> str:
    """Write numbers as `3-5, 9`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def concern_of_apart(fact: ApartFact) -> Concern:
    """Return what an arbiter must know of a fact that does not follow and is kept apart: one concern a play."""
    table, round_ = fact.key
    deal = fact.message.fact.deal
    text = f"table {table}: what it says of round {round_}, deal {deal} does not follow, and is kept apart"
    return Concern(fact.code, table, about=round_, values={"round": round_, "deal": deal}, found=text)


ALERT_CODES: Final[Mapping[str, Message]] = {
    "centre_found": N_("The centre is connected."),
    "centre_lost": N_("No connection to the centre. Play on: messages are sent as soon as there is one."),
    "centre_has_more": N_(
        "The centre has more messages of this hall than the store here, which is an older copy. Tables send theirs "
        "again; compare your rulings with the centre’s."
    ),
    "centre_refuses": N_("The centre has refused something that this hall sent. Ask its arbiters what."),
    "hall_revoked": N_("The centre no longer accepts messages from this hall. Ask its arbiters why."),
    "hall_silent": N_("Hall {hall} is offline: it plays on, and sends its messages later."),
    "hall_ruling_refused": N_("A ruling of hall {hall} does not count here: {what}. Rule here if it should."),
    "node_back": N_("Node {number} of the centre’s broker, {node}, is back."),
    "node_lost": N_("Node {number} of the centre’s broker, {node}, does not answer. Check whether that machine is on."),
    "table_lost": N_("Table {table} went offline without being switched off."),
    "table_silent": N_("No message from table {table} for {seconds} s: check its device and its network."),
    "two_devices": N_("Two devices are sending for table {table}."),
    "device_waits": N_(
        "Table {table}: a device that is not known is sending, {device}. Nothing from it counts until it is accepted."
    ),
    "pin_wrong": N_("Table {table}: a wrong PIN was typed, {count} since the last right one. Ask there who it was."),
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
    "player_repeats_deal": N_("Table {table}: {names} played deal {deal} before."),
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
    "store_shrunk": N_(
        "Messages that were stored are missing: {count}. By table: {tables}. Rulings of the desk: {rulings}."
    ),
    "store_older": N_(
        "The store is missing messages: table {table} has receipts up to {safe}, the store has {upto}. Was it "
        "replaced by an older copy? Tables send theirs again."
    ),
    "row_altered": N_("Table {table}: stored message {number} was changed on the disk. It is asked for again."),
    "row_unreadable": N_("Table {table}: stored message {number} cannot be read. It is asked for again."),
    "row_wrong_points": N_("Table {table}: stored result {number} has wrong points. It is asked for again."),
    "row_bad_signature": N_("Table {table}: stored message {number} is not signed by its device."),
    "ruling_altered": N_("Ruling {number} of the desk was changed on the disk and does not count."),
    "second_home_failed": N_("Rulings are not written to their second home: {text}"),
    "second_home_resumed": N_("Rulings are written to their second home again."),
    "standby_lost": N_("The standby {desk} is offline. If this machine fails now, nothing takes over."),
    "standby_back": N_("The standby {desk} is online again."),
    "standby_took_over": N_("This machine has taken over from {desk}. Check whether that one has failed."),
    "standby_behind": N_("There is no standby, or it is not up to date."),
    "rulings_back": N_("Rulings {numbers} of the desk came back from their second home."),
    "rulings_missing": N_("Rulings {numbers} of the desk are missing. Make them again if they do not come back."),
    "ruling_late": N_("Ruling {number} of the desk came back after later ones. Restart the scorer to count it."),
    "ruling_too_late": N_(
        "Ruling {number} by {author} came back after another was made, and does not count. Its reason: {reason}"
    ),
    "admissions_back": N_("Decisions about devices that came back from their second home: {count}."),
    "kept_unproven": N_("Table {table} returned a ruling of another event. Check its device."),
    "link_altered": N_(
        "Table {table}: the proof of stored message {number} was changed on the disk. The message still counts."
    ),
    "row_repaired": N_("Table {table}: message {number} was sent again and is stored."),
    "arbiters_pin_set": N_("{who} set the arbiters’ PIN."),
    "pairing_opened": N_("{who} opened pairing codes for tables: {about}."),
    "pairing_taken": N_("Table {table}: a device was paired: {detail}."),
    "device_accepted": N_("Table {table}: {who} accepted the device {detail}."),
    "faces_shown": N_("{who} was given the faces of deals: {about}."),
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
"""What each code is said with: `{table}`, or the concern's values. What is refused or kept apart is said otherwise."""
