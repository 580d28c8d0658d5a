"""Noise for fuzzing: bytes at random, out of several alphabets, from harmless to spiteful."""

from random import Random
from typing import Final

ALPHABETS: Final = {
    "bytes": bytes(range(256)),
    "text": bytes(range(0x20, 0x7F)) + b"\r\n\t\x02\x03",
    "codes": b"HM10-C89 ]d\r\n",
}
"""Anything; what a scanner could send; only what our codes are made of, which spells plain numbers all the time."""


def noise(alphabet: bytes, length: int, chance: Random) -> bytes:
    """Return so many bytes."""
    return bytes(chance.choices(alphabet, k=length))
