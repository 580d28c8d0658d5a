"""`homologue imp`: what a difference in points is worth."""

import re
from fractions import Fraction
from functools import cache

import click
from msgspec import Raw, Struct

from broker.calculators.profiles import compared_by
from broker.calculators.stream import answer_each, read_line
from broker.rules.errors import RuleError
from broker.rules.profile_files import DEFAULT
from broker.scoring.imp import imp as imp_of

NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400}|/[0-9]{1,400})?([eE][+-]?[0-9]{1,2})?", re.ASCII)


class Question(Struct, forbid_unknown_fields=True):
    """A difference: points minus datum. As it is written, since a float would round it."""

    difference: Raw


def exact(written: str) -> Fraction:
    """Read a decimal ("8.6", 8.6) or a fraction ("43/5") as JSON has it, without rounding.

    Raises RuleError `malformed` or `not_a_number`.
    """
    text = read_line(written, str) if written.startswith('"') else written
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not NUMBER.fullmatch(text):
        raise RuleError("not_a_number", f"{text[:40]!r} is neither a decimal nor a fraction")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise RuleError("not_a_number", f"{text[:40]!r} divides by zero") from None


@click.command(short_help="IMPs for a difference.")
@click.option(
    "--profile",
    default=DEFAULT,
    show_default=True,
    help="Rule profile whose scale is used: an id, or a file that ends in .toml.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line (the only form)."
)
def imp(profile: str, as_json: bool) -> None:  # noqa: ARG001, FBT001 - the flag names the contract; there is no other form yet
    """IMPs for a difference between points and datum.

    \b
    echo '{"difference": "8.6"}' | homologue imp --json
    """  # noqa: D301 - click reads the \b
    rules = cache(lambda: compared_by(profile))
    answer_each(Question, lambda question: {"imp": imp_of(exact(bytes(question.difference).decode()), rules().imp)})
