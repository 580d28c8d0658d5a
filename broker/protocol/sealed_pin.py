"""A PIN on its way from a table to the scorer: sealed to the event's key, so that nobody else can read or try it.

X25519 with a key of its own for each PIN, HKDF-SHA256, ChaCha20-Poly1305. The box is bound to event, table, device and
session: elsewhere it opens nothing. It is of the same length whatever the PIN's.
"""

from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from broker.protocol.arbiter_pin import LONGEST_PIN, is_pin
from broker.protocol.arbiter_session import derive_key
from broker.protocol.signing import SigningKey

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
        """Return the PIN; None where this is no PIN that was given there."""
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
