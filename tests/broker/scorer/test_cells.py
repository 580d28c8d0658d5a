"""Cells of CSV files."""

from decimal import Decimal
from fractions import Fraction

import pytest

from broker.scorer.cells import as_csv, decimal


@pytest.mark.parametrize(
    ("number", "written"),
    [(7, 7), ("-7/3", Decimal("-2.333")), (Fraction(169, 5), Decimal("33.800")), ("6/3", 2), (Fraction(0), 0)],
)
def test_a_fraction_is_a_decimal_and_a_whole_number_stays_one(number: int | str | Fraction, written: object) -> None:
    assert (decimal(number), type(decimal(number))) == (written, type(written))


def test_numbers_are_no_formulas_and_texts_that_look_like_one_are_text() -> None:
    assert as_csv(("a", "b", "c", "d"), [(-3, Decimal("-0.500"), "-3", None)]) == "a,b,c,d\r\n-3,-0.500,'-3,\r\n"
