"""The arbiters' PIN at one table: nothing of it is here but the key to which what is typed is sealed.

The scorer alone judges a PIN. What it has said of the key is kept for a table that starts without a network.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from msgspec.structs import replace

from broker.files import write_private
from broker.logs import get_logger
from broker.protocol import ArbiterPin, PinMark, Refused, SessionNonce, arbiter_session, decode, encode
from kiosk.config import KioskSettings

log = get_logger("homologue.kiosk")

PIN_TOLD_FILE: Final = "arbiter-pin-told"
"""Beside the journal: what the scorer has said of the arbiters' PIN; nothing of it."""


@dataclass(frozen=True, slots=True)
class SealedTry:
    """A PIN that somebody has typed."""

    session: SessionNonce
    sealed: str = field(repr=False)
    asked: bool
    """Whether the scorer was asked; else nobody can say yet whether it is right."""


class TablePin:
    """What a table knows of the arbiters' PIN. `ask` asks the scorer, and returns whether it can be asked now."""

    def __init__(self, kept: Path, place: tuple[str, int, str], ask: Callable[[SessionNonce, str], bool]) -> None:
        """Read what was kept. `place`: event, table and device."""
        self._kept, self._place, self._ask = kept, place, ask
        self._said = _read(kept, place)

    @classmethod
    def of(cls, settings: KioskSettings, device: str, ask: Callable[[SessionNonce, str], bool]) -> Self:
        """Return what is known at a table; hashes of the PIN that older programs have left go."""
        for left in settings.pin_hashes():
            remove_hash(left)
        return cls(settings.folder / PIN_TOLD_FILE, (settings.config.event, settings.config.table, device), ask)

    @property
    def mark(self) -> PinMark | None:
        """What tells one setting of the PIN from another; None if there is none."""
        return self._said.mark if self._said else None

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return self.mark is not None

    def give(self, pin: str) -> SealedTry:
        """Seal a PIN, forget it, and ask the scorer."""
        if self._said is None:
            raise TypeError("a PIN is asked for where one is set")
        event, table, device = self._place
        nonce = secrets.token_hex(arbiter_session.NONCE_DIGITS // 2)
        sealed = arbiter_session.seal_pin(self._said.key, pin, arbiter_session.PinPlace(event, table, device, nonce))
        return SealedTry(nonce, sealed, self._ask(nonce, sealed))

    def take(self, said: ArbiterPin) -> None:
        """Take in what the scorer says. Where it cannot be written it holds until the program ends."""
        kept = replace(said, answer=None, signature=None)
        before, self._said = self._said, kept
        if before is not None and (before.key, before.mark) == (kept.key, kept.mark):
            return
        try:
            write_private(self._kept, encode(kept))
        except OSError as error:
            log.warning("pin_state_not_kept", why=str(error))


def _read(path: Path, place: tuple[str, int, str]) -> ArbiterPin | None:
    """Return what is kept. What cannot be read is removed: older programs kept the PIN's hash there."""
    try:
        said = decode(ArbiterPin, path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, Refused):
        remove_hash(path)
        return None
    return said if (said.event, said.table) == place[:2] else None


def remove_hash(path: Path) -> None:
    """Remove a PIN's hash that an older program has left: it would let whoever has the card try all PINs."""
    try:
        path.lstat()  # asked first: where nothing can be written, removing what is absent fails as well, otherwise
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("pin_hash_not_removed", path=str(path), why=str(error))
        return
    log.warning("pin_hash_removed", path=str(path))
