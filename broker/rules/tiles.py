"""The 136 tiles.

`1m..9m` characters, `1p..9p` dots, `1s..9s` bamboo, `1z..7z` east south west north white green red.
"""

from collections.abc import Sequence
from typing import Final

KINDS: Final[tuple[str, ...]] = tuple(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)) + tuple(
    f"{rank}z" for rank in range(1, 8)
)
"""The 34 faces."""

COPIES: Final = 4

FULL_SET: Final[tuple[str, ...]] = tuple(face for face in KINDS for _ in range(COPIES))
"""All 136 tiles; no flowers or seasons (MIL)."""


def is_full_set(faces: Sequence[str]) -> bool:
    """Say whether these are the 136 tiles of a set, in any order."""
    return sorted(faces) == sorted(FULL_SET)
