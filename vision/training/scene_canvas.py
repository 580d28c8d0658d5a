"""The picture while it is painted, and beside it what each of its pixels belongs to."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points, Quad
from vision.training.scene_colours import Colour

_SUBPIXEL = 4  # bits of a pixel's fraction that OpenCV draws with


class Canvas:
    """BGR picture, tile numbers (0: none), gloss and hands, all of one size (width, height)."""

    def __init__(self, ground: Picture) -> None:
        self.picture: Picture = ground
        self.tiles: Picture = np.zeros(ground.shape[:2], np.uint8)
        self.cores: Picture = np.zeros(ground.shape[:2], np.uint8)
        self.gloss: Picture = np.zeros(ground.shape[:2], np.uint8)
        self.hands: Picture = np.zeros(ground.shape[:2], np.uint8)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.picture.shape[1], self.picture.shape[0]

    def fill(self, outline: Points, colour: Colour, gloss: int = 0) -> None:
        """Paint a convex outline that is no tile's top."""
        corners = _fixed(outline)
        cv2.fillConvexPoly(self.picture, corners, colour.tolist(), cv2.LINE_AA, _SUBPIXEL)
        cv2.fillConvexPoly(self.tiles, corners, 0, cv2.LINE_8, _SUBPIXEL)
        cv2.fillConvexPoly(self.gloss, corners, gloss, cv2.LINE_8, _SUBPIXEL)

    def paste(self, art: Picture, cover: Picture, quad: Quad, gloss: int = 0) -> None:
        """Paint flat art, as far as `cover` (0..255) says, into a quad (top-left, top-right, ...)."""
        left, top = np.maximum(np.floor(quad.min(axis=0)) - 1, 0).astype(int)
        right, low = np.minimum(np.ceil(quad.max(axis=0)).astype(int) + 1, self.size)
        if right <= left or low <= top:
            return
        height, width = art.shape[:2]
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5
        way = cv2.getPerspectiveTransform(corners, (quad - [left + 0.5, top + 0.5]).astype(np.float32))
        room = (int(right - left), int(low - top))
        seen = cv2.warpPerspective(art, way, room, borderMode=cv2.BORDER_REPLICATE)
        alpha = cv2.warpPerspective(cover, way, room)[:, :, None].astype(np.uint16)
        part = self.picture[top:low, left:right]
        part[:] = (part * (255 - alpha) + seen * alpha + 127) // 255
        cv2.fillConvexPoly(self.gloss, _fixed(quad), gloss, cv2.LINE_8, _SUBPIXEL)

    def claim(self, number: int, quad: Quad, core: Quad) -> None:
        """Note that a tile's top lies in a quad, and where its core is."""
        cv2.fillConvexPoly(self.tiles, _fixed(quad), number, cv2.LINE_8, _SUBPIXEL)
        cv2.fillConvexPoly(self.cores, _fixed(core), number, cv2.LINE_8, _SUBPIXEL)


def _fixed(outline: Points) -> NDArray[np.int32]:
    # OpenCV draws about the middles of pixels; coordinates count from their corners.
    return np.round((np.clip(outline, -4000, 4000) - 0.5) * (1 << _SUBPIXEL)).astype(np.int32)
