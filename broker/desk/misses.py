"""How often an address may ask for what is not there. Pure: times are given, in ms."""

from collections import OrderedDict
from typing import Final

WINDOW_MS: Final = 15 * 60 * 1000
MOST: Final = 40
"""Misses of one address in a window. Codes have 80 bits: this spares the machine, their length keeps them safe."""
MOST_KEPT: Final = 10_000


class Misses:
    """Counts misses within a window that slides."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def wait_ms(self, address: str, now: int) -> int:
        """Say how long from `now` nothing more is looked up for an address; 0: it is."""
        recent = [at for at in self._of.get(address, ()) if 0 <= now - at < WINDOW_MS]
        return recent[-MOST] + WINDOW_MS - now if len(recent) >= MOST else 0

    def missed(self, address: str, now: int) -> None:
        """Count a miss."""
        self._of[address] = (*self._of.pop(address, ()), now)[-MOST:]
        while len(self._of) > MOST_KEPT:
            self._of.popitem(last=False)
