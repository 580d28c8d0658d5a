"""Arithmetic in a finite field of q elements, written 0..q-1, for q a prime or one of 4, 8, 9, 16, 25, 27, 32, 49, 64.

An element of GF(p^n) is a polynomial over GF(p), its coefficients the digits of the number in base p.
"""

from dataclasses import dataclass
from functools import cache
from math import isqrt
from typing import Final

MODULI: Final = {
    4: (2, (1, 1, 1)),
    8: (2, (1, 1, 0, 1)),
    9: (3, (2, 1, 1)),
    16: (2, (1, 1, 0, 0, 1)),
    25: (5, (2, 1, 1)),
    27: (3, (1, 2, 0, 1)),
    32: (2, (1, 0, 1, 0, 0, 1)),
    49: (7, (3, 1, 1)),
    64: (2, (1, 1, 0, 0, 0, 0, 1)),
}
"""For q = p^n the prime p and an irreducible polynomial of degree n, lowest coefficient first (Lidl, Niederreiter)."""


Table = tuple[tuple[int, ...], ...]
"""Of an operation: its value by both elements."""


@dataclass(frozen=True, slots=True)
class Field:
    """The tables of a field."""

    size: int
    plus: Table
    times: Table


def is_known(size: int) -> bool:
    """Say whether there is a field of that size, and we have it."""
    return size in MODULI or (size > 1 and all(size % divisor for divisor in range(2, isqrt(size) + 1)))


@cache
def field(size: int) -> Field:
    """Give the field of a size that `is_known`."""
    prime, modulus = MODULI.get(size, (size, (0, 1)))
    degree = len(modulus) - 1
    elements = [_digits(number, prime, degree) for number in range(size)]
    plus = tuple(
        tuple(_number([(a + b) % prime for a, b in zip(x, y, strict=True)], prime) for y in elements) for x in elements
    )
    times = tuple(tuple(_number(_product(x, y, prime, modulus), prime) for y in elements) for x in elements)
    return Field(size, plus, times)


def _digits(number: int, prime: int, degree: int) -> list[int]:
    return [number // prime**at % prime for at in range(degree)]


def _number(digits: list[int], prime: int) -> int:
    return sum(digit * prime**at for at, digit in enumerate(digits))


def _product(x: list[int], y: list[int], prime: int, modulus: tuple[int, ...]) -> list[int]:
    degree = len(modulus) - 1
    product = [0] * (2 * degree - 1)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            product[i + j] = (product[i + j] + a * b) % prime
    for high in range(len(product) - 1, degree - 1, -1):  # the modulus is monic: subtract its multiples from the top
        lead = product[high]
        for at, coefficient in enumerate(modulus):
            product[high - degree + at] = (product[high - degree + at] - lead * coefficient) % prime
    return product[:degree]
