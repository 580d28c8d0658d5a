"""Pairing of a table's device with an event: a single exchange with the desk over HTTP.

The code that somebody carries from the desk to the table never crosses the network. Both ends derive two keys from it,
from the certificate that vouches for the desk (the event authority's, which the device fetches first and from then on
trusts exclusively), and from a salt that the device draws for this one request. The device sends the first key as its
proof, and the desk seals its answer with the second. Each guess costs 19 MB and some time (Argon2id), and a code is
valid for minutes only. Nor can an impostor compute the keys of all 10**8 codes beforehand, as the device chooses the
salt.

What this does not prevent: whoever can compute 10**8 keys within those minutes learns the code from a proof, can use it
at the desk in the device's place, and can seal an answer. The QR code of a desk with TLS contains the beginning of that
certificate's fingerprint, and nothing is sent to a desk that has another one; a typed code has no such protection.
Without TLS an eavesdropper reads the answer, password included.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from argon2.low_level import Type, hash_secret_raw
from msgspec import Meta, Struct

from broker.protocol.types import DESK_PORT, HOST_PATTERN, LAST_PORT, EventName, Hash, PublicKey, TableNo

PATH: Final = "/pairing/take"

AUTHORITY_PATH: Final = "/pairing/authority"
"""Where a desk with TLS serves the certificate (PEM) that vouches for it."""


DIGITS: Final = 8
"""Digits of a code: few enough to be typed on a keypad."""

LARGEST_ANSWER: Final = 65_536
"""Bytes of an answer; an authority's certificates take a few thousand."""

SALT: Final = b"homologue pairing 2 "
KEY: Final = 32
"""Bytes of each of the two keys."""

PASSES, MEMORY_KIB, LANES = 2, 19_456, 1
"""Parameters of Argon2id: OWASP's minimum, because the desk derives the keys of a whole row of tables at once."""

FINGERPRINT_SHOWN: Final = 32
"""Hexadecimal digits of the fingerprint in a QR code: enough that no other certificate can be made to match."""

PAIRING_TEXT: Final = re.compile(
    rf"HMP2 (?P<host>{HOST_PATTERN.partition('|')[0]}|\[[0-9A-Fa-f:]{{2,45}}\])(?::(?P<port>[0-9]{{1,5}}))?"
    rf" (?P<code>[0-9]{{{DIGITS}}})(?: (?P<print>[0-9a-f]{{{FINGERPRINT_SHOWN}}}))?"
)

Machine = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$(?!\n)", description="the machine's own name, for people")
]
Certificates = Annotated[str, Meta(max_length=32_768, pattern=r"^[\x20-\x7e\r\n]*$(?!\n)", description="PEM")]


class PairingRequest(Struct, frozen=True, kw_only=True):
    """A device's request to be paired."""

    schema: Literal[1] = 1
    proof: Hash
    machine: Machine
    salt: Annotated[
        Hash | None,
        Meta(description="drawn by the device for this request; older programs send none, and are refused"),
    ] = None
    key: Annotated[
        Hash | None, Meta(description="the device's public key; null: an older program that signs nothing")
    ] = None
    key_seal: Annotated[
        Hash | None, Meta(description="the code's seal over the key, so that nobody can replace it on the way")
    ] = None


class TableBroker(Struct, frozen=True, kw_only=True):
    """The broker's address and password for tables."""

    host: Annotated[str, Meta(pattern=f"^(?:{HOST_PATTERN})$(?!\\n)")]
    port: Annotated[int, Meta(ge=1, le=LAST_PORT)]
    password: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{16,64}$(?!\n)")]
    ca: Certificates | None = None

    def __repr__(self) -> str:
        """Return the address without the password."""
        return f"TableBroker({self.host}:{self.port})"


class Pairing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings that a device needs to serve a table of an event."""

    schema: Literal[1] = 1
    event: EventName
    table: TableNo
    broker: TableBroker
    event_key: Annotated[PublicKey | None, Meta(description="the event's public key, which signs receipts")] = None
    certificate: Annotated[
        Certificates | None, Meta(description="for the device's own key, issued by the authority `broker.ca`")
    ] = None


class PairingAnswer(Struct, frozen=True, kw_only=True):
    """A `Pairing` as JSON text, and the seal over it."""

    pairing: Annotated[str, Meta(max_length=LARGEST_ANSWER)]
    seal: Hash


@dataclass(frozen=True, slots=True)
class PairingKeys:
    """The two keys derived from a code. The `repr` shows neither."""

    proof: str = field(repr=False)
    sealing: bytes = field(repr=False)

    def seal(self, text: str) -> str:
        """Return the seal over an answer's text."""
        return hmac.new(self.sealing, text.encode(), hashlib.sha256).hexdigest()

    def verifies(self, answer: PairingAnswer) -> bool:
        """Return whether an answer comes from somebody who has the code and is vouched for by this certificate."""
        return hmac.compare_digest(self.seal(answer.pairing), answer.seal)


@dataclass(frozen=True, slots=True)
class PairingOffer:
    """The desk's address and the code, from a QR code or as typed."""

    host: str
    port: int
    code: str = field(repr=False)
    fingerprint: str = ""
    """The beginning of the fingerprint of the certificate that vouches for the desk; empty if it is not known."""


def new_salt() -> str:
    """Draw a salt that makes the keys of one request differ from those of every other."""
    return secrets.token_hex(32)


def derive_keys(code: str, fingerprint: str, salt: str) -> PairingKeys:
    """Derive the keys of a code. Deliberately slow.

    `fingerprint`: SHA-256 in hex of the certificate that vouches for the desk; "" without TLS.
    """
    mixed = hashlib.sha256(SALT + f"{fingerprint} {salt}".encode()).digest()
    both = hash_secret_raw(code.encode(), mixed, PASSES, MEMORY_KIB, LANES, 2 * KEY, Type.ID)
    return PairingKeys(both[:KEY].hex(), both[KEY:])


def new_pairing_code() -> str:
    """Draw a code."""
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"


def pairing_text(offer: PairingOffer) -> str:
    """Return the text of the QR code."""
    host = f"[{offer.host}]" if ":" in offer.host else offer.host
    fingerprint = f" {offer.fingerprint[:FINGERPRINT_SHOWN]}" if offer.fingerprint else ""
    return f"HMP2 {host}:{offer.port} {offer.code}{fingerprint}"


def read_pairing(text: str) -> PairingOffer | None:
    """Parse the text of a QR code; return None if it is not a pairing code."""
    found = PAIRING_TEXT.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"] or DESK_PORT)
    return (
        PairingOffer(found["host"].strip("[]"), port, found["code"], found["print"] or "")
        if 1 <= port <= LAST_PORT
        else None
    )


def read_typed_pairing(address: str, code: str) -> PairingOffer | None:
    """Parse an address and a code as people type them: the port only if it is unusual, spaces anywhere."""
    return read_pairing(f"HMP2 {''.join(address.split())} {''.join(code.split())}")
