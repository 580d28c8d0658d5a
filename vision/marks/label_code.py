"""DataMatrix ECC 200 (ISO/IEC 16022), small squares: codewords to modules, with Reed-Solomon."""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

Codewords = NDArray[np.uint8]  # shape (..., codewords)
Modules = NDArray[np.bool_]  # shape (..., count, count), True is white

CORRECTING = {14: 10, 12: 7, 10: 5}  # Reed-Solomon codewords; the rest of the inside is content
_FIELD = 0x12D  # x^8 + x^5 + x^3 + x^2 + 1
_SHAPE = ((-2, -2), (-2, -1), (-1, -2), (-1, -1), (-1, 0), (0, -2), (0, -1), (0, 0))
"""Where the eight bits of a codeword lie, highest first, from its lowest: (rows, columns)."""


def draw_modules(content: Codewords, count: int) -> Modules:
    """Draw labels of `count` modules with these content codewords, shape (words, content codewords)."""
    codewords = np.concatenate([content, _correcting(content, CORRECTING[count])], axis=1)
    light: Modules = np.unpackbits(~codewords, axis=1).astype(np.bool_)
    white = np.ones((len(content), count, count), dtype=np.bool_)
    white[:, 0, ::2] = white[:, 1::2, -1] = False
    white[:, :, 0] = white[:, -1] = False
    inside: Modules = np.ones((len(content), (count - 2) ** 2), dtype=np.bool_)
    inside[:, _fixed_corner(count - 2)] = False
    inside[:, _places(count - 2).ravel()] = light
    white[:, 1:-1, 1:-1] = inside.reshape(-1, count - 2, count - 2)
    return white


@cache
def _powers() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give the field's powers of 2 and their logarithms (that of 0 is never asked)."""
    power, powers = 1, []
    for _ in range(255):
        powers.append(power)
        power = power << 1 ^ (_FIELD if power & 0x80 else 0)
    logarithms = np.zeros(256, dtype=np.int64)
    logarithms[powers] = np.arange(255)
    return np.array(powers * 2, dtype=np.uint8), logarithms


def _times(codewords: Codewords, factor: int) -> Codewords:
    powers, logarithms = _powers()
    product = powers[logarithms[codewords] + logarithms[factor]]
    return np.where(codewords == 0, np.uint8(0), product)


@cache
def _generator(length: int) -> tuple[int, ...]:
    """Give the coefficients, highest but one first, of (x - 2)(x - 4)...(x - 2^length)."""
    powers, _ = _powers()
    polynomial = np.array([1], dtype=np.uint8)
    for root in powers[1 : length + 1]:
        polynomial = np.append(polynomial, 0) ^ np.append(0, _times(polynomial, int(root)))
    return tuple(int(part) for part in polynomial[1:])


def _correcting(content: Codewords, length: int) -> Codewords:
    """Divide by the generator polynomial; the remainder corrects."""
    rest: Codewords = np.zeros((len(content), length), dtype=np.uint8)
    for column in content.T:
        lead = column ^ rest[:, 0]
        shifted = np.concatenate([rest[:, 1:], np.zeros((len(content), 1), dtype=np.uint8)], axis=1)
        rest = np.bitwise_xor(shifted, np.stack([_times(lead, factor) for factor in _generator(length)], axis=1))
    return rest


def _fixed_corner(size: int) -> list[int]:
    """Give the black two of the four modules, bottom right, that codewords leave over in some squares."""
    return [size * size - 1, size * (size - 1) - 2] if size % 8 == 2 else []  # noqa: PLR2004 - 4 modules over


@cache
def _places(size: int) -> NDArray[np.int64]:
    """Give where each bit of each codeword lies in the inside's modules, shape (codewords, 8)."""
    taken: set[int] = set()
    places = []
    for corner in _walk(size):
        spots = _bits_at(corner, size)
        if spots[-1] not in taken:
            places.append(spots)
            taken.update(spots)
    return np.array(places)


def _walk(size: int) -> Iterator[tuple[int, int]]:
    """Go through the square in the standard's diagonals; (size, 0), below the square, stands for its cut corner."""
    row, col = 4, 0
    while row < size or col < size:
        if (row, col) == (size, 0):
            yield row, col
        while row >= 0 and col < size:
            if row < size and col >= 0:
                yield row, col
            row, col = row - 2, col + 2
        row, col = row + 1, col + 3
        while row < size and col >= 0:
            if row >= 0 and col < size:
                yield row, col
            row, col = row + 2, col - 2
        row, col = row + 3, col + 1


def _bits_at(corner: tuple[int, int], size: int) -> list[int]:
    """Give where the bits of the codeword whose lowest lies at `corner` are; what leaves the square comes in again."""
    row, col = corner
    if corner == (size, 0):
        cut = [(-1, 0), (-1, 1), (-1, 2), (0, -2), (0, -1), (1, -1), (2, -1), (3, -1)]
        return [down % size * size + right % size for down, right in cut]
    return [_wrap(row + down, col + right, size) for down, right in _SHAPE]


def _wrap(row: int, col: int, size: int) -> int:
    shift = 4 - (size + 4) % 8
    if row < 0:
        row, col = row + size, col + shift
    if col < 0:
        row, col = row + shift, col + size
    return row * size + col
