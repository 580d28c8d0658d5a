"""The 136 tiles.

`1m..9m` characters, `1p..9p` dots, `1s..9s` bamboo, `1z..7z` east south west north white green red.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

KINDS: Final[tuple[str, ...]] = tuple(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)) + tuple(
    f"{rank}z" for rank in range(1, 8)
)
"""The 34 faces."""

COPIES: Final = 4

FULL_SET: Final[tuple[str, ...]] = tuple(face for face in KINDS for _ in range(COPIES))
"""All 136 tiles; no flowers or seasons (MIL)."""


RED: Final[Mapping[str, str]] = {"0m": "5m", "0p": "5p", "0s": "5s"}
"""The red fives, and the face that each has where they are not counted (riichi)."""

RED_SET: Final[tuple[str, ...]] = (*RED, *(face for face in KINDS for _ in range(COPIES - (face in RED.values()))))
"""All 136 tiles of a set in which one five of each suit is red."""


FACES: Final = frozenset({*KINDS, *RED})
"""What can be on a tile."""


def is_full_set(faces: Sequence[str]) -> bool:
    """Say whether these are the 136 tiles of a set, in any order; with one red five of each suit, or without."""
    return sorted(faces) in (sorted(FULL_SET), sorted(RED_SET))


def has_red(faces: Iterable[str]) -> bool:
    """Say whether a red five is among these."""
    return not RED.keys().isdisjoint(faces)
