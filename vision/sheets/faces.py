"""The 34 faces of a set, four tiles each, in the order in which a person takes tiles from their box."""

from typing import Final

FACES: Final = tuple(
    f"{rank}{suit}" for suit, last in (("m", 9), ("p", 9), ("s", 9), ("z", 7)) for rank in range(1, last + 1)
)
"""1m..9m characters, 1p..9p dots, 1s..9s bamboo, 1z..7z east south west north white green red."""

OF_EACH: Final = 4
