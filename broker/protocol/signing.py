"""Keys and signatures (Ed25519, RFC 8032), and the hash chain of a table's facts.

A signature covers the exact bytes that precede it in a message's JSON, so a reader that skips unknown fields still
verifies what was signed. Therefore `signature` is the last field of a message; only `sender`, which is not stored, may
follow it. Every fact carries the hash of the fact before it at its table.

Private keys are 32 bytes in hex, in a file that only its owner can read, created when absent.
"""

import fcntl
import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Self, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from msgspec.structs import replace

from broker.errors import EventKeyBroken
from broker.files import write_private
from broker.protocol.halls import CentreState, HallReceipt
from broker.protocol.messages import ArbiterPin, LogMessage, PinGiven, Receipt
from broker.protocol.topics import encode

Signed = TypeVar("Signed", LogMessage, Receipt, ArbiterPin, PinGiven, HallReceipt, CentreState)

DEVICE_ID_DIGITS: Final = 32
"""Hexadecimal digits of a device's id, which is the beginning of the hash of its public key."""

_SIGNATURE: Final = b',"signature":'
_SENDER: Final = b',"sender":'


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The private key of a device or an event. Its `repr` shows no secret."""

    _key: Ed25519PrivateKey

    @classmethod
    def new(cls) -> Self:
        """Generate a key."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Return the key with these 32 bytes. Raises ValueError."""
        return cls(Ed25519PrivateKey.from_private_bytes(raw))

    def __repr__(self) -> str:
        """Return the beginning of the public key."""
        return f"SigningKey({self.public[:8]})"

    def to_bytes(self) -> bytes:
        """Return the 32 secret bytes, for a file that only its owner can read."""
        return self._key.private_bytes_raw()

    def to_pem(self) -> bytes:
        """Return the private key in PKCS 8, for TLS programs."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def public(self) -> str:
        """The public key in hex."""
        return self._key.public_key().public_bytes_raw().hex()

    @property
    def device(self) -> str:
        """The id of the device that has this key."""
        return device_of(self.public)

    def sign(self, message: Signed) -> Signed:
        """Return a message with this key's signature."""
        return replace(message, signature=self.sign_bytes(signed_part(encode(message))))

    def sign_bytes(self, content: bytes) -> str:
        """Return the signature of bytes that are not a message. They must state their purpose, to prevent reuse."""
        return self._key.sign(content).hex()


def device_of(public: str) -> str:
    """Return the id of the device with a public key. No other key has the same id."""
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:DEVICE_ID_DIGITS]


def is_signed_by(public: str, payload: bytes, signature: str | None) -> bool:
    """Return whether a message's JSON ends with this signature and a key has signed everything before it.

    The `sender` is ignored.
    """
    signed, name, rest = stored_form(payload).rpartition(_SIGNATURE)
    whole = bool(name) and rest == b'"%b"}' % (signature or "").encode()
    return whole and has_signed(public, signed, signature or "")


def has_signed(public: str, content: bytes, signature: str) -> bool:
    """Return whether a key has signed exactly these bytes."""
    try:
        _public_key(public).verify(bytes.fromhex(signature), content)
    except (InvalidSignature, ValueError):
        return False
    return True


@lru_cache(maxsize=4096)
def _public_key(public: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))


def signed_part(payload: bytes) -> bytes:
    """Return the bytes before the signature. The search is safe: in a JSON string the quotes would be escaped."""
    return payload.rpartition(_SIGNATURE)[0] or payload


def stored_form(payload: bytes) -> bytes:
    """Return a fact's JSON in the form that is stored and hashed, without its `sender`.

    Only a `sender` after the signature is removed. An earlier one belongs to the fact, for example a player with that
    id.
    """
    before, found, behind = payload.rpartition(_SENDER)
    return before + b"}" if found and _SIGNATURE not in behind else payload


def with_sender(body: bytes, device: str) -> bytes:
    """Return a fact's stored JSON with the sending device added."""
    return b'%b%b"%b"}' % (body.removesuffix(b"}"), _SENDER, device.encode())


def is_same_fact(one: LogMessage, other: LogMessage) -> bool:
    """Return whether two messages report the same fact and number. Signatures and predecessors may differ."""
    return (one.id, one.table, one.seq, one.at, one.fact) == (other.id, other.table, other.seq, other.at, other.fact)


def fact_hash(payload: bytes) -> str:
    """Return the hash of a fact, from its JSON as received or as stored. The table's next fact refers to it."""
    return hashlib.sha256(stored_form(payload)).hexdigest()


EVENT_KEY_FILE: Final = "event.key"
"""File in an event's folder. Its key signs receipts, and paired tables accept no other key's."""


def open_key(path: Path) -> SigningKey:
    """Return the key in a file, creating it if absent. Raises OSError, or ValueError if the file contains no key."""
    if not path.exists():
        _make(path)
    return SigningKey.from_bytes(bytes.fromhex(path.read_text(encoding="ascii").strip()))


def open_event_key(folder: Path) -> SigningKey:
    """Return the key of the event in a folder, creating it if absent. Raises EventKeyBroken."""
    try:
        return open_key(folder / EVENT_KEY_FILE)
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or "it holds no key"
        raise EventKeyBroken(f"{folder / EVENT_KEY_FILE}: {text}; put it back from a copy of the event") from None


def _make(path: Path) -> None:
    """Write a new key, unless another process has already written one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not path.exists():
            write_private(path, SigningKey.new().to_bytes().hex().encode() + b"\n")
    finally:
        os.close(folder)
