"""The room's public face: a picture in, a reading out. The stages run in order, values go one way."""

from collections import Counter

import cv2
import numpy as np

from vision.closer import look_closer
from vision.errors import PictureError
from vision.geometry import Picture, Points, inverse, project
from vision.lattice import Lattice, first_steps, fit_steps, places, settle
from vision.loose import loose_reads
from vision.old_marks import Mark, find_marks, find_more_marks, merge_marks
from vision.plane import fit_plane
from vision.reading import Reading
from vision.rows import Rows, find_rows
from vision.tray import Sorted, read_places

_ENOUGH = 24  # labels of 34: the rest are better looked for one by one, where the lattice says they lie
_AXES, _CHANNELS = 3, 3
_OWN = 0.42  # pitches about a place that are its own: between two places a label belongs to neither


def read_tray(picture: Picture) -> Reading:
    """Read a picture, BGR, shape (height, width, 3), uint8: every label, and the tray's places where it shows a tray.

    Takes 50 to 400 ms for 1920 x 1080 on one core; holds no state, so any thread may call it. Raises PictureError for
    an array that is no picture.
    """
    if picture.dtype != np.uint8 or picture.ndim != _AXES or picture.shape[2] != _CHANNELS or picture.size == 0:
        raise PictureError("a picture is an array of uint8 with three channels")
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    marks = find_marks(grey)
    found = _find_lattice(marks)
    if len(marks) < _ENOUGH:
        marks = find_more_marks(grey, marks)
        found = _find_lattice(marks)
    if found is None:
        return Reading(loose_reads(_without_twins(marks)), (), None)
    rows, steps = found
    by_step = _look_at_gaps(grey, marks, rows, steps)
    starts = first_steps(rows, dict.fromkeys(by_step, True))
    if len(starts) != 1:
        return Reading(loose_reads(_without_twins(merge_marks([*marks, *by_step.values()]))), (), None)
    return _read_lattice(picture, grey, merge_marks([*by_step.values(), *marks]), settle(steps, starts[0]))


def _find_lattice(marks: tuple[Mark, ...]) -> tuple[Rows, Lattice] | None:
    plane = fit_plane(marks)
    if plane is None:
        return None
    centres = np.array([mark.centre for mark in marks])
    rows = find_rows(project(plane.to_plane, centres))
    steps = fit_steps(centres, rows) if rows is not None else None
    return (rows, steps) if rows is not None and steps is not None else None


def _look_at_gaps(grey: Picture, marks: tuple[Mark, ...], rows: Rows, steps: Lattice) -> dict[tuple[int, int], Mark]:
    """Give the label of each place, by row and step, after a closer look wherever a tile may lie that was not read."""
    by_step = {
        (int(row), int(step)): mark for mark, row, step in zip(marks, rows.row, rows.step, strict=True) if row >= 0
    }
    modules = usual_modules(marks)
    reach = _reach(steps)
    indents = (0, 1, 1) if rows.half else (0, 0, 0)
    gaps = {
        (row, col + start + indents[row])
        for start in first_steps(rows, dict.fromkeys(by_step, True))
        for row, col in places()
    } - set(by_step)
    for row, step in sorted(gaps):
        mark = look_closer(grey, steps.to_pixels, steps.spot(row, step), reach, modules)
        if mark is not None:
            by_step[row, step] = mark
    return by_step


def usual_modules(marks: tuple[Mark, ...]) -> tuple[int, ...]:
    """Give the size in modules that most labels have: a set's labels come off one sheet."""
    return (Counter(mark.modules for mark in marks).most_common(1)[0][0],)


def _reach(lattice: Lattice) -> tuple[float, float]:
    return lattice.pitch / 2, lattice.row_pitch / 2


def _read_lattice(picture: Picture, grey: Picture, marks: tuple[Mark, ...], lattice: Lattice) -> Reading:
    sound = _without_twins(marks)
    spots = project(inverse(lattice.to_pixels), np.array([mark.centre for mark, _ in sound]))
    sorted_marks = _sort_into_places(sound, spots, lattice)
    held = read_places(picture, grey, sorted_marks, lattice)
    inside = {id(entry.mark) for entry in sorted_marks.values()}
    strays = loose_reads(tuple(pair for pair in sound if id(pair[0]) not in inside))
    reads = tuple(place.read for place in held if place.read is not None)
    return Reading(reads + strays, held, lattice)


def _sort_into_places(
    sound: tuple[tuple[Mark, bool], ...], spots: Points, lattice: Lattice
) -> dict[tuple[int, int], Sorted]:
    """Give each place the label that lies nearest to where its label should be."""
    taken: dict[tuple[int, int], Sorted] = {}
    for (mark, doubtful), spot in zip(sound, spots, strict=True):
        for row, col in places():
            away = (spot - lattice.spot(row, col)) / [lattice.pitch, lattice.row_pitch]
            if float(np.abs(away).max()) < _OWN:
                taken.setdefault((row, col), Sorted(mark, spot, doubtful))
    return taken


def _without_twins(marks: tuple[Mark, ...]) -> tuple[tuple[Mark, bool], ...]:
    """Pair each label with whether it is doubtful: two tiles of one set cannot have one serial."""
    times = Counter(mark.payload for mark in marks)
    return tuple((mark, times[mark.payload] > 1) for mark in marks)
