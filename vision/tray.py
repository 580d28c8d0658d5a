"""A lattice and its labels to the tray's 34 places, each with what lies there."""

from dataclasses import dataclass

import numpy as np

from vision.closer import find_finder
from vision.geometry import Homography, Picture, Points, flatten, inverse, project, rectangle, rotation_degrees
from vision.lattice import TILES, Lattice, places
from vision.loose import corners, read_mark
from vision.old_marks import Mark
from vision.places import Look, Usual, floor_colour, judge, look_at
from vision.reading import Place, Read, State
from vision.tiles import Flat, Shape, fit_shape, flatten_tray, place_tile

Where = tuple[int, int]
_FINDER_SCALE = 6.0
HALF_TURN = 180
_LABEL_LIKENESS = 0.75  # correlation from which a DataMatrix is there, readable or not


@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """A label at its place: where it lies in the plane, shape (2,), and whether its serial is doubtful."""

    mark: Mark
    spot: Points
    doubtful: bool


def read_places(picture: Picture, grey: Picture, labels: dict[Where, Sorted], lattice: Lattice) -> tuple[Place, ...]:
    """Say of each place of the tray, in reading order, what lies there."""
    flat = flatten_tray(picture, lattice)
    turns = {at: _turn(entry, lattice) for at, entry in labels.items()}
    upright = [entry.spot for at, entry in labels.items() if turns[at] == 0]
    shape = fit_shape(flat, np.array(upright or [entry.spot for entry in labels.values()]), lattice)
    held: dict[Where, Place] = {}
    middles: dict[Where, Points] = {}
    for (row, col), entry in labels.items():
        middle = place_tile(flat, entry.spot, shape, lattice, turned=turns[row, col] == HALF_TURN)
        middles[row, col] = middle
        quad = _quad(lattice.to_pixels, middle, shape, turns[row, col])
        read = read_mark(entry.mark, quad, doubtful=entry.doubtful, row=row, col=col, turn=turns[row, col])
        held[row, col] = Place(row, col, State.BACK, read)
    seen = {at: look_at(flat, middle, shape) for at, middle in middles.items()} if len(held) < TILES else {}
    modules = next(iter(labels.values())).mark.modules
    for at in places():
        if at not in held:
            held[at] = _judge_place(at, flat, grey, shape, lattice, seen, modules)
    return tuple(held[at] for at in places())


def _turn(entry: Sorted, lattice: Lattice) -> int:
    """Give how a label lies against the tray, to a quarter of a turn."""
    flat = project(inverse(lattice.to_pixels), entry.mark.quad)
    return round(rotation_degrees(flat) / 90) % 4 * 90


def _quad(to_pixels: Homography, middle: Points, shape: Shape, turn: int) -> Points:
    upright = turn in {0, 180}
    square = rectangle(middle, *((shape.width, shape.height) if upright else (shape.height, shape.width)))
    return project(to_pixels, np.roll(square, -(turn // 90), axis=0))


def _judge_place(
    at: Where, flat: Flat, grey: Picture, shape: Shape, lattice: Lattice, seen: dict[Where, Look], modules: int
) -> Place:
    row, col = at
    spot = lattice.spot(row, col)
    middle = spot + shape.seat
    labelled = _has_finder(grey, lattice, spot, modules)
    usual = _usual(at, flat, shape, lattice, seen)
    state = judge(look_at(flat, middle, shape), usual, labelled=labelled)
    if state is State.EMPTY:
        return Place(row, col, state, None)
    quad = _quad(lattice.to_pixels, middle, shape, 0)
    read = Read(
        None, None, corners(quad), 0.0, round(rotation_degrees(quad), 2), row, col, face_up=state is State.FACE_UP
    )
    return Place(row, col, state, read)


def _usual(at: Where, flat: Flat, shape: Shape, lattice: Lattice, seen: dict[Where, Look]) -> Usual:
    near = sorted(seen, key=lambda other: 1.4 * abs(other[0] - at[0]) + abs(other[1] - at[1]))[:5]
    return Usual(
        back=np.asarray(np.median([seen[other].colour for other in near], axis=0)),
        floor=floor_colour(flat, lattice, shape),
        white=np.asarray(np.median([seen[other].bright for other in near], axis=0)),
        printed=float(np.median([look.middle_spread for look in seen.values()])),
    )


def _has_finder(grey: Picture, lattice: Lattice, spot: Points, modules: int) -> bool:
    """Tell whether the L of a DataMatrix is seen about a spot, its modules readable or not."""
    reach = np.array([lattice.pitch, lattice.row_pitch]) / 2
    window = (*(spot - reach), *(spot + reach))
    flat = flatten(grey, lattice.to_pixels, window, modules * _FINDER_SCALE)
    likeness, _ = find_finder(flat, modules)
    return likeness > _LABEL_LIKENESS
