"""The arbiters' PIN: what it may be, and its hash (Argon2id), which is all that is kept of it or sent."""

import hashlib
from typing import Annotated, Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.profiles import RFC_9106_LOW_MEMORY
from msgspec import Meta

SHORTEST: Final = 4
LONGEST: Final = 12

HASH: Final = r"^\$argon2id\$v=19\$m=65536,t=3,p=4\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$(?!\n)"
"""Our own parameters alone: a hash names what memory it takes to look at it, and a table has little."""

MARK: Final = 16
"""Hexadecimal digits: enough to tell one setting of a PIN from another."""

PinMark = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{MARK}}}$(?!\n)")]

PinHash = Annotated[str, Meta(pattern=HASH, description="of the arbiters' PIN, Argon2id")]

_HASHER: Final = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


def is_pin(text: str) -> bool:
    """Say whether this can be a PIN: 4 to 12 of the digits that a keypad has."""
    return SHORTEST <= len(text) <= LONGEST and text.isascii() and text.isdigit()


def hash_of(pin: str) -> str:
    """Give what is kept of a PIN; each time another, of a salt of its own."""
    return _HASHER.hash(pin)


def mark_of(hashed: str) -> str:
    """Give what tells two hashes apart and nothing of either: the salt keeps the PIN from being tried by it."""
    return hashlib.sha256(hashed.encode()).hexdigest()[:MARK]


def opens(hashed: str, pin: str) -> bool:
    """Say whether a hash is of this PIN. Takes a moment: that is the point."""
    try:
        return _HASHER.verify(hashed, pin)
    except (Argon2Error, InvalidHashError):
        return False
