"""Labels of a tray as a tilted camera would see them, computed and not drawn."""

import numpy as np

from vision.geometry import Homography, Points, Quad, project, rectangle
from vision.lattice import CENTRED, LEFT, ROW_LENGTHS, places
from vision.old_marks import Mark
from vision.payload import Payload

PITCH, ROW_PITCH = 2.8, 4.0


def tilted(tilt: float, roll: float, size: float = 45.0) -> Homography:
    """Map label sides to pixels: a camera tilted and rolled by degrees, `size` pixels a label."""
    lean, spin = np.radians(tilt), np.radians(roll)
    turn = np.array([[np.cos(spin), -np.sin(spin), 0], [np.sin(spin), np.cos(spin), 0], [0, 0, 1]])
    pose = np.array([[1, 0, 0], [0, np.cos(lean), 0], [0, -np.sin(lean), 45.0]])
    middle = np.array([[1, 0, -6 * PITCH], [0, 1, -ROW_PITCH], [0, 0, 1]])
    lens = np.array([[45 * size, 0, 960], [0, 45 * size, 540], [0, 0, 1.0]])
    return np.asarray(lens @ turn @ pose @ middle, dtype=np.float64)


def spots(*, centred: bool = False) -> dict[tuple[int, int], Points]:
    """Where each place's label lies, in label sides."""
    indents = CENTRED if centred else LEFT
    return {(row, col): np.array([(col + indents[row]) * PITCH, row * ROW_PITCH]) for row, col in places()}


def lay_marks(
    camera: Homography,
    *,
    centred: bool = False,
    without: frozenset[tuple[int, int]] = frozenset(),
    turned: frozenset[tuple[int, int]] = frozenset(),
    play: float = 0.0,
    seed: int = 0,
) -> dict[tuple[int, int], Mark]:
    """Give the marks of a tray, serials counted from 1 in reading order; `play` is in label sides."""
    chance = np.random.default_rng(seed)
    marks: dict[tuple[int, int], Mark] = {}
    for serial, (at, spot) in enumerate(spots(centred=centred).items(), start=1):
        quad = _label(spot + chance.uniform(-play, play, 2), float(chance.uniform(-3, 3)) if play else 0.0)
        if at in turned:
            quad = np.roll(quad, 2, axis=0)
        if at not in without:
            marks[at] = Mark(Payload(8, serial), project(camera, quad), 0.999)
    return marks


def _label(centre: Points, degrees: float) -> Quad:
    angle = np.radians(degrees)
    spin = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.asarray((rectangle(np.zeros(2), 1.0, 1.0)) @ spin.T + centre, dtype=np.float64)


FULL = sum(ROW_LENGTHS)
