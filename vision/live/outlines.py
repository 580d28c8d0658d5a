"""Where tiles lie in a picture, read or not: what the measurements of a mounted camera start from."""

import numpy as np

from vision.geometry import Picture, Quad
from vision.reader import read_picture
from vision.reading import State


def outlines(picture: Picture) -> tuple[Quad, ...]:
    """Give the quads, shape (4, 2), pixels, of the tiles that are seen; corners 0-1 and 2-3 are the short ends.

    In a tray those of its places: they follow from all its tiles together, which is surer than each tile's own.
    """
    reading = read_picture(picture)
    held = [place.quad for place in reading.places if place.state is State.BACK and place.quad is not None]
    return tuple(np.array(quad) for quad in held or [read.quad for read in reading.reads])
