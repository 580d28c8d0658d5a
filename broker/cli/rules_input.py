"""Input of the rules commands: a profile, by its id or as a file, and questions as JSON lines.

Each line gets one answer, errors included. A bad line never stops the lines that follow.
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, TypeVar

import click
import msgspec
from msgspec import Meta, Struct

from broker.console import CommandError, Failed, json_option, problems_of
from broker.errors import RuleError, reason
from broker.i18n import N_
from broker.protocol import LONGEST_PROFILE, Refused, refuse_duplicate_names
from broker.rules import (
    DEFAULT_MCR,
    DEFAULT_RIICHI,
    Profile,
    RiichiProfile,
    Rules,
    load_mcr,
    load_riichi,
    load_rules,
    mcr_folder,
    parse_own_mcr,
    parse_own_rules,
    parse_riichi,
)
from broker.rules.riichi.hand import RiichiHandMeld

F = TypeVar("F", bound=Callable[..., Any])
Q = TypeVar("Q")

BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Some editors and shells put it before the first line."""

LONGEST_LINE: Final = 1_000_000
"""Maximum length of one question, in characters."""

LONGEST_RAW: Final = 4 * LONGEST_LINE + 16
"""Bytes read of a line: more than LONGEST_LINE characters can take in UTF-8."""


json_lines_option: Final = json_option(
    "Read JSON lines from standard input and print one answer per line (required).", expose_value=False
)
"""There is no other input or output format yet: the flag names the contract that scripts rely on."""


def error_answer(problem: RuleError) -> dict[str, Any]:
    """Return an error as the answer that is written to the stream."""
    return {"error": {"code": problem.code, "message": str(problem.text)}}


def read_line(line: str, kind: type[Q]) -> Q:
    """Read one question. Raises RuleError `malformed` or `too_large`."""
    if len(line) > LONGEST_LINE:
        raise RuleError("too_large", f"a line has at most {LONGEST_LINE} characters")
    try:
        question = msgspec.json.decode(line, type=kind)
        refuse_duplicate_names(line.encode())
    except (msgspec.DecodeError, Refused, UnicodeError, RecursionError) as error:
        raise RuleError("malformed", reason(error)) from None
    return question


def write_answer(answer: object) -> None:
    """Write one answer in UTF-8, whatever the locale, and flush it. Raises Failed `unwritable`."""
    sink = getattr(sys.stdout, "buffer", None)  # sys.stdout is None if the caller has closed it
    if sink is None:
        raise Failed(problems_of(CommandError("unwritable", "there is no standard output")))
    try:
        content = msgspec.json.encode(answer)
    except UnicodeEncodeError:  # a file name that is not UTF-8
        content = json.dumps(msgspec.to_builtins(answer)).encode()
    try:
        sink.write(content + b"\n")
        sink.flush()
    except BrokenPipeError:
        raise  # click ends quietly when the reader has gone
    except OSError as error:
        raise Failed(problems_of(CommandError("unwritable", f"standard output: {error.strerror}"))) from None


def input_lines() -> Iterator[tuple[int, str]]:
    """Return the line number and text of each question on standard input.

    Raises Failed `unreadable` if standard input is closed.
    """
    source = getattr(sys.stdin, "buffer", None)  # sys.stdin is None if the caller has closed it
    if source is None:
        raise Failed(problems_of(CommandError("unreadable", "there is no standard input")))
    return read_lines(source)


def read_lines(source: BinaryIO) -> Iterator[tuple[int, str]]:
    """Return the line number and text of each question in a file, skipping blank lines."""
    for number in count(1):
        if not (raw := source.readline(LONGEST_RAW)):
            return
        if len(raw) == LONGEST_RAW and not raw.endswith(b"\n"):
            _skip(source)
        line = raw.decode("utf-8", errors="replace").removeprefix(BYTE_ORDER_MARK)
        if line.strip():
            yield number, line


def _skip(source: BinaryIO) -> None:
    """Discard the rest of a line that is too long."""
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
"""A small number in a line. A wrong value in this range gets a specific error code; others are `malformed`."""


class RiichiMeldLine(Struct, forbid_unknown_fields=True):
    """A meld, as written in lines about riichi."""

    kind: str
    tiles: tuple[str, ...]
    open: bool = True

    def laid(self) -> RiichiHandMeld:
        """Return the meld. Raises as `RiichiHandMeld`."""
        return RiichiHandMeld(self.kind, self.tiles, self.open)


FILE: Final = ".toml"
"""Suffix that distinguishes the file of a profile from the id of a shipped one."""


def profile_option(about: str) -> Callable[[F], F]:
    """Add the option `--profile` for an MCR profile."""
    return click.option("--profile", default=DEFAULT_MCR, show_default=True, help=about)


def riichi_rules_option(about: str) -> Callable[[F], F]:
    """Add the option `--rules` for a riichi profile."""
    return click.option("--rules", default=DEFAULT_RIICHI, show_default=True, help=about)


def load_profile_once(written: str) -> Callable[[], Profile]:
    """Return a function that loads the profile when a line first needs it, and returns the same profile afterwards."""
    return cache(lambda: load_profile(written))


def load_profile(written: str) -> Profile:
    """Return a shipped profile by its id, or read the file. Raises RuleError `unknown_profile`, `bad_profile`."""
    return parse_own_mcr(parse_profile(Path(written))) if written.endswith(FILE) else load_mcr(written)


def load_either_profile(written: str) -> Rules:
    """Return a profile of either rule book, for callers that only compare plays. Raises as `load_profile`."""
    return parse_own_rules(parse_profile(Path(written))) if written.endswith(FILE) else load_rules(written)


def load_riichi_rules(written: str) -> RiichiProfile:
    """Return a shipped riichi profile by its id or short id (`tenhou`), or read the file.

    Raises as `load_profile`.
    """
    if not written.endswith(FILE):
        return load_riichi(written)
    text = parse_profile(Path(written))
    parse_own_rules(text)  # refuses the id of a shipped profile, and explains what is wrong
    return parse_riichi(text)


def riichi_rules_of_line(given: Callable[[], RiichiProfile], rules: str) -> RiichiProfile:
    """Return the riichi rules that a line names by id: those given to the command, or a shipped profile."""
    own = given()
    return own if rules == own.id else load_riichi(rules)


def read_profile_text(written: str) -> str:
    """Return the text of the profile that `load_profile` would load. Raises RuleError `bad_profile`."""
    return (
        parse_profile(Path(written))
        if written.endswith(FILE)
        else (mcr_folder() / f"{written}.toml").read_text(encoding="utf-8")
    )


def parse_profile(path: Path) -> str:
    """Return the text of a profile's file. Raises RuleError `bad_profile`."""
    try:
        if path.stat().st_size > 4 * LONGEST_PROFILE:
            raise RuleError(
                "bad_profile",
                f"{path.name}: found {path.stat().st_size} bytes; allowed: at most {LONGEST_PROFILE} characters",
            )
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or not a possible file name
        raise RuleError("bad_profile", N_("{where}: {problem}", where=path.name, problem=reason(error))) from None
