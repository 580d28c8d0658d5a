"""Stage 3b, rows to lattice: where each of the 34 places of a tray lies, and which column a label has."""

from dataclasses import dataclass

import cv2
import numpy as np

from vision.geometry import Homography, Points, project
from vision.layout.tray import CENTRED, LEFT, ROW_LENGTHS, TILES, places
from vision.rows import Rows

__all__ = ["CENTRED", "LEFT", "ROW_LENGTHS", "TILES", "Lattice", "first_steps", "fit_steps", "places", "settle"]

_MOST = 0.6  # share of the labels that must agree
_LOOSE = 0.25  # pitches: a label this far off the common lattice does not vote on where the lattice lies


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The places of a tray in a picture; the plane's unit is a label's side, its origin place (0, 0)."""

    to_pixels: Homography
    pitch: float
    row_pitch: float
    indents: tuple[float, float, float]  # where column 0 of each row stands, in pitches from row 0's

    def spot(self, row: int, col: float) -> Points:
        """Where the label of a place is looked for, in the plane, shape (2,); columns beyond the row are allowed."""
        return np.array([(col + self.indents[row]) * self.pitch, row * self.row_pitch])

    def pixel(self, row: int, col: float) -> Points:
        """Where the label of a place is looked for, in pixels, shape (2,)."""
        return np.asarray(project(self.to_pixels, self.spot(row, col)[None])[0])


def fit_steps(centres: Points, rows: Rows) -> Lattice | None:
    """Fit the lattice to labels' centres in pixels, its columns still counted in steps of `Rows`."""
    indents = (0.0, 0.0, 0.5) if rows.half else LEFT
    here = rows.row >= 0
    number = rows.row[here].astype(int)
    plane = np.column_stack([(rows.step[here] + np.array(indents)[number]) * rows.pitch, number * rows.row_pitch])
    reach = _LOOSE * float(np.median(np.linalg.norm(np.diff(centres[here], axis=0), axis=1)))
    found, inside = cv2.findHomography(plane, centres[here], cv2.RANSAC, max(reach, 3.0))
    if found is None or inside.mean() < _MOST:
        return None
    keep = inside.ravel() > 0
    best, _ = cv2.findHomography(plane[keep], centres[here][keep], 0)
    return None if best is None else Lattice(np.asarray(best), rows.pitch, rows.row_pitch, indents)


def first_steps(rows: Rows, occupied: dict[tuple[int, int], bool]) -> list[int]:
    """Give every step at which column 0 of row 0 may stand so that most occupied places lie in the tray.

    `occupied` names (row, step) that hold a tile. More than one answer: the picture does not tell.
    """
    indents = (0, 1, 1) if rows.half else (0, 0, 0)  # row 2 of a centred tray: the half is in the lattice already
    held = [key for key, there in occupied.items() if there]
    steps = [step for _, step in held]
    score = {
        start: sum(0 <= step - start - indents[row] < ROW_LENGTHS[row] for row, step in held)
        for start in range(min(steps) - ROW_LENGTHS[0], max(steps) + 1)
    }
    return [start for start, inside in score.items() if inside == max(score.values())]


def settle(steps: Lattice, start: int) -> Lattice:
    """Count columns from `start`, the step at which column 0 of row 0 stands."""
    shift = np.array([[1, 0, start * steps.pitch], [0, 1, 0], [0, 0, 1.0]])
    indents = LEFT if steps.indents[2] == 0 else CENTRED
    return Lattice(np.asarray(steps.to_pixels @ shift), steps.pitch, steps.row_pitch, indents)
