r"""Tag pairs, as in PGN and PBN: `[Name "value"]`; in a value `\"` and `\\` are quote and backslash."""

import re
import unicodedata
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from broker.records.errors import RecordError

REQUIRED: Final = (
    *("Event", "Site", "Date", "Board", "PWind", "East", "South", "West", "North", "Deal"),
    *("Scoring", "Starting", "Result", "Penalty", "Play", "Fan"),
)
"""Those of PMN, in the order in which they are written."""

OURS: Final = ("Walls", "Dealer", "Table", "Round", "Profile")
"""What PMN has no tag for; written after the others, where it is known."""

UNKNOWN: Final = "?"
"""A value that is not known, as in PGN."""

PAIR: Final = re.compile(r'\[\s*(?P<name>[A-Za-z][A-Za-z0-9_]*)\s*"(?P<value>(?:[^"\\\n]|\\["\\])*)"\s*\]')
NAMED: Final = re.compile(r"\[\s*(?P<name>[A-Za-z][A-Za-z0-9_]*)")
COMMENT: Final = re.compile(r"[%;][^\n]*")
"""A line for people or for other programs, as in PBN."""

UNPRINTED: Final = ("Cc", "Cs", "Zl", "Zp")
"""Categories of characters that would end a line, or have none to be seen."""


class Tag(NamedTuple):
    """A value, and the line in which its tag begins."""

    value: str
    line: int


def read_tags(text: str, line: int) -> dict[str, Tag]:
    """Read one record's tags; `line` is that of its first.

    Raises RecordError `bad_notation`, `truncated_line`, `unknown_tag`, `duplicate_tag` or `missing_tag`.
    """
    tags: dict[str, Tag] = {}
    at = 0
    while at < len(text):
        here = line + text.count("\n", 0, at)
        if text[at].isspace():
            at += 1
        elif comment := _comment(text, at):
            at = comment
        else:
            found = _pair(text, at, here)
            _refuse_unless_new(found["name"], tags, here)
            tags[found["name"]] = Tag(re.sub(r"\\(.)", r"\1", found["value"]), here)
            at = found.end()
    if missing := [name for name in REQUIRED if name not in tags]:
        raise RecordError("missing_tag", f"there is no {', no '.join(missing)}", line=line)
    return tags


def _comment(text: str, at: int) -> int:
    """Give where a comment ends; it is a line of its own."""
    found = COMMENT.match(text, at)
    alone = text.rfind("\n", 0, at) == len(text[:at].rstrip(" \t")) - 1
    return found.end() if found and alone else 0


def _pair(text: str, at: int, line: int) -> re.Match[str]:
    found = PAIR.match(text, at)
    if found:
        return found
    rest = text[at:].partition("\n")[0]
    if rest.startswith("[") and not rest.rstrip().endswith('"]'):
        raise RecordError("truncated_line", f"{rest[:40]!r} does not end with a quote and a bracket", line=line)
    raise RecordError("bad_notation", f'{rest[:40]!r} is no tag: [Name "value"]', line=line)


def _refuse_unless_new(name: str, tags: Mapping[str, Tag], line: int) -> None:
    if name not in REQUIRED + OURS:
        near = get_close_matches(name, REQUIRED + OURS, 1)
        raise RecordError(
            "unknown_tag", f"{name[:40]!r} is no tag{f'; {near[0]} is meant?' if near else ''}", line=line
        )
    if name in tags:
        text = f"{name} was told in line {tags[name].line} already; between two records there is a blank line"
        raise RecordError("duplicate_tag", text, line=line)


def write_tags(tags: Mapping[str, str]) -> str:
    """Write tags, one a line, in the order of PMN."""
    return "".join(f'[{name} "{escaped(tags[name])}"]\n' for name in REQUIRED + OURS if name in tags)


def escaped(value: str) -> str:
    """Write a value as it stands between quotes."""
    return value.replace("\\", "\\\\").replace('"', '\\"')


def plain(value: str) -> str:
    """Give a text as it can stand in a tag: on one line. Of nothing is left what is not known."""
    shown = (" " if unicodedata.category(character) in UNPRINTED else character for character in value)
    return "".join(shown).strip() or UNKNOWN
