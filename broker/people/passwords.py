"""Passwords: Argon2id by argon2-cffi (RFC 9106, second recommended setting: 64 MiB, three passes).

bcrypt is here too, for the embedded broker's own file; it takes no more than 72 bytes and little memory to attack.
"""

import threading
import unicodedata
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from argon2.profiles import RFC_9106_LOW_MEMORY

from broker.people.errors import WeakPassword

SHORTEST: Final = 12
LONGEST: Final = 200
"""Characters. NIST SP 800-63B asks for length and against rules of composition."""

SETTING: Final = RFC_9106_LOW_MEMORY
_HASHER: Final = PasswordHasher.from_parameters(SETTING)

# One at a time: a hundred people (or one attacker) logging in at once would otherwise take 6 GiB.
_ONE: Final = threading.Lock()


def hashed(password: str, *, name: str) -> str:
    """Hash a new password. Raises WeakPassword."""
    text = _normal(password)
    if not SHORTEST <= len(text) <= LONGEST:
        raise WeakPassword(f"a password has {SHORTEST} to {LONGEST} characters")
    if len(set(text)) < SHORTEST // 3 or text.casefold().strip() == name.casefold():
        raise WeakPassword("this password is guessed at once")
    with _ONE:
        return _HASHER.hash(text)


def is_right(password: str, stored: str | None) -> bool:
    """Say whether a password is the one that was hashed; of nobody's account it takes as long, and is not."""
    with _ONE:
        try:
            _HASHER.verify(stored or _nobody(), _normal(password[: LONGEST + 1]))
        except (VerifyMismatchError, InvalidHashError):
            return False
    return stored is not None


def _normal(password: str) -> str:
    """Give one spelling: keyboards write the same é in two ways."""
    return unicodedata.normalize("NFKC", password)


_NOBODY: list[str] = []


def _nobody() -> str:
    """Give a hash that nobody has the password of."""
    if not _NOBODY:
        _NOBODY.append(_HASHER.hash("a password that nobody has"))
    return _NOBODY[0]
