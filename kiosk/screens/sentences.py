"""What is said of a tray that is not right: the same sentences on the screen and in the log."""

from collections.abc import Iterator

from kiosk.screens.words import Words
from kiosk.table.events import Misplaced
from kiosk.table.state import Check


def verdict(words: Words, check: Check) -> str:
    """Say in a line how a tray stands."""
    seat = words.seat(check.seat)
    if check.aside is not None:
        return words("tray_strange", seat=seat)
    if check.wrong:
        return words("tray_wrong", seat=seat)
    return words("tray_unread", seat=seat, count=check.unread)


def places(words: Words, check: Check) -> Iterator[str]:
    """Name each place that is not right; an exchange is named once. In a tray of no deal of ours none is."""
    if check.aside is not None:
        return
    named: set[tuple[int, int]] = set()
    for wrong in check.wrong:
        if (wrong.row, wrong.col) not in named:
            yield _place(words, wrong)
        if wrong.other:
            named.add(wrong.other)


def _place(words: Words, wrong: Misplaced) -> str:
    row2, col2 = wrong.other or (0, 0)
    return words(
        f"misplaced_{wrong.kind}",
        row=wrong.row + 1,
        col=wrong.col + 1,
        row2=row2 + 1,
        col2=col2 + 1,
        expected=wrong.expected,
        found=wrong.found,
    )
