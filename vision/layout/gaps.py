"""Step 7, places where no tile was found: empty, covered by a hand, or a back that was overlooked.

Only colours are asked. Where they do not tell, the place is called a back that is not read: nothing is claimed of it.
"""

import numpy as np

from vision.geometry import Picture, Points, Quad
from vision.layout.frames import Flags
from vision.layout.lattice import Lattice
from vision.layout.samples import CORE, RIM, Colours, colours_on, inside_share
from vision.layout.tray import LEFT, Where
from vision.reading import State

COVERED = 0.12  # share under a hand from which a place counts as covered
_LIGHT, _TINT = 16.0, 10.0  # L*a*b* units within which two colours are one in much the same light
_BACK, _NO_BACK = 0.5, 0.15  # share of the rim that has the backs' colour
_FLOOR = 0.3  # share of the rim that has the floor's colour; walls and shadows hide the rest
_PRINTED = 0.65  # how much of a back's usual print must show where floor and backs have one colour
_NEAR = 5
_IN_PICTURE = 0.75  # share of a place that must be seen before anything is said of it


def floor_quads(lattice: Lattice) -> Quad:
    """Give where the short rows leave the tray's floor open, shape (n, 4, 2), pixels."""
    left = ((1, 11), (1, 12), (2, 10), (2, 11), (2, 12))
    spots = left if lattice.indents == LEFT else ((1, -1), (1, 11), (2, -1), (2, 10))
    return lattice.quads(lattice.spots(*np.array(spots, dtype=float).T))


def judge_gap(picture: Picture, at: Where, quads: dict[Where, Quad], backs: list[Where], floor: Quad) -> State:
    """Say what the place `at` holds, no tile having been found and no hand seen there.

    `quads` are the tray's 34 places in the picture, `backs` those that hold a back, `floor` as `floor_quads` gives it.
    """
    if inside_share(picture, quads[at]) < _IN_PICTURE:
        return State.BACK
    near = sorted(backs, key=lambda other: 1.4 * abs(other[0] - at[0]) + abs(other[1] - at[1]))[:_NEAR]
    around = np.array([quads[other] for other in near])
    here = quads[at][None]
    rim = colours_on(picture, here, RIM)[0]
    like_back = _share(rim, _usual(colours_on(picture, around, RIM)))
    like_floor = _share(rim, _usual(colours_on(picture, floor, RIM)))
    usual_print = float(np.median(_print(colours_on(picture, around, CORE))))
    printed = float(_print(colours_on(picture, here, CORE))[0]) > _PRINTED * usual_print
    if like_floor >= _FLOOR or like_back < _NO_BACK:
        alike = like_floor >= _FLOOR and like_back < _BACK
        return State.BACK if printed and not alike else State.EMPTY
    return State.BACK


def _usual(colours: Colours) -> Points:
    return np.asarray(np.median(np.median(colours, axis=1), axis=0))


def _share(rim: Colours, colour: Points) -> float:
    away = rim - colour
    same: Flags = (np.abs(away[:, 0]) < _LIGHT) & (np.hypot(away[:, 1], away[:, 2]) < _TINT)
    return float(same.mean())


def _print(cores: Colours) -> Points:
    """Give how much each middle's lightness spreads, shape (n,)."""
    low, high = np.percentile(cores[..., 0], [5, 95], axis=1)
    return np.asarray(high - low)
