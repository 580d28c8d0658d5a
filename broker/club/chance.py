"""Where chance comes from. Nothing in this room draws it by itself."""

from collections.abc import Callable
from typing import Protocol


class Chance(Protocol):
    """Numbers by chance: `random.Random(seed)`."""

    def random(self) -> float:
        """Give a number from 0 up to 1."""


NewChance = Callable[[str], Chance]
"""Gives the same numbers each time for the same words: `random.Random`."""
