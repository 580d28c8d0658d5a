"""How often an address may ask for what is not there. Pure: times are given, in ms."""

from collections import OrderedDict
from typing import Final

WINDOW_MS: Final = 15 * 60 * 1000
MOST: Final = 40
"""Misses of one address in a window, of receipts. Their 80 bits keep codes safe: this spares the machine."""
MOST_KEPT: Final = 10_000


class Misses:
    """Counts misses within a window that slides."""

    def __init__(self, most: int = MOST) -> None:
        """Hear no more of an address after `most` misses."""
        self._most = most
        self._of: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def wait_ms(self, address: str, now: int) -> int:
        """Say how long from `now` nothing more is looked up for an address; 0: it is."""
        recent = [at for at in self._of.get(address, ()) if 0 <= now - at < WINDOW_MS]
        return recent[-self._most] + WINDOW_MS - now if len(recent) >= self._most else 0

    def missed(self, address: str, now: int) -> None:
        """Count a miss."""
        self._of[address] = (*self._of.pop(address, ()), now)[-self._most :]
        while len(self._of) > MOST_KEPT:
            self._of.popitem(last=False)
