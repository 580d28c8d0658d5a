"""The arbiters' PIN: a table knows its hash alone (Argon2id), in a file that its own user can read."""

import logging
from pathlib import Path
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.profiles import RFC_9106_LOW_MEMORY

from kiosk.entry import DIGITS
from kiosk.errors import BadConfiguration
from kiosk.private import write_private

log = logging.getLogger("homologue.kiosk")

SHORTEST: Final = 4
LONGEST: Final = 12

_HASHER: Final = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


class Pin:
    """One table's PIN; there may be none."""

    def __init__(self, path: Path) -> None:
        """Read its hash. Raises BadConfiguration where the file is there and cannot be used."""
        try:
            self._hash = path.read_text(encoding="ascii").strip() if path.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"arbiter_pin_file: {error}") from None
        if self._hash is not None and not self._hash.startswith("$argon2id$"):
            raise BadConfiguration(f"arbiter_pin_file: {path} holds no hash; write it with homologue table pin")

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return self._hash is not None

    def right(self, pin: str) -> bool:
        """Say whether this is it. Takes a moment: that is the point."""
        try:
            return self._hash is not None and _HASHER.verify(self._hash, pin)
        except (Argon2Error, InvalidHashError):
            return False


def write(path: Path, pin: str) -> None:
    """Keep a PIN's hash, readable by its owner alone. Raises BadConfiguration for what is no PIN."""
    if not SHORTEST <= len(pin) <= LONGEST or not set(pin) <= DIGITS:
        raise BadConfiguration(f"a PIN has {SHORTEST} to {LONGEST} digits")
    write_private(path, f"{_HASHER.hash(pin)}\n".encode())
