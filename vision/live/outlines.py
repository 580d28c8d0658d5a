"""Where tiles lie in a picture, read or not: what the measurements of a mounted camera start from."""

from vision.finder.find import find_tiles
from vision.geometry import Picture, Quad


def outlines(picture: Picture) -> tuple[Quad, ...]:
    """Give the quads, shape (4, 2), pixels, of the tiles that are seen; corners 0-1 and 2-3 are the short ends."""
    return tuple(tile.quad for tile in find_tiles(picture).tiles)
