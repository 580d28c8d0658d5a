"""Noise for fuzzing: random bytes from several alphabets."""

from random import Random
from typing import Final

ALPHABETS: Final = {
    "bytes": bytes(range(256)),
    "text": bytes(range(0x20, 0x7F)) + b"\r\n\t\x02\x03",
    "codes": b"HM10-C89 ]d\r\n",
}
"""Any bytes; characters that a scanner could send; only characters of our codes, which often spell plain numbers."""


def noise(alphabet: bytes, length: int, chance: Random) -> bytes:
    """Return `length` random bytes of an alphabet."""
    return bytes(chance.choices(alphabet, k=length))
