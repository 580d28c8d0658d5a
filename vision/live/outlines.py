"""Where tiles lie in a picture, read or not: what the measurements of a mounted camera start from."""

import numpy as np

from vision.geometry import Picture, Quad
from vision.reader import read_picture


def outlines(picture: Picture) -> tuple[Quad, ...]:
    """Give the quads, shape (4, 2), pixels, of the tiles that are seen; corners 0-1 and 2-3 are the short ends."""
    return tuple(np.array(read.quad) for read in read_picture(picture).reads)
