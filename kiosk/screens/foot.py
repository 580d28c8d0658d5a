"""What stands at the foot of every screen: how the device stands, what is broken, whether the arbiter is called."""

from collections.abc import Iterator
from typing import Final
from unicodedata import east_asian_width

from kiosk.screens import style
from kiosk.screens.faults import faulty
from kiosk.screens.pen import Said
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

MOST_LETTERS: Final = 48
"""As many of faults as have room at the foot, beside how many more there are; the desk has them all.

A Chinese letter has the room of two.
"""


def standing(words: Words, shown: Shown) -> Iterator[Said]:
    """Give the lines, from above."""
    if shown.calling:
        yield Said(_called(words, shown), 0.05, style.ATTENTION)
    line = shown.line
    if line.apart:
        return
    wrong = [words("refused", count=line.refused)] if line.refused else []
    wrong.extend(faulty(words, *one.split(": ", 1)) for one in line.health)
    colour = style.QUIET if line.up and not wrong else style.ATTENTION
    connection = [words("online" if line.up else "offline")]
    if line.unsent:
        connection.append(words("unsent", count=line.unsent))
    yield Said(" · ".join(connection), 0.042, colour)
    if wrong:
        yield Said(_shortened(words, wrong), 0.042, colour)


def _called(words: Words, shown: Shown) -> str:
    """Say that the arbiter is called, and that one comes or how many calls come first."""
    if shown.arbiter_coming:
        return words("calling_coming")
    before = shown.calls_before
    if before is None:
        return words("calling")
    return words("calling_after", count=before) if before else words("calling_next")


def today(shown: Shown) -> Iterator[Said]:
    """Give the time of day, and the version under it."""
    if shown.line.clock:
        yield Said(shown.line.clock, 0.055, style.TEXT)
    if shown.line.version:
        yield Said(shown.line.version, style.SMALLEST, style.QUIET)


def _shortened(words: Words, wrong: list[str]) -> str:
    """Name as much as has room, and how much more there is."""
    named = [*wrong]
    while len(named) > 1 and _letters(" · ".join(named)) > MOST_LETTERS:
        named.pop()
    if more := len(wrong) - len(named):
        named.append(words("more", count=more))
    return " · ".join(named)


def _letters(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
