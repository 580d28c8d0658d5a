"""An arbiter's session at a table: what each of an arbiter's facts names, and how the scorer knows its own.

A session that the scorer or the desk has opened proves itself: a MAC by a key that is derived from the event's binds
event, table, author and what it is good for, so that neither a restart nor a restored copy forgets one. One that an
arbiter has begun while the scorer could not be asked (`given.`) proves nothing: it comes with a sealed PIN.

A PIN on its way from a table to the scorer is sealed to the event's key, so that nobody else can read or try it: X25519
with a key of its own for each PIN, HKDF-SHA256, ChaCha20-Poly1305. The box is bound to event, table, device and
session: elsewhere it opens nothing. It is of the same length whatever the PIN's.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.profiles import RFC_9106_LOW_MEMORY
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from broker.protocol.messages import Command
from broker.protocol.signing import SigningKey
from broker.protocol.types import PIN_MARK_DIGITS

GIVEN: Final = "given"
"""What a session is of whose PIN the scorer is still to judge."""

BY_PIN: Final = "pin"
BY_DESK: Final = "admit"
LASTS_MS: Final = 24 * 3_600_000
"""Longer than a day of play: what was ruled while the network was down may come much later."""

NONCE_DIGITS: Final = 32
"""Hexadecimal digits that tell one session from another."""

MAC_DIGITS: Final = 32


def derive_key(key: SigningKey, purpose: bytes) -> bytes:
    """Return 32 secret bytes of an event's key, others for each purpose."""
    return HKDF(SHA256(), 32, None, b"homologue " + purpose).derive(key.to_bytes())


def begun_session(nonce: str) -> str:
    """Return the session of an arbiter whose PIN could not be judged yet."""
    return f"{GIVEN}.{nonce}"


def is_unproven(session: str) -> bool:
    """Return whether the scorer is still to judge the PIN of a session."""
    return session.startswith(f"{GIVEN}.")


def nonce_of(session: str) -> str:
    """Return what tells a session from others."""
    return session.split(".")[1]


def scope_of(session: str) -> str:
    """Return what a session is good for: `pin` and `admit` for all that is ruled at a table; an order for itself."""
    return session.partition(".")[0]


def until_of(session: str) -> int:
    """Return until when the scorer takes a session, ms since 1970; 0 where it does not say so."""
    parts = session.split(".")
    return int(parts[2]) if len(parts) > 2 else 0  # noqa: PLR2004 - scope and nonce come first


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Opens sessions of one event, and knows them again. It never shows."""

    event: str
    _key: bytes

    @classmethod
    def of_event(cls, event: str, key: SigningKey) -> "SessionKey":
        """Return that of an event with this key."""
        return cls(event, derive_key(key, b"arbiter session"))

    def __repr__(self) -> str:
        """Return no secret."""
        return f"SessionKey({self.event})"

    def open(self, table: int, scope: str, author: str, nonce: str, until: int) -> str:
        """Return a session for one table. `until`: ms since 1970."""
        head = f"{scope}.{nonce}.{until}"
        return f"{head}.{self._mac(head, table, author)}"

    def order(self, table: int, command: Command, author: str, order: str, at: int) -> str:
        """Return the session for one order of the desk, the same each time it is sent. `at`: ms since 1970."""
        nonce = hashlib.sha256(order.encode()).hexdigest()[:NONCE_DIGITS]
        return self.open(table, command, author, nonce, at + LASTS_MS)

    def knows(self, session: str, table: int, author: str) -> bool:
        """Return whether a session was opened for this table and this author."""
        head, _, mac = session.rpartition(".")
        return hmac.compare_digest(self._mac(head, table, author), mac)

    def _mac(self, head: str, table: int, author: str) -> str:
        text = "\n".join((self.event, str(table), head, author))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:MAC_DIGITS]


_ONCE: Final = bytes(12)
"""The nonce: each key seals one PIN alone."""

_PUBLIC: Final = 32
"""Bytes of a public key, with which a box begins."""


@dataclass(frozen=True, slots=True)
class PinPlace:
    """Where a PIN was given."""

    event: str
    table: int
    device: str
    session: str

    def bound(self) -> bytes:
        """Return what a box is bound to."""
        return "\n".join((self.event, str(self.table), self.device, self.session)).encode()


@dataclass(frozen=True, slots=True)
class PinKey:
    """The private key that opens sealed PINs, derived from the event's. It never shows."""

    _key: X25519PrivateKey

    @classmethod
    def of_event(cls, key: SigningKey) -> "PinKey":
        """Return that of an event with this key."""
        return cls(X25519PrivateKey.from_private_bytes(derive_key(key, b"sealed PIN")))

    def __repr__(self) -> str:
        """Return no secret."""
        return f"PinKey({self.public[:8]})"

    @property
    def public(self) -> str:
        """The public key in hex."""
        return self._key.public_key().public_bytes_raw().hex()

    def open(self, sealed: str, place: PinPlace) -> str | None:
        """Return the PIN; None if this is no PIN that was given there."""
        box = bytes.fromhex(sealed)
        try:
            shared = self._key.exchange(X25519PublicKey.from_public_bytes(box[:_PUBLIC]))
            cipher = _cipher(shared, box[:_PUBLIC], self._key.public_key())
            pin = cipher.decrypt(_ONCE, box[_PUBLIC:], place.bound()).decode("ascii").rstrip()
        except (InvalidTag, ValueError):
            return None
        return pin if is_pin(pin) else None


def seal_pin(public: str, pin: str, place: PinPlace) -> str:
    """Return a box in hex that only the event with this public key can open. Raises ValueError for what is no key."""
    theirs, ours = X25519PublicKey.from_public_bytes(bytes.fromhex(public)), X25519PrivateKey.generate()
    mine = ours.public_key().public_bytes_raw()
    cipher = _cipher(ours.exchange(theirs), mine, theirs)
    return (mine + cipher.encrypt(_ONCE, pin.ljust(LONGEST_PIN).encode("ascii"), place.bound())).hex()


def _cipher(shared: bytes, mine: bytes, theirs: X25519PublicKey) -> ChaCha20Poly1305:
    info = b"homologue PIN\n" + mine + theirs.public_bytes_raw()
    return ChaCha20Poly1305(HKDF(SHA256(), 32, None, info).derive(shared))


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
