"""All cases of a test as one item: each is run, and each that fails is named."""

import pytest

from tests.cases import cases_of, one_after_the_other

NUMBERS = range(5)


def test_every_case_runs_and_failing_ones_are_named() -> None:
    ran = []

    @pytest.mark.parametrize("number", NUMBERS, ids=str)
    def is_even(number: int) -> None:
        ran.append(number)
        assert number % 2 == 0

    with pytest.raises(ExceptionGroup) as failed:
        one_after_the_other(is_even, cases_of(is_even))()
    assert ran == [*NUMBERS]
    assert [failure.__notes__ for failure in failed.value.exceptions] == [
        [f"with {{'number': {number}}}"] for number in NUMBERS if number % 2
    ]


def test_each_row_of_each_table_is_a_case() -> None:
    @pytest.mark.parametrize("language", ["en", "fr", "zh"])
    @pytest.mark.parametrize(("number", "name"), [(1, "one"), pytest.param(2, "two", id="second")])
    def named(number: int, name: str, language: str) -> None: ...

    cases = [{"language": language, "number": 1, "name": "one"} for language in ("en", "fr", "zh")]
    assert [case for case in cases_of(named) if case["number"] == 1] == cases
    assert len(cases_of(named)) == 6


def test_slow_tests_and_those_with_fixtures_or_marked_cases_stay_separate() -> None:
    def with_fixture(number: int, tmp_path: object) -> None: ...

    def alone(number: int) -> None: ...

    numbers = pytest.mark.parametrize("number", NUMBERS)
    marked = pytest.mark.parametrize("number", [*NUMBERS, pytest.param(9, marks=pytest.mark.slow)])
    found = [cases_of(numbers(with_fixture)), cases_of(pytest.mark.slow(numbers(alone))), cases_of(marked(alone))]
    assert found == [(), (), ()]
