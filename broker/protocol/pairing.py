"""How a table's device is paired with an event: what it and the desk say to each other, over HTTP, once.

The code that somebody carries from the desk to the table never crosses the network. Both ends make two keys of it, of
the certificate that vouches for the desk (the event's authority's: the device asks for it first, and then trusts it
alone), and of a salt that the device draws for this one question: the device sends the one key as its proof, and the
desk seals its answer with the other. Each code that is tried costs 19 MB and some time (Argon2id), a code is good for
minutes, and nobody can begin before the device asks: who answers in the desk's place chooses neither the salt nor,
beforehand, a table of the keys of all 10**8 codes.

What this does not keep off: who can make 10**8 keys within those minutes reads the code out of a proof, can bring it to
the desk in the device's place, and can seal an answer. The QR code of a desk with TLS holds the beginning of that
certificate's fingerprint, and nothing is sent to a desk that has another; a typed code does not. Without TLS whoever
listens reads the answer, password and all.
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

ANCHOR_PATH: Final = "/pairing/authority"
"""Where a desk with TLS gives the certificate (PEM) that vouches for it."""


DIGITS: Final = 8
"""Of a code: few enough to be typed on a keypad."""

LARGEST_ANSWER: Final = 65_536
"""Bytes; certificates of an authority are a few thousand."""

SALT: Final = b"homologue pairing 2 "
KEY: Final = 32
"""Bytes of each of the two keys."""

PASSES, MEMORY_KIB, LANES = 2, 19_456, 1
"""Of Argon2id, as OWASP asks at least: the desk makes the keys of a whole row of tables at once."""

FINGERPRINT_SHOWN: Final = 32
"""Hexadecimal digits of a certificate's fingerprint in a QR code: no other certificate can be found that has them."""

NAMED: Final = re.compile(
    rf"HMP2 (?P<host>{HOST_PATTERN.partition('|')[0]}|\[[0-9A-Fa-f:]{{2,45}}\])(?::(?P<port>[0-9]{{1,5}}))?"
    rf" (?P<code>[0-9]{{{DIGITS}}})(?: (?P<print>[0-9a-f]{{{FINGERPRINT_SHOWN}}}))?"
)

Machine = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$(?!\n)", description="the machine's own name, for people")
]
Certificates = Annotated[str, Meta(max_length=32_768, pattern=r"^[\x20-\x7e\r\n]*$(?!\n)", description="PEM")]


class PairingRequest(Struct, frozen=True, kw_only=True):
    """A device asks to be paired."""

    schema: Literal[1] = 1
    proof: Hash
    machine: Machine
    salt: Annotated[
        Hash | None,
        Meta(description="drawn by the device for this question; older programs send none, and are refused"),
    ] = None
    key: Annotated[
        Hash | None, Meta(description="the device's public key; null: an older program that signs nothing")
    ] = None
    key_seal: Annotated[Hash | None, Meta(description="the code's seal over the key: nobody on the way changes it")] = (
        None
    )


class TableBroker(Struct, frozen=True, kw_only=True):
    """The broker as tables reach it."""

    host: Annotated[str, Meta(pattern=f"^(?:{HOST_PATTERN})$(?!\\n)")]
    port: Annotated[int, Meta(ge=1, le=LAST_PORT)]
    password: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{16,64}$(?!\n)")]
    ca: Certificates | None = None

    def __repr__(self) -> str:
        """Return no password."""
        return f"TableBroker({self.host}:{self.port})"


class Pairing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a device needs to serve a table of an event."""

    schema: Literal[1] = 1
    event: EventName
    table: TableNo
    broker: TableBroker
    event_key: Annotated[PublicKey | None, Meta(description="the event's public key, which signs receipts")] = None
    certificate: Annotated[
        Certificates | None, Meta(description="the device's, for its own key, by the authority `broker.ca`")
    ] = None


class PairingAnswer(Struct, frozen=True, kw_only=True):
    """A `Pairing` as JSON text, and the seal over it."""

    pairing: Annotated[str, Meta(max_length=LARGEST_ANSWER)]
    seal: Hash


@dataclass(frozen=True, slots=True)
class PairingKeys:
    """What is made of a code. Neither shows."""

    proof: str = field(repr=False)
    sealing: bytes = field(repr=False)

    def seal(self, text: str) -> str:
        """Return the seal over an answer's text."""
        return hmac.new(self.sealing, text.encode(), hashlib.sha256).hexdigest()

    def opens(self, answer: PairingAnswer) -> bool:
        """Return whether an answer is from who has the code, and is vouched for by this certificate."""
        return hmac.compare_digest(self.seal(answer.pairing), answer.seal)


@dataclass(frozen=True, slots=True)
class PairingOffer:
    """What a QR code tells a device, or somebody has typed: where the desk is, and the code."""

    host: str
    port: int
    code: str = field(repr=False)
    fingerprint: str = ""
    """The beginning of the fingerprint of what vouches for the desk, where it is known."""


def new_salt() -> str:
    """Draw what makes the keys of one question others than those of any question before."""
    return secrets.token_hex(32)


def derive_keys(code: str, fingerprint: str, salt: str) -> PairingKeys:
    """Make the keys of a code. `fingerprint`: SHA-256 in hex of what vouches for the desk; "" without TLS.

    Takes a moment: that is the point.
    """
    mixed = hashlib.sha256(SALT + f"{fingerprint} {salt}".encode()).digest()
    both = hash_secret_raw(code.encode(), mixed, PASSES, MEMORY_KIB, LANES, 2 * KEY, Type.ID)
    return PairingKeys(both[:KEY].hex(), both[KEY:])


def new_pairing_code() -> str:
    """Draw a code."""
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"


def pairing_text(offer: PairingOffer) -> str:
    """Write what a QR code holds."""
    host = f"[{offer.host}]" if ":" in offer.host else offer.host
    seen = f" {offer.fingerprint[:FINGERPRINT_SHOWN]}" if offer.fingerprint else ""
    return f"HMP2 {host}:{offer.port} {offer.code}{seen}"


def read_pairing(text: str) -> PairingOffer | None:
    """Read what a QR code holds; None if it is none of a pairing."""
    found = NAMED.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"] or DESK_PORT)
    return (
        PairingOffer(found["host"].strip("[]"), port, found["code"], found["print"] or "")
        if 1 <= port <= LAST_PORT
        else None
    )


def read_typed_pairing(address: str, code: str) -> PairingOffer | None:
    """Read an address and a code as people type them: a port where it is another than usual, spaces anywhere."""
    return read_pairing(f"HMP2 {''.join(address.split())} {''.join(code.split())}")
