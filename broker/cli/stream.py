"""JSON lines in, JSON lines out: one answer a line, errors included; a bad line never stops the next."""

import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Annotated, Any, BinaryIO, Final, TypeVar

import msgspec
from msgspec import Meta

from broker.console import CommandError, Failed, json_option, problems_of
from broker.protocol import Refused, refuse_duplicate_names
from broker.rules import RuleError

Q = TypeVar("Q")

BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""What some editors and shells put before the first line."""

LONGEST_LINE: Final = 1_000_000
"""Characters of one question."""

LONGEST_RAW: Final = 4 * LONGEST_LINE + 16
"""Bytes that are read of a line: more than so many characters can take."""


json_lines_option: Final = json_option(
    "Read JSON lines from standard input and print one answer per line (required).", given=False
)
"""There is no other form yet: the flag names the contract."""


def error_answer(problem: RuleError) -> dict[str, Any]:
    """Return a refusal as it is written to the stream."""
    return {"error": {"code": problem.code, "message": str(problem.text)}}


def read_line(line: str, kind: type[Q]) -> Q:
    """Read one question. Raises RuleError `malformed` or `too_large`."""
    if len(line) > LONGEST_LINE:
        raise RuleError("too_large", f"a line has at most {LONGEST_LINE} characters")
    try:
        question = msgspec.json.decode(line, type=kind)
        refuse_duplicate_names(line.encode())
    except (msgspec.DecodeError, Refused, UnicodeError, RecursionError) as error:
        raise RuleError("malformed", str(error)) from None
    return question


def write_answer(answer: object) -> None:
    """Write one answer, at once, in UTF-8 whatever the locale. Raises Failed `unwritable`."""
    sink = getattr(sys.stdout, "buffer", None)  # sys.stdout is None where the caller has closed it
    if sink is None:
        raise Failed(problems_of(CommandError("unwritable", "there is no standard output")))
    try:
        sink.write(msgspec.json.encode(answer) + b"\n")
        sink.flush()
    except BrokenPipeError:
        raise  # click ends quietly when the reader has gone
    except OSError as error:
        raise Failed(problems_of(CommandError("unwritable", f"standard output: {error.strerror}"))) from None


def input_lines() -> Iterator[tuple[int, str]]:
    """Return the questions on standard input, by the numbers of their lines.

    Raises Failed `unreadable` where it is closed.
    """
    source = getattr(sys.stdin, "buffer", None)  # sys.stdin is None where the caller has closed it
    if source is None:
        raise Failed(problems_of(CommandError("unreadable", "there is no standard input")))
    return read_lines(source)


def read_lines(source: BinaryIO) -> Iterator[tuple[int, str]]:
    """Return the questions of a file, with the numbers of their lines; blank lines ask nothing."""
    for number in count(1):
        if not (raw := source.readline(LONGEST_RAW)):
            return
        if len(raw) == LONGEST_RAW and not raw.endswith(b"\n"):
            _skip(source)
        line = raw.decode("utf-8", errors="replace").removeprefix(BYTE_ORDER_MARK)
        if line.strip():
            yield number, line


def _skip(source: BinaryIO) -> None:
    """Read over what is left of a line that is too long, without keeping it."""
    while (more := source.readline(LONGEST_RAW)) and not more.endswith(b"\n"):
        pass


def answer_each(kind: type[Q], calculate: Callable[[Q], object]) -> None:
    """Answer every line of standard input with one line."""
    for _, line in input_lines():
        try:
            write_answer(calculate(read_line(line, kind)))
        except RuleError as problem:
            write_answer(error_answer(problem))


PlayerNumber = Annotated[int, Meta(ge=-999, le=999)]
"""What is out of its bounds by less has a code that says so; what is out by more is not read."""
