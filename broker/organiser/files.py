"""Files in, files out: bounded, in one step, and never over something else."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from broker.contract.wire import Refused, refuse_doubled_names
from broker.credentials import write_private
from broker.rules.errors import RuleError

LARGEST: Final = 16 * 2**20
"""Bytes of one file that is read; all deals that an event may have are about 8 MB."""

PUBLIC: Final = 0o644

T = TypeVar("T")
A = TypeVar("A")


def read_bytes(path: Path) -> bytes:
    """Read a file. Raises RuleError `too_large`, OSError."""
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise RuleError("too_large", f"{path.name} has more than {LARGEST} bytes")
    return content


def read_json(path: Path, kind: type[T]) -> T:
    """Read a JSON file. Raises RuleError `malformed` or `too_large`, OSError."""
    content = read_bytes(path)
    found = decode_json(content, kind, path.name)
    try:
        refuse_doubled_names(content)  # or two readers could take it for two different things
    except (Refused, RecursionError) as doubled:
        raise RuleError("malformed", f"{path.name}: {doubled}") from None
    return found


def decode_json(content: bytes | msgspec.Raw, kind: type[T], where: str) -> T:
    """Read JSON. Raises RuleError `malformed`, with `where` in its text."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RuleError("malformed", f"{where}: {str(error)[:300]}") from None


def publish(path: Path, content: bytes) -> None:
    """Write a file that everybody may read; what is there with the same content stays, so that one may ask twice.

    Raises RuleError `file_exists`, OSError.
    """
    if path.exists():
        if path.read_bytes() != content:
            raise RuleError("file_exists", f"{path} is there already and says something else")
        return
    write_private(path, content)
    path.chmod(PUBLIC)


def every(ask: Callable[[A], T], asked: Iterable[A]) -> list[T]:
    """Ask about each; raise an ExceptionGroup of all RuleErrors if there is one."""
    answers: list[T] = []
    problems: list[RuleError] = []
    for one in asked:
        try:
            answers.append(ask(one))
        except RuleError as problem:
            problems.append(problem)
        except ExceptionGroup as several:
            problems += flat(several)
    refuse(problems)
    return answers


def refuse(problems: Iterable[RuleError]) -> None:
    """Raise all of them at once, if there is one."""
    if found := list(problems):
        raise ExceptionGroup("refused", found)


def flat(several: BaseExceptionGroup[BaseException]) -> list[RuleError]:
    """Give the refusals in a group; groups may lie in groups."""
    found: list[RuleError] = []
    for one in several.exceptions:
        found += flat(one) if isinstance(one, BaseExceptionGroup) else [one] if isinstance(one, RuleError) else []
    return found
