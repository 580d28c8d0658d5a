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

OTHERS: Final[Mapping[str, str]] = {
    "Object missing required field `(.*)`": r"\1 is missing",
    "Object contains unknown field `(.*)`": r"\1 is not known here",
    "Invalid (?:enum )?value (.*)": r"\1 is not allowed here",
}
"""What else msgspec says of a value, and what people do."""

LIMITS: Final[Mapping[str, str]] = {">=": "of at least", "<=": "of at most", "matching regex": "of the form"}


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
    said, at, place = str(error).partition(" - at `$")
    return f"{_place(place)}{_said(said)}" if at else _said(said)


def _place(path: str) -> str:
    """Return where in a file a value is, with a colon; nothing for the whole."""
    items = re.sub(r"\[(\d+)\]", lambda item: f", item {int(item[1]) + 1}, ", path.rstrip("`").replace("[...]", ""))
    where = re.sub(r"(^|, )[., ]+", r"\1", items).strip(", ")
    return f"{where}: " if where else ""


def _said(text: str) -> str:
    for internal, words in OTHERS.items():
        text = re.sub(f"^{internal}$", words, text)
    return re.sub(r"^Expected `(.*?)`(.*?)(?:, got `(.*?)`)?$", _of_a_kind, text)


def _of_a_kind(found: re.Match[str]) -> str:
    kind, limit, got = found.groups(default="")
    for sign, words in LIMITS.items():
        limit = limit.replace(sign, words)
    return f"{_kinds(kind)}{limit} is needed{f', not {_kinds(got)}' if got else ''}"


def _kinds(names: str) -> str:
    return " or ".join(KINDS.get(name, name) for name in names.split(" | "))
