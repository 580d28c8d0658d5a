"""Which devices may speak for which table, by their keys; and whether a fact is one's, by its signature.

A device is admitted when it is paired at the desk, when the organiser has listed its key, or when the head arbiter
accepts it. The records are in the journal, so that whoever reads it can verify every fact in it.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct

from broker.i18n import N_
from broker.protocol import (
    UNREADABLE,
    DeviceAdmitted,
    DeviceRecord,
    LogMessage,
    PinGiven,
    Refused,
    fact_hash,
    is_signed_by,
    kept_form,
)


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
        self._ever: set[tuple[int, str]] = set()
        self.number = 0
        """How many records there are."""
        for record in records:
            if isinstance(record, DeviceRecord):
                self.apply(record)

    def apply(self, record: DeviceRecord) -> None:
        """Take in one record."""
        self.number = max(self.number, record.number)
        if isinstance(record, DeviceAdmitted):
            self._admitted[record.table, record.device] = record
            self._ever.add((record.table, record.device))
        else:
            self._admitted.pop((record.table, record.device), None)

    def admits(self, table: int, device: str) -> bool:
        """Return whether a device may speak for a table."""
        return (table, device) in self._admitted

    def knew(self, table: int, device: str) -> bool:
        """Return whether a device has ever been admitted at a table."""
        return (table, device) in self._ever

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
                seal = _SEALS.decode(kept_form(payload))  # no further: nothing behind a signature is signed
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
