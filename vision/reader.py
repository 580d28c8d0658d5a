"""The room's public face: a picture in, a reading out. The stages run in order, values go one way."""

import numpy as np

from vision.again import look_again
from vision.errors import PictureError
from vision.finder.find import find_tiles
from vision.geometry import Picture
from vision.layout.layout import lay_out
from vision.layout.reads import to_reading
from vision.layout.upright import neighbour_odds, spot_odds
from vision.layout.values import Layout
from vision.marks.decide import Marks, is_sure, only_sure, stand, without_doubles, without_twins
from vision.marks.read import read_marks
from vision.reading import Reading
from vision.sight import Found

_AXES, _CHANNELS = 3, 3
_ENOUGH = np.log(100)  # odds from which it is told which way up a number stands that reads both ways


def read_picture(picture: Picture) -> Reading:
    """Read a picture, BGR, shape (height, width, 3), uint8: every tile in it, and where it lies in its tray.

    Only the picture is asked: no deal helps a read. Holds no state, so any thread may call it. Raises PictureError for
    an array that is no picture.
    """
    if picture.dtype != np.uint8 or picture.ndim != _AXES or picture.shape[2] != _CHANNELS or picture.size == 0:
        raise PictureError("a picture is an array of uint8 with three channels")
    found, marks = without_doubles(*read_marks(picture, find_tiles(picture)))
    marks = only_sure(marks)
    layout = lay_out(picture, found, marks)
    if _leaves_doubt(marks, layout) and (again := look_again(picture, found, marks, layout)):
        found, marks = without_doubles(*again)
        layout = lay_out(picture, found, marks)
    settled = without_twins(_stood_up(found, marks, layout), [lie.strange for lie in layout.lies])
    if any(mark is not None and mark.either is not None for mark in marks):
        layout = lay_out(picture, found, settled)
    return to_reading(found, settled, layout)


def _leaves_doubt(marks: Marks, layout: Layout) -> bool:
    """Tell whether a tray has tiles that were not read or seem to lie askew."""
    return any(
        lie.row is not None and (lie.sideways or not is_sure(mark))
        for lie, mark in zip(layout.lies, marks, strict=True)
    )


def _stood_up(found: Found, marks: Marks, layout: Layout) -> Marks:
    """Decide numbers that read both ways up (060, 090) by their tray and by where marks sit on tiles, or leave them."""
    settled = list(marks)
    for number, mark in enumerate(marks):
        if mark is None or mark.either is None:
            continue
        as_laid = bool((layout.lies[number].quad[0] != found.tiles[number].quad[0]).any())
        trial = stand(mark, turned=as_laid)
        odds = neighbour_odds(number, layout, marks) + spot_odds(number, (*marks[:number], trial, *marks[number + 1 :]))
        if abs(odds) > _ENOUGH:
            settled[number] = trial if odds > 0 else stand(mark, turned=not as_laid)
    return tuple(settled)
