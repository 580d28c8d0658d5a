"""Run all cases of a test with parameters alone as one item: collecting and reporting an item takes 3 ms."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from inspect import Signature, signature
from itertools import product
from typing import Final

import pytest
from _pytest.mark.structures import ParameterSet

END: Final = (KeyboardInterrupt, pytest.exit.Exception)
"""Exceptions that end the run, and are not failures of a case."""

Test = Callable[..., None]
Case = Mapping[str, object]


def rows(mark: pytest.Mark) -> Iterator[Case]:
    """Return the arguments that each row of a `parametrize` gives.

    Raises ValueError if pytest must handle it: rows that can be read only once, or have marks.
    """
    names, values = mark.args
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    if mark.kwargs.keys() - {"ids"} or iter(values) is values:
        raise ValueError
    for value in values:
        row = value if isinstance(value, ParameterSet) else ParameterSet.extract_from(value, len(names) == 1)
        if row.marks:
            raise ValueError
        yield dict(zip(names, row.values, strict=True))


def cases_of(test: Test) -> Sequence[Case]:
    """Return the arguments of each case of a test; none if it has no parameters, uses fixtures or is slow."""
    marks: Sequence[pytest.Mark] = getattr(test, "pytestmark", ())
    if {mark.name for mark in marks} != {"parametrize"}:
        return ()
    try:
        cases = [{k: v for row in case for k, v in row.items()} for case in product(*map(rows, marks))]
    except ValueError:
        return ()
    wanted = signature(test).parameters.keys()
    return cases if all(case.keys() == wanted for case in cases) else ()


def one_after_the_other(test: Test, cases: Sequence[Case]) -> Test:
    """Return a test that runs all cases and names each one that fails."""

    @wraps(test)
    def every_case() -> None:
        failures = []
        for case in cases:
            call = pytest.CallInfo.from_call(partial(test, **case), "call", END)
            if call.excinfo:
                call.excinfo.value.add_note(f"with {case}")
                failures.append(call.excinfo.value)
        if failures:
            raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases", failures)

    vars(every_case).update(__signature__=Signature(), pytestmark=[])
    return every_case
