"""Garbage that must have no effect: random bytes, pieces of frames, frames with a flipped bit, overlong lines."""

import random
from collections.abc import Iterator
from typing import Final

from firmware.box.codec import FRAME_FIELDS, encode_frame

ALPHABET: Final = b"!BHERQANL 0123456789abcdef\n"


def garbage(total: int, seed: int) -> Iterator[bytes]:
    """Yield `total` bytes in pieces. A valid frame among them has a probability of 2**-32."""
    chance = random.Random(seed)
    while total > 0:
        piece = KINDS[chance.randrange(len(KINDS))](chance)[:total]
        total -= len(piece)
        yield piece


def _frame(chance: random.Random) -> bytes:
    kind = chance.choice(sorted(FRAME_FIELDS))
    return encode_frame(kind, *(chance.getrandbits(chance.randint(0, 45)) for _ in range(FRAME_FIELDS[kind])))


def _any(chance: random.Random) -> bytes:
    return chance.randbytes(chance.randint(1, 300))


def _alike(chance: random.Random) -> bytes:
    return bytes(chance.choices(ALPHABET, k=chance.randint(1, 300)))


def _turned(chance: random.Random) -> bytes:
    frame = bytearray(_frame(chance))
    frame[chance.randrange(len(frame) - 1)] ^= 1 << chance.randrange(8)
    return bytes(frame)


def _cut(chance: random.Random) -> bytes:
    frame = _frame(chance)
    return frame[: chance.randrange(len(frame))]


def _endless(chance: random.Random) -> bytes:
    return chance.choice((b"!", b"1", b"\n", b"\0", b"\xff", b"\3")) * chance.randint(1, 3000)


KINDS: Final = (_any, _alike, _turned, _cut, _endless)
