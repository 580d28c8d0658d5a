"""The arbiters' PIN at one table. The table holds only the key to which a typed PIN is sealed.

Only the scorer can check a PIN. Its last message about the key is stored for a table that starts without a network.
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

PIN_STATE_FILE: Final = "arbiter-pin-told"
"""File beside the journal with the scorer's last message about the arbiters' PIN. It holds nothing of the PIN."""


@dataclass(frozen=True, slots=True)
class SealedTry:
    """A PIN that somebody has typed, sealed for the scorer."""

    session: SessionNonce
    sealed: str = field(repr=False)
    sent: bool
    """Whether the scorer was asked. If not, nobody can say yet whether the PIN is right."""


class TablePin:
    """The table's side of the arbiters' PIN. `send` sends a sealed PIN to the scorer, and returns whether it could."""

    def __init__(self, path: Path, place: tuple[str, int, str], send: Callable[[SessionNonce, str], bool]) -> None:
        """Read the stored message. `place`: event, table and device."""
        self._path, self._place, self._send = path, place, send
        self._state = _read(path, place)

    @classmethod
    def of(cls, settings: KioskSettings, device: str, send: Callable[[SessionNonce, str], bool]) -> Self:
        """Return the PIN of a table, and remove PIN hashes that older programs have left behind."""
        for path in settings.pin_hashes():
            remove_hash(path)
        return cls(settings.folder / PIN_STATE_FILE, (settings.config.event, settings.config.table, device), send)

    @property
    def mark(self) -> PinMark | None:
        """A mark that changes whenever the PIN is set; None if no PIN is set."""
        return self._state.mark if self._state else None

    @property
    def known(self) -> bool:
        """Whether a PIN is set."""
        return self.mark is not None

    def submit(self, pin: str) -> SealedTry:
        """Seal a PIN and ask the scorer about it. The PIN itself is not kept."""
        if self._state is None:
            raise TypeError("a PIN is asked for where one is set")
        event, table, device = self._place
        nonce = secrets.token_hex(arbiter_session.NONCE_DIGITS // 2)
        sealed = arbiter_session.seal_pin(self._state.key, pin, arbiter_session.PinPlace(event, table, device, nonce))
        return SealedTry(nonce, sealed, self._send(nonce, sealed))

    def take(self, message: ArbiterPin) -> None:
        """Accept the scorer's message about the PIN. If it cannot be written, it holds until the program ends."""
        state = replace(message, answer=None, signature=None)
        before, self._state = self._state, state
        if before is not None and (before.key, before.mark) == (state.key, state.mark):
            return
        try:
            write_private(self._path, encode(state))
        except OSError as error:
            log.warning("pin_state_not_kept", why=str(error))


def _read(path: Path, place: tuple[str, int, str]) -> ArbiterPin | None:
    """Return the stored message. An undecodable file is removed, as older programs kept the PIN's hash there."""
    try:
        message = decode(ArbiterPin, path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, Refused):
        remove_hash(path)
        return None
    return message if (message.event, message.table) == place[:2] else None


def remove_hash(path: Path) -> None:
    """Remove a PIN hash left by an older program: with it, whoever has the card could try every PIN."""
    try:
        path.lstat()  # check first: on a read-only card, removing an absent file fails with another error
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("pin_hash_not_removed", path=str(path), why=str(error))
        return
    log.warning("pin_hash_removed", path=str(path))
