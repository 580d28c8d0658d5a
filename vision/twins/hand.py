"""Where the tiles of a winner's hand lie on the simulated mat: in rows, two fingers between two groups. In mm."""

from collections.abc import Iterator, Sequence

import numpy as np

from vision.geometry import Points
from vision.twins.stamps import TILE
from vision.twins.world import Laid

FINGERS = 30.0
LEFT, RIGHT = 24.0, 356.0  # of the part of the table that the camera sees
TOP = 52.0
ROW = TILE[1] + 14.0
BESIDE = 0.8  # between two tiles of a group


def lay_groups(groups: Sequence[Sequence[Laid]]) -> Iterator[tuple[Laid, Points]]:
    """Give each tile and its middle, shape (2,): a group that has no room in its row begins the next one."""
    x, y = LEFT, TOP
    for group in groups:
        width = len(group) * (TILE[0] + BESIDE)
        if x + width > RIGHT:
            x, y = LEFT, y + ROW
        for tile in group:
            yield tile, np.array([x + TILE[0] / 2, y])
            x += TILE[0] + BESIDE
        x += FINGERS
