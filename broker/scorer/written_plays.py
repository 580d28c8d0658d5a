"""The plays of an `event.toml`, read quickly where they stand as this program writes them.

A plan may have many thousands, and a reader of TOML takes half a minute of a Raspberry Pi for them. What is written in
any other way (by hand, with comments) is left to that reader, and so is whatever is wrong: its words stay the same.
"""

import re
import tomllib
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from broker.contract.words import SEATS, PlayerId, Seat

P = TypeVar("P")

Make = Callable[[int, int, int, dict[Seat, PlayerId]], P]
"""Makes a play of its round, table, deal and players."""

PLAYS: Final = "plays"

# No number and no player matches here that `Booking` would refuse.
PLAY: Final = re.compile(
    r"\[\[plays\]\]\nround = ([1-9][0-9]{0,2})\ntable = ([1-9][0-9]{0,3})\ndeal = ([1-9][0-9]{0,3})\n\n"
    r"\[plays\.players\]\n" + "".join(rf'{seat} = "([A-Za-z0-9_-]{{1,32}})"\n' for seat in SEATS) + r"(?:\n|\Z)"
)

FIRST: Final = re.compile(r"^\[\[plays\]\]$", re.MULTILINE)

HEADER: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*\[")
"""The first line that says something, after blank lines and comments, begins a table."""


def decode(content: bytes, make: Make[P]) -> tuple[dict[str, Any], list[P]]:
    """Read a plan: all that it says but for its first plays, and these. Raises msgspec.DecodeError, UnicodeDecodeError.

    Where none could be read quickly the list is empty, and everything is in the first part.
    """
    text = content.decode()
    begin = FIRST.search(text)
    if begin is not None:
        plays, end = _run(text, begin.start(), make)
        if plays and (rest := _without(text[: begin.start()], text[end:])) is not None:
            return rest, plays
    try:
        return tomllib.loads(text), []
    except tomllib.TOMLDecodeError as error:
        raise msgspec.DecodeError(str(error)) from None


def _run(text: str, begin: int, make: Make[P]) -> tuple[list[P], int]:
    """Read plays, one right after the other; give them, and where the first stands that is written otherwise."""
    plays, end = list[P](), begin
    names: dict[str, str] = {}
    fours: dict[tuple[str, ...], dict[Seat, PlayerId]] = {}
    while found := PLAY.match(text, end):
        end = found.end()
        round_, table, deal, *players = found.groups()
        four = fours.get(key := tuple(players))
        if four is None:
            # Each name is in memory once, and so are the four who play several deals together.
            four = fours[key] = {seat: names.setdefault(one, one) for seat, one in zip(SEATS, players, strict=True)}
        plays.append(make(int(round_), int(table), int(deal), four))
    return plays, end


def _without(head: str, tail: str) -> dict[str, Any] | None:
    """Read what stands before and after a run of plays; None where the two cannot be read apart from it.

    They can where each is TOML by itself, the second begins with a table's header, and no table is in both.
    """
    if tail and not HEADER.match(tail):
        return None
    try:
        before, after = tomllib.loads(head), tomllib.loads(tail)
    except tomllib.TOMLDecodeError:
        return None
    if PLAYS in before or before.keys() & after.keys() or not isinstance(after.get(PLAYS, []), list):
        return None
    return before | after
