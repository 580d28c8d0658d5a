"""The room's public face: a picture in, a reading out. The stages run in order, values go one way."""

import numpy as np

from vision.again import look_again
from vision.errors import PictureError
from vision.finder.find import find_tiles
from vision.geometry import Picture
from vision.layout.layout import lay_out
from vision.layout.reads import to_reading
from vision.layout.values import Layout
from vision.marks.decide import Marks, is_sure, only_sure, without_doubles, without_twins
from vision.marks.read import read_marks
from vision.reading import Reading
from vision.torn import decide_torn

_AXES, _CHANNELS = 3, 3


def read_picture(picture: Picture, *, close: bool = True) -> Reading:
    """Read a picture, BGR, shape (height, width, 3), uint8: every tile in it, and where it lies in its tray.

    Only the picture is asked: no deal helps a read. Holds no state, so any thread may call it. `close`: whether single
    tiles may fill the picture. Raises PictureError for an array that is no picture.
    """
    if picture.dtype != np.uint8 or picture.ndim != _AXES or picture.shape[2] != _CHANNELS or picture.size == 0:
        raise PictureError("a picture is an array of uint8 with three channels")
    found, said = without_doubles(*read_marks(picture, find_tiles(picture, close=close)))
    marks = only_sure(said)
    layout = lay_out(picture, found, marks)
    if _leaves_doubt(marks, layout) and (again := look_again(picture, found, said, layout)):
        found, said = without_doubles(*again)
        marks = only_sure(said)
        layout = lay_out(picture, found, marks)
    upright = decide_torn(picture, found, marks, layout)
    settled = without_twins(upright, [lie.strange for lie in layout.lies])
    if upright != marks:
        layout = lay_out(picture, found, settled)
    return to_reading(found, settled, layout)


def _leaves_doubt(marks: Marks, layout: Layout) -> bool:
    """Tell whether there are backs that were not read, or faces or tiles askew in a tray."""
    return any(
        (mark is not None and not is_sure(mark)) or (lie.row is not None and (mark is None or lie.sideways))
        for lie, mark in zip(layout.lies, marks, strict=True)
    )
