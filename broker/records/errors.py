"""What is wrong with a record, and where."""

from collections.abc import Iterator
from contextlib import contextmanager

from broker.rules.errors import RuleError


class RecordError(RuleError):
    """A record that is refused. Of its kind there may be many in a file: the next record is read all the same."""

    def __init__(self, code: str, text: str, *, line: int | None = None, step: int | None = None) -> None:
        super().__init__(code, text)
        self.line = line
        """In the file, counted from 1."""
        self.step = step
        """In Play, counted from 1: the action that is wrong."""


@contextmanager
def found_at(line: int) -> Iterator[None]:
    """Say of every refusal inside in which line it was found."""
    try:
        yield
    except RecordError as problem:
        raise RecordError(problem.code, problem.text, line=problem.line or line, step=problem.step) from None
    except RuleError as problem:
        raise RecordError(problem.code, problem.text, line=line) from None
