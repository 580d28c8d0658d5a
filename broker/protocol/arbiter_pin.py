"""The arbiters' PIN: what it may be, and its hash (Argon2id), which is all that is kept of it or sent."""

import hashlib
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.profiles import RFC_9106_LOW_MEMORY

from broker.protocol.types import PIN_MARK_DIGITS

SHORTEST_PIN: Final = 4
LONGEST_PIN: Final = 12


_HASHER: Final = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


def is_pin(text: str) -> bool:
    """Return whether this can be a PIN: 4 to 12 of the digits that a keypad has."""
    return SHORTEST_PIN <= len(text) <= LONGEST_PIN and text.isascii() and text.isdigit()


def hash_pin(pin: str) -> str:
    """Return what is kept of a PIN; each time another, of a salt of its own."""
    return _HASHER.hash(pin)


def pin_mark(hashed: str) -> str:
    """Return what tells two hashes apart and nothing of either: the salt keeps the PIN from being tried by it."""
    return hashlib.sha256(hashed.encode()).hexdigest()[:PIN_MARK_DIGITS]


def pin_matches(hashed: str, pin: str) -> bool:
    """Return whether a hash is of this PIN. Takes a moment: that is the point."""
    try:
        return _HASHER.verify(hashed, pin)
    except (Argon2Error, InvalidHashError):
        return False
