"""What is wrong with a record, and where."""

from collections.abc import Iterator
from contextlib import contextmanager

from broker.rules.errors import RuleError


class RecordError(RuleError):
    """A record that is refused. Of its kind there may be many in a file: the next record is read all the same."""

    def __init__(
        self, code: str, text: str, *, tag: str | None = None, line: int | None = None, step: int | None = None
    ) -> None:
        super().__init__(code, text)
        self.tag = tag
        """In whose value it is."""
        self.line = line
        """In the file, counted from 1."""
        self.step = step
        """In Play, counted from 1: the action that is wrong."""


@contextmanager
def in_tag(tag: str, line: int | None = None) -> Iterator[None]:
    """Say of every refusal inside in which tag it was found, and in which line that is."""
    try:
        yield
    except RuleError as problem:
        nearer = problem if isinstance(problem, RecordError) else RecordError(problem.code, problem.text)
        raise RecordError(
            problem.code, problem.text, tag=nearer.tag or tag, line=nearer.line or line, step=nearer.step
        ) from None
