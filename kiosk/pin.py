"""The arbiters' PIN: a table knows its hash alone, in a file that its own user can read."""

import re
from pathlib import Path

from broker.contract.arbiter_pin import HASH, LONGEST, SHORTEST, hash_of, is_pin, mark_of, opens
from kiosk.errors import BadConfiguration
from kiosk.private import write_private


class Pin:
    """One table's PIN; there may be none."""

    def __init__(self, path: Path) -> None:
        """Read its hash. Raises BadConfiguration where the file is there and cannot be used."""
        try:
            self._hash = path.read_text(encoding="ascii").strip() if path.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"arbiter_pin_file: {error}") from None
        if self._hash is not None and not re.search(HASH, self._hash):
            raise BadConfiguration(f"arbiter_pin_file: {path} holds no hash; write it with homologue table pin")

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return self._hash is not None

    @property
    def mark(self) -> str | None:
        """What tells this PIN's setting from another; nothing of the PIN."""
        return self._hash and mark_of(self._hash)

    def right(self, pin: str) -> bool:
        """Say whether this is it. Takes a moment."""
        return self._hash is not None and opens(self._hash, pin)


def write(path: Path, pin: str) -> None:
    """Keep a PIN's hash, readable by its owner alone. Raises BadConfiguration for what is no PIN."""
    if not is_pin(pin):
        raise BadConfiguration(f"a PIN has {SHORTEST} to {LONGEST} digits")
    write_private(path, f"{hash_of(pin)}\n".encode())
