"""How many tries at logging in are heard. Pure: times are given, in ms.

Failures count three ways: of one name from one address (a person who mistypes), of one address (one who tries names),
and of one name from anywhere (many who try it). The last limit is high, or anybody could keep the arbiter out.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

WINDOW_MS: Final = 15 * 60 * 1000
MOST_KEPT: Final = 10_000
"""Keys; the oldest goes first, so that an attacker with many names fills no memory."""

OF_BOTH, OF_ADDRESS, OF_NAME = 5, 30, 60
"""Failures in a window after which no more tries are heard."""

Key = tuple[str | None, str | None]
"""Name and address; None: any."""


class Throttle:
    """Counts failures within a window that slides."""

    def __init__(self) -> None:
        self._failures: OrderedDict[Key, list[int]] = OrderedDict()

    def wait_ms(self, name: str, address: str, now: int) -> int:
        """Say how long from `now` no try of this name from this address is heard; 0: it is heard."""
        return max((self._wait(key, limit, now) for key, limit in _keys(name, address)), default=0)

    def failed(self, name: str, address: str, now: int) -> None:
        """Count a try. To be said before the password is looked at: many tries at once are as many."""
        for key, limit in _keys(name, address):
            kept = self._failures.pop(key, [])
            self._failures[key] = [*kept, now][-limit:]
        while len(self._failures) > MOST_KEPT:
            self._failures.popitem(last=False)

    def succeeded(self, name: str, address: str) -> None:
        """Forget the failures of a name from an address: it was its owner. Those of others stay."""
        self._failures.pop((name, address), None)
        for key in ((name, None), (None, address)):
            if kept := self._failures.get(key):
                kept.pop()

    def _wait(self, key: Key, limit: int, now: int) -> int:
        # A clock that was put back keeps nobody out: what lies ahead of now does not count.
        recent = [at for at in self._failures.get(key, ()) if 0 <= now - at < WINDOW_MS]
        return recent[-limit] + WINDOW_MS - now if len(recent) >= limit else 0


def _keys(name: str, address: str) -> Iterator[tuple[Key, int]]:
    yield (name, address), OF_BOTH
    yield (None, address), OF_ADDRESS
    yield (name, None), OF_NAME
