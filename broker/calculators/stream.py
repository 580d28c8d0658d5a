"""JSON lines in, JSON lines out: one answer a line, errors included; a bad line never stops the next."""

import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
import msgspec

from broker.rules.errors import RuleError

Q = TypeVar("Q")

LONGEST_LINE = 1_000_000
"""Characters of one question."""


def error_of(problem: RuleError) -> dict[str, Any]:
    """Give a refusal as it is written to the stream."""
    return {"error": {"code": problem.code, "message": problem.text}}


def read_line(line: str, kind: type[Q]) -> Q:
    """Read one question. Raises RuleError `malformed` or `too_large`."""
    if len(line) > LONGEST_LINE:
        raise RuleError("too_large", f"a line of {len(line)} characters, at most {LONGEST_LINE}")
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RuleError("malformed", str(error)) from None


def write(answer: object) -> None:
    """Write one answer, at once."""
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()


def lines() -> Iterable[str]:
    """Give the questions on standard input; blank lines ask nothing."""
    questions = click.get_text_stream("stdin", encoding="utf-8", errors="replace")
    return (line for line in questions if line.strip())


def answer_each(kind: type[Q], calculate: Callable[[Q], object]) -> None:
    """Answer every line of standard input with one line."""
    for line in lines():
        try:
            write(calculate(read_line(line, kind)))
        except RuleError as problem:
            write(error_of(problem))
