"""A tray that is not right, or not read."""

from typing import Final

from kiosk.screens import style
from kiosk.screens.middle import Middle
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.sentences import places, verdict
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

MOST_PLACES: Final = 4
"""As many faults of a tray as staff mend before they look up again."""


def tray(words: Words, shown: Shown) -> Middle | None:
    """The tray that was looked at last, where it is not right."""
    if shown.check is None:
        return None
    sentences = [*places(words, shown.check)]
    lines = [Said(verdict(words, shown.check), 0.085, style.ATTENTION)]
    lines.extend(Said(sentence, 0.06, style.TEXT) for sentence in sentences[:MOST_PLACES])
    if more := len(sentences[MOST_PLACES:]):
        lines.append(Said(words("more", count=more), 0.05, style.QUIET))
    return Middle((*extra(words, shown), *lines, *problem(words, shown)))
