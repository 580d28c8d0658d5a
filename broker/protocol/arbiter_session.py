"""Sessions of arbiters at a table: the token that each of an arbiter's facts carries, and how the scorer verifies it.

A session opened by the scorer or the desk proves itself. Its MAC, made with a key derived from the event's key, covers
the event, the table, the author and the session's scope, so sessions survive a restart and a restored backup. A session
that an arbiter began while the scorer could not be reached (`given.`) proves nothing: it comes with a sealed PIN.

A PIN on its way from a table to the scorer is sealed to the event's key, so that nobody else can read it or try PINs
against it: X25519 with a fresh key for each PIN, HKDF-SHA256, ChaCha20-Poly1305. The sealed box is bound to the event,
table, device and session, and cannot be opened for any other. Its length does not depend on the length of the PIN.
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

UNPROVEN_SCOPE: Final = "given"
"""The scope of a session whose PIN the scorer has not checked yet."""

BY_PIN: Final = "pin"
BY_DESK: Final = "admit"
SESSION_LIFETIME_MS: Final = 24 * 3_600_000
"""How long a session is valid. Longer than a day of play, as rulings made while the network was down may arrive much
later."""

NONCE_DIGITS: Final = 32
"""Hexadecimal digits of the nonce that makes a session unique."""

MAC_DIGITS: Final = 32


def derive_key(key: SigningKey, purpose: bytes) -> bytes:
    """Derive a 32-byte secret from an event's key, a different one for each purpose."""
    return HKDF(SHA256(), 32, None, b"homologue " + purpose).derive(key.to_bytes())


def unproven_session(nonce: str) -> str:
    """Return the session of an arbiter whose PIN could not be checked yet."""
    return f"{UNPROVEN_SCOPE}.{nonce}"


def is_unproven(session: str) -> bool:
    """Return whether the scorer still has to check the PIN of a session."""
    return session.startswith(f"{UNPROVEN_SCOPE}.")


def nonce_of(session: str) -> str:
    """Return the nonce of a session."""
    return session.split(".")[1]


def scope_of(session: str) -> str:
    """Return the scope of a session: `pin` and `admit` cover all rulings at a table, an order covers only itself."""
    return session.partition(".")[0]


def expiry_of(session: str) -> int:
    """Return when a session expires, in ms since 1970; 0 if it does not say."""
    parts = session.split(".")
    return int(parts[2]) if len(parts) > 2 else 0  # noqa: PLR2004 - scope and nonce come first


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The key with which sessions of one event are opened and verified. Its `repr` shows no secret."""

    event: str
    _key: bytes

    @classmethod
    def of_event(cls, event: str, key: SigningKey) -> "SessionKey":
        """Derive the session key of an event from its signing key."""
        return cls(event, derive_key(key, b"arbiter session"))

    def __repr__(self) -> str:
        """Return the event's name without the secret."""
        return f"SessionKey({self.event})"

    def open(self, table: int, scope: str, author: str, nonce: str, until: int) -> str:
        """Return a session for one table that expires at `until` (ms since 1970)."""
        head = f"{scope}.{nonce}.{until}"
        return f"{head}.{self._mac(head, table, author)}"

    def order(self, table: int, command: Command, author: str, order: str, at: int) -> str:
        """Return the session for one order of the desk, identical for each resend. `at`: ms since 1970."""
        nonce = hashlib.sha256(order.encode()).hexdigest()[:NONCE_DIGITS]
        return self.open(table, command, author, nonce, at + SESSION_LIFETIME_MS)

    def verifies(self, session: str, table: int, author: str) -> bool:
        """Return whether a session was opened for this table and this author."""
        head, _, mac = session.rpartition(".")
        return hmac.compare_digest(self._mac(head, table, author), mac)

    def _mac(self, head: str, table: int, author: str) -> str:
        text = "\n".join((self.event, str(table), head, author))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:MAC_DIGITS]


_NONCE: Final = bytes(12)
"""The cipher's nonce. It is constant because each key seals only one PIN."""

_PUBLIC_KEY_BYTES: Final = 32
"""Bytes of the public key at the start of a sealed box."""


@dataclass(frozen=True, slots=True)
class PinPlace:
    """Where a PIN was typed: the event, table, device and session to which its sealed box is bound."""

    event: str
    table: int
    device: str
    session: str

    def associated_data(self) -> bytes:
        """Return the associated data of a sealed box."""
        return "\n".join((self.event, str(self.table), self.device, self.session)).encode()


@dataclass(frozen=True, slots=True)
class PinKey:
    """The private key that opens sealed PINs, derived from the event's key. Its `repr` shows no secret."""

    _key: X25519PrivateKey

    @classmethod
    def of_event(cls, key: SigningKey) -> "PinKey":
        """Derive the PIN key of an event from its signing key."""
        return cls(X25519PrivateKey.from_private_bytes(derive_key(key, b"sealed PIN")))

    def __repr__(self) -> str:
        """Return the beginning of the public key."""
        return f"PinKey({self.public[:8]})"

    @property
    def public(self) -> str:
        """The public key in hex."""
        return self._key.public_key().public_bytes_raw().hex()

    def open(self, sealed: str, place: PinPlace) -> str | None:
        """Return the PIN, or None if the box holds no PIN that was typed at this place."""
        box = bytes.fromhex(sealed)
        try:
            shared = self._key.exchange(X25519PublicKey.from_public_bytes(box[:_PUBLIC_KEY_BYTES]))
            cipher = _cipher(shared, box[:_PUBLIC_KEY_BYTES], self._key.public_key())
            pin = cipher.decrypt(_NONCE, box[_PUBLIC_KEY_BYTES:], place.associated_data()).decode("ascii").rstrip()
        except (InvalidTag, ValueError):
            return None
        return pin if is_pin(pin) else None


def seal_pin(public: str, pin: str, place: PinPlace) -> str:
    """Return a PIN, sealed so that only the event with this public key can read it, in hex.

    Raises ValueError if the key is invalid.
    """
    theirs, ours = X25519PublicKey.from_public_bytes(bytes.fromhex(public)), X25519PrivateKey.generate()
    mine = ours.public_key().public_bytes_raw()
    cipher = _cipher(ours.exchange(theirs), mine, theirs)
    return (mine + cipher.encrypt(_NONCE, pin.ljust(LONGEST_PIN).encode("ascii"), place.associated_data())).hex()


def _cipher(shared: bytes, mine: bytes, theirs: X25519PublicKey) -> ChaCha20Poly1305:
    info = b"homologue PIN\n" + mine + theirs.public_bytes_raw()
    return ChaCha20Poly1305(HKDF(SHA256(), 32, None, info).derive(shared))


SHORTEST_PIN: Final = 4
LONGEST_PIN: Final = 12


_HASHER: Final = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


def is_pin(text: str) -> bool:
    """Return whether a text can be a PIN: 4 to 12 ASCII digits."""
    return SHORTEST_PIN <= len(text) <= LONGEST_PIN and text.isascii() and text.isdigit()


def hash_pin(pin: str) -> str:
    """Return the Argon2id hash of a PIN for storage. Each call uses a new salt."""
    return _HASHER.hash(pin)


def pin_mark(hashed: str) -> str:
    """Return a short mark that tells hashes apart. As hashes are salted, no PIN can be tried against it."""
    return hashlib.sha256(hashed.encode()).hexdigest()[:PIN_MARK_DIGITS]


def pin_matches(hashed: str, pin: str) -> bool:
    """Return whether a hash belongs to this PIN. Deliberately slow."""
    try:
        return _HASHER.verify(hashed, pin)
    except (Argon2Error, InvalidHashError):
        return False
