"""Numbers out of a tag's attributes, each refused where it is no number that a record has."""

from typing import Final

from broker.riichi.mjlog.tags import Tag
from broker.rules.errors import RuleError
from broker.rules.riichi.session.state import PLAYERS, Player

MOST_DIGITS: Final = 9
"""More than any number of a record has."""


def numbers(tag: Tag, name: str) -> list[int]:
    """Read a list of numbers; none where there is no such attribute. Raises RuleError `bad_record`."""
    text = tag.attributes.get(name, "")
    parts = text.split(",") if text else []
    if not all(map(_is_number, parts)):
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} is a list of numbers, not {text[:40]!r}")
    return [int(part) for part in parts]


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS


def some(tag: Tag, name: str, count: int) -> list[int]:
    """Read so many numbers, neither more nor less. Raises RuleError `bad_record`."""
    found = numbers(tag, name)
    if len(found) != count:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} is a list of {count} numbers")
    return found


def number(tag: Tag, name: str) -> int:
    """Read the one number that an attribute is. Raises RuleError `bad_record`."""
    return some(tag, name, 1)[0]


def first(tag: Tag, name: str, at: int = 0) -> int:
    """Give the first number of a list, or the one at a place. Raises RuleError `bad_record`."""
    found = numbers(tag, name)
    if len(found) <= at:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} has too few numbers")
    return found[at]


def player(tag: Tag, name: str) -> Player:
    """Read a player's number. Raises RuleError `bad_record`."""
    found = number(tag, name)
    if found not in PLAYERS:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} is a player from 0 to 3")
    return found
