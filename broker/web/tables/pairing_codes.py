"""Codes by which devices are paired with tables: drawn, used once, over after minutes. Times are given, in ms.

Kept in memory alone: a desk that is started again has forgotten them, and new ones are drawn.
"""

import hmac
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from broker.protocol.pairing import PairingKeys, PairingRequest, derive_keys, new_pairing_code
from broker.web import Misses, PairingDelayed, PairingOutdated, PairingOver, PairingSpent, PairingUnknown

LASTS_MS: Final = 10 * 60 * 1000
"""How long a code is good."""

KEPT_MS: Final = 60 * 60 * 1000
"""How long it is known that there was one, so that who comes late is told so."""

MOST_LATE: Final = 24
"""Of so many codes that are used or over, the newest: each that a proof is compared with costs a key."""

OF_ADDRESS, OF_ALL = 10, 200
"""Wrong proofs after which no more are heard for a while: of one address, of all. At the most 200 of 10**8 codes."""

EVERYBODY: Final = ""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class PendingCode:
    """One code. It is for one table and one device."""

    table: int
    code: str = field(repr=False)
    by: str
    """Login name of who opened it."""
    until: int
    taken_at: int | None = None
    machine: str = ""
    """Which machine took it."""
    withdrawn: bool = False

    def state(self, now: int) -> str:
        """Say in a word how it stands: `open`, `taken`, `over`."""
        if self.taken_at is not None:
            return "taken"
        return "over" if self.withdrawn or now >= self.until else "open"

    @property
    def spaced(self) -> str:
        """The code as people read it: two blocks."""
        half = len(self.code) // 2
        return f"{self.code[:half]} {self.code[half:]}"


class PairingCodes:
    """All codes of one desk, a table's newest in the place of those before it. From any thread."""

    def __init__(self, fingerprint: str) -> None:
        """`fingerprint`: of the certificate that the desk is seen by; "" without TLS."""
        self.fingerprint, self._lock = fingerprint, threading.Lock()
        self._turn = threading.Lock()  # one guess at a time: many at once would be many before the first is counted
        self._all: list[PendingCode] = []
        self._misses, self._of_all = Misses(OF_ADDRESS), Misses(OF_ALL)

    def open(self, table: int, by: str, now: int) -> PendingCode:
        """Draw a code for a table; an earlier one for it that is still open is over."""
        made = PendingCode(table, new_pairing_code(), by, now + LASTS_MS)
        with self._lock:
            self._withdraw(table)
            self._all = [one for one in self._all if now < one.until + KEPT_MS] + [made]
        return made

    def withdraw(self, table: int) -> None:
        """Let nobody use the table's code any more."""
        with self._lock:
            self._withdraw(table)

    def newest(self, now: int) -> list[PendingCode]:
        """Return the newest of each table that is still to be seen, by table."""
        with self._lock:
            of_table = {one.table: one for one in self._all if now < one.until}
        return [one for _, one in sorted(of_table.items()) if not one.withdrawn]

    def take(
        self, asked: PairingRequest, address: str, now: int, make: Callable[[int], Made]
    ) -> tuple[PendingCode, PairingKeys, Made]:
        """Use a code, for good, and give what `make` makes for its table. Where that raises the code stays as it was.

        Raises PairingDelayed, PairingOutdated, PairingUnknown, PairingSpent where it was used, PairingOver where its
        time is over.
        """
        with self._turn:
            if wait := max(self._misses.wait_ms(address, now), self._of_all.wait_ms(EVERYBODY, now)):
                raise PairingDelayed(-(-wait // 1000))
            if asked.salt is None:
                raise PairingOutdated("this device's program is older than the desk's: bring it up to date")
            found = self._meant(asked.proof, asked.salt, now)
            if found is None or not _has_sealed_key(asked, found[1]):
                self._misses.missed(address, now)
                self._of_all.missed(EVERYBODY, now)
                raise PairingUnknown("no code that was given out here: look at the digits, and at the desk's address")
            try:
                with self._lock:
                    return self._use(*found, asked.machine, now, make)
            except (PairingSpent, PairingOver):
                self._misses.missed(address, now)  # each question costs the keys of all codes, an old one's too
                raise

    def _meant(self, proof: str, salt: str, now: int) -> tuple[PendingCode, PairingKeys] | None:
        """Return the code that was proven. Its keys are made here, of the device's salt: that takes its time."""
        with self._lock:
            newest = self._all[::-1]
        waiting = [one for one in newest if one.state(now) == "open"]
        late = [one for one in newest if one.state(now) != "open"][:MOST_LATE]
        tried = ((one, derive_keys(one.code, self.fingerprint, salt)) for one in waiting + late)
        return next(((one, keys) for one, keys in tried if hmac.compare_digest(keys.proof, proof)), None)

    def _use(
        self, meant: PendingCode, keys: PairingKeys, machine: str, now: int, make: Callable[[int], Made]
    ) -> tuple[PendingCode, PairingKeys, Made]:
        # It may have been withdrawn while its keys were made.
        at = next((at for at, one in enumerate(self._all) if one.code == meant.code and one.until == meant.until), None)
        one = replace(meant, withdrawn=True) if at is None else self._all[at]
        _refuse_used(one, now)
        made = make(one.table)
        taken = replace(one, taken_at=now, machine=machine)
        self._all = [taken if other is one else other for other in self._all]
        return taken, keys, made

    def _withdraw(self, table: int) -> None:
        self._all = [
            replace(one, withdrawn=True) if one.table == table and one.taken_at is None else one for one in self._all
        ]


def _has_sealed_key(asked: PairingRequest, keys: PairingKeys) -> bool:
    """Return whether a device's public key came from who has the code; an older device has none."""
    if asked.key is None:
        return True
    return hmac.compare_digest(keys.seal(asked.key), asked.key_seal or "")


def _refuse_used(one: PendingCode, now: int) -> None:
    if one.taken_at is not None:
        raise PairingSpent(
            f"this code was used, by {one.machine}: if that was none of your devices, tell the organiser"
        )
    if one.state(now) != "open":
        raise PairingOver("this code's time is over, or there is a newer one for its table")
