"""`homologue imp --json`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.broker.calculators.asking import ask, code
from tests.broker.scoring.oracle import imps


@pytest.mark.parametrize(
    ("written", "imp"),
    [
        ('"8.6"', 3),
        ("8.6", 3),
        ('"43/5"', 3),
        ('"8.2"', 2),
        ('"10.4"', 3),
        ('"-6.5"', -2),
        ('"-12"', -3),
        ('"8.5"', 3),
        ("8.5", 3),
        ('"17/2"', 3),
        ('"8.499999999999"', 2),
        ("8.499999999999", 2),
        ('"-8.5"', -3),
        ('"\N{MINUS SIGN}8.5"', -3),
        ('"+8.5"', 3),
        ('" 8.5 "', 3),
        ('"8.50"', 3),
        ('"008.5"', 3),
        ("-9", -3),
        ("0", 0),
        ("-0", 0),
        ('"0/7"', 0),
        ("1.49", 0),
        ("1.5", 1),
        ("399.5", 24),
        ("999999999999", 24),
    ],
)
def test_a_difference_has_its_imps(written: str, imp: int) -> None:
    assert ask("imp", f'{{"difference": {written}}}') == [{"imp": imp}]


@pytest.mark.parametrize(
    ("written", "worth"),
    [
        ("8.200000000000003", 2),  # what floating point makes of 42 - 33.8
        ('"8.444444444444444"', 2),
        ("8.49999999999999999999", 2),  # read as a float this would be 8.5, and worth one more
        ("8.50000000000000000000", 3),
        ("9999999999999", 24),
        ("1e3", 24),
        ('"-8.5e0"', -3),
        ("1" + "0" * 399, 24),
    ],
    ids=lambda part: str(part)[:24],
)
def test_any_number_of_digits_is_read_exactly(written: str, worth: int) -> None:
    assert ask("imp", f'{{"difference": {written}}}') == [{"imp": worth}]


@pytest.mark.parametrize(
    "written",
    [
        '""',
        '"eight"',
        '"8,6"',
        '"8.6 points"',
        '"8."',
        '".5"',
        '"8/0"',
        '"8/-3"',
        '"--8"',
        '"\N{ARABIC-INDIC DIGIT EIGHT}"',
        '"8 6"',
        '"nan"',
        '"inf"',
        '"0x10"',
        '"1_000"',
        "1E400",
        "true",
        "null",
        "[8]",
        "{}",
        '"1e333"',
        "9" * 500,
    ],
)
def test_what_is_no_number_that_can_be_read_exactly_is_refused(written: str) -> None:
    assert code(ask("imp", f'{{"difference": {written}}}')[0]) == "not_a_number"


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"difference": NaN}',
        '{"difference": }',
        '{"difference": "8", "x": 1}',
        '{"difference": "\\ud800"}',
        "8.6",
    ],
)
def test_what_is_no_question_is_malformed(line: str) -> None:
    assert code(ask("imp", line)[0]) == "malformed"


def test_the_profile_is_an_option_and_an_unknown_one_is_an_error_on_each_line() -> None:
    assert ask("imp", {"difference": "8.6"}, options=("--profile", "oedmc-2020")) == [{"imp": 3}]
    answers = ask("imp", {"difference": "8.6"}, {"difference": "1"}, options=("--profile", "none"))
    assert [code(answer) for answer in answers] == ["unknown_profile"] * 2


@given(st.lists(st.tuples(st.integers(-99999, 99999), st.integers(1, 60)), min_size=1, max_size=20))
def test_every_fraction_is_converted_exactly(fractions: list[tuple[int, int]]) -> None:
    asked = [{"difference": f"{over}/{under}"} for over, under in fractions]
    assert ask("imp", *asked) == [{"imp": imps(-over, under, 0)} for over, under in fractions]


@given(st.lists(st.decimals(-500, 500, places=4), min_size=1, max_size=20))
def test_a_decimal_is_the_same_as_text_and_as_a_number(decimals: list[object]) -> None:
    as_text = ask("imp", *(json.dumps({"difference": str(number)}) for number in decimals))
    assert ask("imp", *(f'{{"difference": {number}}}' for number in decimals)) == as_text
    assert all(set(answer) == {"imp"} for answer in as_text)
