"""What a bad line does to bytes: loses some, adds some, changes some, delays them, puts them out of order."""

import random
from dataclasses import dataclass
from typing import Final

MS: Final = 1_000_000
"""Nanoseconds."""

LATE_MS: Final = (5, 40)
"""By how much a piece is late that others overtake."""


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with a line. Chances are so many in a thousand."""

    delay_ms: int = 0
    """Each piece takes up to so long."""

    lost: int = 0
    """Of bytes."""

    garbled: int = 0
    """Of bytes: they become others."""

    garbage: int = 0
    """Of pieces: something else comes before them."""

    reordered: int = 0
    """Of pieces: later ones overtake them."""


class Noise:
    """One direction of a line."""

    def __init__(self, faults: Faults, seed: int) -> None:
        self._faults, self._random = faults, random.Random(seed)  # noqa: S311 - a twin's bad luck, no secret
        self._latest = 0

    def carry(self, piece: bytes, now: int) -> list[tuple[int, bytes]]:
        """Give what arrives of a piece, and when, in ns."""
        faults = self._faults
        arrived = bytes(self._garble(byte) for byte in piece if not self._happens(faults.lost))
        if self._happens(faults.garbage):
            arrived = self._random.randbytes(self._random.randint(1, 60)) + arrived
        at = max(self._latest, now + self._random.randint(0, faults.delay_ms * MS))
        if self._happens(faults.reordered):
            return [(at + self._random.randint(*LATE_MS) * MS, arrived)]
        self._latest = at
        return [(at, arrived)]

    def _garble(self, byte: int) -> int:
        return self._random.randrange(256) if self._happens(self._faults.garbled) else byte

    def _happens(self, chance: int) -> bool:
        return chance > 0 and self._random.randrange(1000) < chance
