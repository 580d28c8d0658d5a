"""Codes that pair devices with tables: random, used once, expired after minutes. Times are parameters, in ms.

They are held in memory only: a restarted desk has none, and new ones have to be opened.

For each guess the desk derives a key per open code, one guess at a time. Guessing keeps one processor busy but delays
no page, and while a code is open there is time for some ten thousand keys of 10**8.
"""

import asyncio
import hmac
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from broker.people import login
from broker.protocol.pairing import PairingKeys, PairingRequest, derive_keys, new_pairing_code
from broker.web import auth, errors

LIFETIME_MS: Final = 10 * 60 * 1000
"""Lifetime of a code."""

REMEMBERED_MS: Final = 60 * 60 * 1000
"""How long an expired code is remembered, so that a late device gets the right error."""

MOST_LATE: Final = 24
"""Maximum number of used or expired codes compared with a proof, newest first: each comparison costs a key."""

OF_NETWORK, OF_ALL, OF_FRESH_NETWORK = 10, 200, 3
"""Limits on wrong proofs: per network, for all networks together, and per network once that total is reached. A network
over its limit is blocked for a while."""

MOST_WAITING, MOST_OF_NETWORK = 200, 24
"""Maximum number of devices waiting for a turn: in all, and per network. A row of tables may be paired at once."""

LONGEST_WAIT_S: Final = 6.0
"""Maximum wait in seconds. Devices hang up after 10 s, and must not have used up their code unheard."""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class PendingCode:
    """A code for one table and one device."""

    table: int
    code: str = field(repr=False)
    until: int
    taken_at: int | None = None
    machine: str = ""
    """The machine that used the code."""
    withdrawn: bool = False

    def state(self, now: int) -> str:
        """Return the state of the code: `open`, `taken` or `over`."""
        if self.taken_at is not None:
            return "taken"
        return "over" if self.withdrawn or now >= self.until else "open"

    @property
    def spaced(self) -> str:
        """The code in two blocks, as people read it."""
        half = len(self.code) // 2
        return f"{self.code[:half]} {self.code[half:]}"


class PairingCodes:
    """All codes of one desk. A new code replaces the table's earlier one. May be used from any thread."""

    def __init__(self, fingerprint: str) -> None:
        """`fingerprint` is that of the certificate that vouches for the desk; "" without TLS."""
        self.fingerprint, self._lock = fingerprint, threading.Lock()
        self._turn = threading.Lock()  # one guess at a time: of many at once, all would pass before one is counted
        self._all: list[PendingCode] = []
        self._misses = auth.MissLimiter(OF_NETWORK, in_all=OF_ALL, fresh=OF_FRESH_NETWORK)

    def open(self, table: int, now: int) -> PendingCode:
        """Create a code for a table. An earlier one that is still open expires."""
        made = PendingCode(table, new_pairing_code(), now + LIFETIME_MS)
        with self._lock:
            self._withdraw(table)
            self._all = [one for one in self._all if now < one.until + REMEMBERED_MS] + [made]
        return made

    def withdraw(self, table: int) -> None:
        """Withdraw the table's code."""
        with self._lock:
            self._withdraw(table)

    def newest(self, now: int) -> list[PendingCode]:
        """Return each table's newest code, sorted by table, without those that have expired or were withdrawn."""
        with self._lock:
            of_table = {one.table: one for one in self._all if now < one.until}
        return [one for _, one in sorted(of_table.items()) if not one.withdrawn]

    def check_blocked(self, address: str, now: int) -> None:
        """Raise PairingDelayed if the address is blocked. This check is cheap."""
        if wait := self._misses.wait_ms(address, now):
            raise errors.PairingDelayed(-(-wait // 1000))

    def take(
        self, request: PairingRequest, address: str, now: int, make: Callable[[int], Made]
    ) -> tuple[PendingCode, PairingKeys, Made]:
        """Use up a code and return what `make` returns for its table. If `make` raises, the code remains as it was.

        Raises PairingDelayed, PairingOutdated, PairingUnknown, PairingSpent (already used), PairingOver (expired).
        """
        with self._turn:
            self.check_blocked(address, now)
            if request.salt is None:
                raise errors.PairingOutdated("this device's program is older than the desk's: bring it up to date")
            found = self._matching(request.proof, request.salt, now)
            if found is None or not _has_sealed_key(request, found[1]):
                self._misses.count_miss(address, now)
                raise errors.PairingUnknown(
                    "this desk has issued no such code: check the digits and the desk's address"
                )
            try:
                with self._lock:
                    return self._use(*found, request.machine, now, make)
            except (errors.PairingSpent, errors.PairingOver):
                # Not a guess, but answering it costs the keys of all codes, old ones included.
                self._misses.count_miss(address, now, of_all=False)
                raise

    def _matching(self, proof: str, salt: str, now: int) -> tuple[PendingCode, PairingKeys] | None:
        """Return the code that was proven. Deriving the keys from the device's salt takes its time."""
        with self._lock:
            newest = self._all[::-1]
        waiting = [one for one in newest if one.state(now) == "open"]
        late = [one for one in newest if one.state(now) != "open"][:MOST_LATE]
        tried = ((one, derive_keys(one.code, self.fingerprint, salt)) for one in waiting + late)
        return next(((one, keys) for one, keys in tried if hmac.compare_digest(keys.proof, proof)), None)

    def _use(
        self, meant: PendingCode, keys: PairingKeys, machine: str, now: int, make: Callable[[int], Made]
    ) -> tuple[PendingCode, PairingKeys, Made]:
        # It may have been withdrawn while its keys were derived.
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


class PairingTurns:
    """Gives devices turns one at a time, alternating between networks, so that none can keep another waiting long.

    For the coroutines of one event loop.
    """

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._of: dict[str, asyncio.Lock] = {}
        self._waiting: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait for an address's turn, which lasts until the context exits. Raises PairingBusy."""
        network = login.network_of(address)
        if self._waiting[network] >= MOST_OF_NETWORK or self._waiting.total() >= MOST_WAITING:
            raise errors.PairingBusy("too many devices are asking at once")
        self._waiting[network] += 1
        # Both locks are fair, and a network has at most one waiter for the second, so networks alternate.
        of_network = self._of.setdefault(network, asyncio.Lock())
        try:
            async with AsyncExitStack() as held:
                try:
                    async with asyncio.timeout(LONGEST_WAIT_S):
                        await held.enter_async_context(of_network)
                        await held.enter_async_context(self._one)
                except TimeoutError:
                    raise errors.PairingBusy("too many devices are asking at once") from None
                yield
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network], self._of[network]


REPEAT_WINDOW_MS: Final = 60 * 60 * 1000
LOGGED_EACH: Final = 8
"""Events of one kind per hour that are logged individually."""


class RepeatFilter:
    """Counts events by kind to limit log entries. Kinds are few: the codes of refusals."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def count(self, kind: str, now: int) -> int:
        """Count an event. Return the number in this hour if it should be logged, else 0."""
        since, before = self._counts.get(kind, (now, 0))
        if not 0 <= now - since < REPEAT_WINDOW_MS:
            since, before = now, 0
        count = before + 1
        self._counts[kind] = since, count
        return count if count <= LOGGED_EACH or count & (count - 1) == 0 else 0


def _has_sealed_key(request: PairingRequest, keys: PairingKeys) -> bool:
    """Return whether the device's public key was sealed by the holder of the code. Older devices have no key."""
    if request.key is None:
        return True
    return hmac.compare_digest(keys.seal(request.key), request.key_seal or "")


def _refuse_used(one: PendingCode, now: int) -> None:
    if one.taken_at is not None:
        raise errors.PairingSpent(
            f"this code was used, by {one.machine}: if that was none of your devices, tell the organiser"
        )
    if one.state(now) != "open":
        raise errors.PairingOver("this code has expired, or there is a newer one for its table")
