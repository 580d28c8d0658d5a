"""The base of errors that have a stable code. Each room's are in its `errors.py`; docs/codes.md lists the codes."""

import re
from collections.abc import Mapping
from typing import ClassVar, Final


class CodedError(Exception):
    """An error whose kind has a stable code, and the status with which a page or an API answers; texts may change."""

    code: ClassVar[str]
    status: ClassVar[int] = 400
    wait_s: int = 0
    """Seconds after which to ask again, where that helps."""

    def __init_subclass__(cls, code: str = "", status: int = 0) -> None:
        """Take the code and the status from the class statement; without, the base's hold."""
        super().__init_subclass__()
        cls.code = code or cls.code
        cls.status = status or cls.status


KINDS: Final[Mapping[str, str]] = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "an object",
    "str": "text",
}
"""How msgspec names what it found, and how people do."""


def reason(error: BaseException) -> str:
    """Return why something could not be read or written, in words for those who do not program."""
    if isinstance(error, OSError):
        return re.sub(r"^\[.*\] | \(_ssl\.c:\d+\)$", "", error.strerror or str(error))  # OpenSSL says where it failed
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return re.sub(r"Expected `(.*?)`, got `(.*?)`(?: - at `\$\.?(.*)`)?", _of_a_kind, str(error))


def _of_a_kind(found: re.Match[str]) -> str:
    where = re.sub(r"\[(\.\.\.|\d+)\]", "", found[3] or "")
    return f"{where}{': ' if where else ''}{_kinds(found[1])} is needed, not {_kinds(found[2])}"


def _kinds(names: str) -> str:
    return " or ".join(KINDS.get(name, name) for name in names.split(" | "))
