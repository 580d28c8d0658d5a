"""The arbiters' PIN: a table knows its hash alone, in files that its own user can read."""

import logging
import re
from pathlib import Path

from broker.contract.arbiter_pin import HASH, LONGEST, SHORTEST, hash_of, is_pin, mark_of, opens
from broker.contract.messages import ArbiterPin
from broker.contract.wire import Refused, decode, encode
from kiosk.errors import BadConfiguration
from kiosk.private import write_private

log = logging.getLogger("homologue.kiosk")


class Pin:
    """One table's PIN; there may be none. What the desk has set goes before what the table was given."""

    def __init__(self, path: Path, told: Path | None = None, event: str = "") -> None:
        """Read its hash, and what the desk of this event told last and is kept in `told`.

        Raises BadConfiguration where the table's own file is there and cannot be used.
        """
        try:
            self._own = path.read_text(encoding="ascii").strip() if path.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"arbiter_pin_file: {error}") from None
        if self._own is not None and not re.search(HASH, self._own):
            raise BadConfiguration(f"arbiter_pin_file: {path} holds no hash; write it with homologue table pin")
        self._keep, self._told = told, _kept(told, event)

    @property
    def _hash(self) -> str | None:
        return self._told.hash if self._told else self._own

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

    def take(self, said: ArbiterPin) -> None:
        """Take another PIN from the desk; an older one, which the wire may bring again, changes nothing.

        It holds at once. Where it cannot be written, it holds until the program ends, and is told again.
        """
        if self._told is not None and said.set_at <= self._told.set_at:
            return
        self._told = said
        try:
            if self._keep is not None:
                write_private(self._keep, encode(said))
        except OSError as error:
            log.warning("the arbiters' PIN cannot be kept: %s", error)


def _kept(path: Path | None, event: str) -> ArbiterPin | None:
    """Give what is kept. What cannot be read is as nothing: the broker has it too."""
    try:
        said = decode(ArbiterPin, path.read_bytes()) if path else None
    except (OSError, Refused):
        return None
    return said if said is not None and said.event == event else None


def write(path: Path, pin: str) -> None:
    """Keep a PIN's hash, readable by its owner alone. Raises BadConfiguration for what is no PIN."""
    if not is_pin(pin):
        raise BadConfiguration(f"a PIN has {SHORTEST} to {LONGEST} digits")
    write_private(path, f"{hash_of(pin)}\n".encode())
