"""A play's code for its players: it names the play, and proves what the four seats confirmed.

The code is the beginning of a SHA-256 over the confirmed result and the random id (122 bits) that the table gave it. So
who has not seen it cannot guess it, table and scorer make the same one without a word between them, and a result that
was changed afterwards no longer fits the code on paper: to find another result with the same 80 bits is out of reach.
"""

import hashlib
from typing import Final

import msgspec

from broker.contract.facts import Result
from broker.contract.messages import LogMessage

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Base 32 as Crockford writes it: no letter that is read as a digit."""

CHARACTERS: Final = 16
LONGEST_TYPED: Final = 64
_MISREAD: Final = str.maketrans("OIL", "011", "- \t\r\n")


def confirmed_text(message: LogMessage) -> str:
    """Give what is hashed: the result as the four seats confirmed it, as JSON with sorted names and no spaces.

    Every field is named here, so that a field more in a message changes no code that is on paper. Raises TypeError
    where the fact is no result.
    """
    fact = message.fact
    if not isinstance(fact, Result):
        raise TypeError(f"not a result: {message.id}")
    said = {
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
    return msgspec.json.encode(said, order="sorted").decode()


def receipt_digest(message: LogMessage) -> str:
    """Give the SHA-256 of `confirmed_text`, in hex."""
    return hashlib.sha256(confirmed_text(message).encode()).hexdigest()


def receipt_code(message: LogMessage) -> str:
    """Give the code: the first 80 bits of the digest, in four blocks of four characters."""
    number = int(receipt_digest(message)[: CHARACTERS * 5 // 4], 16)
    characters = "".join(ALPHABET[number >> 5 * at & 31] for at in reversed(range(CHARACTERS)))
    return "-".join(characters[at : at + 4] for at in range(0, CHARACTERS, 4))


def read_code(typed: str) -> str | None:
    """Read a code as people type it: small letters, O for 0, I and L for 1, with or without hyphens. None: no code."""
    if len(typed) > LONGEST_TYPED or not typed.isascii():
        return None
    characters = typed.upper().translate(_MISREAD)
    if len(characters) != CHARACTERS or not set(characters) <= set(ALPHABET):
        return None
    return "-".join(characters[at : at + 4] for at in range(0, CHARACTERS, 4))
