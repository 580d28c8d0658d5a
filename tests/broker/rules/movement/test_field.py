"""The laws of a field, for all that we have up to 32 elements."""

import pytest

from broker.rules.movement.field import MODULI, field, is_known

SIZES = [size for size in range(2, 33) if is_known(size)]


def test_there_is_a_field_of_every_prime_power_and_of_nothing_else() -> None:
    assert SIZES == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]


@pytest.mark.parametrize("size", [*SIZES, 49, 64])
def test_sums_and_products_but_by_zero_take_each_value_once(size: int) -> None:
    numbers = field(size)
    everything = list(range(size))
    assert all(sorted(row) == everything for row in numbers.plus)
    assert all(sorted(row) == everything for row in numbers.times[1:])
    assert (list(numbers.times[0]), list(numbers.times[1])) == ([0] * size, everything)


@pytest.mark.parametrize("size", [5, *(size for size in MODULI if size < 17)])
def test_products_distribute_over_sums(size: int) -> None:
    f = field(size)
    triples = [(a, b, c) for a in range(size) for b in range(size) for c in range(size)]
    assert [
        t for t in triples if f.times[t[0]][f.plus[t[1]][t[2]]] != f.plus[f.times[t[0]][t[1]]][f.times[t[0]][t[2]]]
    ] == []
