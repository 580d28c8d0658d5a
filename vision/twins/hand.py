"""A winner's hand on the simulated mat: in rows, two fingers between two groups. Lengths in millimetres."""

from collections.abc import Iterator, Sequence

from vision.twins.stamps import TILE
from vision.twins.world import Laid, Loose

FINGERS = 36.0
LEFT, RIGHT = 24.0, 356.0  # of the part of the table that the camera sees
TOP = 52.0
ROW = TILE[1] + 14.0
BESIDE = 0.8  # between two tiles of a group
TURNS = (0.7, -1.1, 0.2, -0.4)  # degrees: nobody lays tiles quite straight


def laid_hand(groups: Sequence[Sequence[Laid]], under: Sequence[Sequence[Laid]] = ()) -> tuple[Loose, ...]:
    """Give where each tile lies: a group that has no room in its row begins the next one.

    `under`: groups in a row of their own under the hand, as indicators lie.
    """
    hand = (*_laid(groups, TOP),)
    return (*hand, *_laid(under, max((loose.at[1] for loose in hand), default=TOP) + ROW))


def _laid(groups: Sequence[Sequence[Laid]], y: float) -> Iterator[Loose]:
    x = LEFT
    for group in groups:
        if x + len(group) * (TILE[0] + BESIDE) > RIGHT:
            x, y = LEFT, y + ROW
        for tile in group:
            yield Loose(tile, (x + TILE[0] / 2, y), TURNS[tile.serial % len(TURNS)])
            x += TILE[0] + BESIDE
        x += FINGERS
