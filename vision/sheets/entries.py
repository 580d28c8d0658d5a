"""What is written in a registry, entry by entry with its line, even what is there twice."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from vision.errors import RegistryInvalidError

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One tile as it is written; `face` may be anything, `serial` is empty where a set has no tile at all."""

    set: str
    serial: str
    face: object
    line: int


class _Pairs(tuple[tuple[str, Any], ...]):
    """A JSON object with its keys in order, twice if they are."""

    __slots__ = ()


def entries(content: str, name: str) -> tuple[Entry, ...]:
    """Give the entries of a registry in order. Raises RegistryInvalidError where it is no object of objects."""
    try:
        sets = json.loads(content, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise RegistryInvalidError(f"{name}: line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits; brackets in brackets
        raise RegistryInvalidError(f"{name} is no registry of tile sets") from None
    if not isinstance(sets, _Pairs) or not all(isinstance(faces, _Pairs) for _, faces in sets):
        raise RegistryInvalidError(f"{name} is no registry of tile sets: an object for each set, from serial to face")
    return _with_lines(sets, content)


def _with_lines(sets: _Pairs, content: str) -> tuple[Entry, ...]:
    """Walk keys and their lines side by side: both are in the order of the text, as long as faces are no objects."""
    lines = iter(_lines_of_keys(content))
    found = []
    for one, faces in sets:
        line = next(lines, 0)
        told = [Entry(one, serial, face, next(lines, 0)) for serial, face in faces]
        found += told or [Entry(one, "", None, line)]
    return tuple(found)


def _lines_of_keys(content: str) -> list[int]:
    lines, line, at = [], 1, 0
    for match in _STRING.finditer(content):
        line += content.count("\n", at, match.start())
        at = match.start()
        if match["key"]:
            lines.append(line)
    return lines
