"""Codes on paper: the QR code of a carrier's sheet, the receipt code of a play, and how codes are typed.

A carrier's code identifies the deal and reveals nothing about it. A receipt code identifies a play and proves what the
four seats confirmed: it is the beginning of a SHA-256 over the confirmed result and the random id (122 bits) that the
table gave it. Hence it cannot be guessed, table and scorer compute the same code without exchanging a message, and a
result that is changed afterwards no longer matches the code on paper: finding another result with the same 80 bits is
infeasible.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

import msgspec

from broker.protocol.facts import Result
from broker.protocol.messages import LogMessage


def receipt_link(address: str, code: str, anchor: str = "") -> str:
    """Return the URL of a play's receipt; empty where no public address is set.

    The anchor is appended as a fragment for whoever keeps the link; it is not sent to the server.
    """
    return f"{address}/receipt/{code}{'#' * bool(anchor)}{anchor}" if address else ""


CARRIER_CODE: Final = re.compile(
    r"(?<![a-z])homologue:deal:(?P<event>[a-z0-9][a-z0-9-]{0,31}):(?P<deal>[1-9][0-9]{0,3})(?![0-9])"
)
"""May occur anywhere in a text, as a scanner may be configured to add a prefix and a suffix."""


@dataclass(frozen=True, slots=True)
class CarrierCode:
    """The event and the deal of a carrier."""

    event: str
    deal: int


def carrier_code_text(sheet: CarrierCode) -> str:
    """Return the text of the QR code."""
    return f"homologue:deal:{sheet.event}:{sheet.deal}"


def read_carrier_code(text: str) -> CarrierCode | None:
    """Parse the text of a QR code; return None if it is not from a carrier's sheet."""
    found = CARRIER_CODE.search(text)
    return CarrierCode(found["event"], int(found["deal"])) if found else None


CODE_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32, which omits letters that look like digits."""

RECEIPT_CHARACTERS: Final = 16
LONGEST_TYPED_CODE: Final = 64
_MISREAD: Final = str.maketrans("OIL", "011", "- \t\r\n")


def confirmed_text(message: LogMessage) -> str:
    """Return the text that is hashed: the result as the four seats confirmed it, as compact JSON with sorted names.

    Every field is named here, so that a new field in a message does not change codes that are already on paper. Raises
    TypeError if the fact is not a result.
    """
    fact = message.fact
    if not isinstance(fact, Result):
        raise TypeError(f"not a result: {message.id}")
    fields = {
        "event": message.event,
        "table": message.table,
        "id": message.id,
        "round": fact.round,
        "deal": fact.deal,
        "profile": fact.profile,
        "players": fact.players,
        "win": fact.win,
        "winners": fact.winners,
        "discarder": fact.discarder,
        "points": fact.points,
        "fines": {seat: fine.imp for seat, fine in fact.fines.items()},
    }
    return msgspec.json.encode(fields, order="sorted").decode()


def receipt_digest(message: LogMessage) -> str:
    """Return the SHA-256 of `confirmed_text`, in hex."""
    return hashlib.sha256(confirmed_text(message).encode()).hexdigest()


def receipt_code(message: LogMessage) -> str:
    """Return the code: the first 80 bits of the digest, in four blocks of four characters."""
    return write_code(int(receipt_digest(message)[: RECEIPT_CHARACTERS * 5 // 4], 16), RECEIPT_CHARACTERS)


def read_receipt_code(typed: str) -> str | None:
    """Return a typed code in its printed form, or None if it is not a code."""
    number = read_code(typed, RECEIPT_CHARACTERS)
    return None if number is None else write_code(number, RECEIPT_CHARACTERS)


def write_code(number: int, count: int) -> str:
    """Return a number as a code of `count` characters, in blocks of four."""
    characters = "".join(CODE_ALPHABET[number >> 5 * at & 31] for at in reversed(range(count)))
    return "-".join(characters[at : at + 4] for at in range(0, count, 4))


def read_code(typed: str, count: int) -> int | None:
    """Parse a typed code: lower case, O for 0, I and L for 1, and missing hyphens are accepted. None: not a code."""
    if len(typed) > LONGEST_TYPED_CODE or not typed.isascii():
        return None
    characters = typed.upper().translate(_MISREAD)
    if len(characters) != count or not set(characters) <= set(CODE_ALPHABET):
        return None
    return sum(CODE_ALPHABET.index(one) << 5 * at for at, one in enumerate(reversed(characters)))
