"""Tile backs with labels, drawn independently with zxing and then degraded as by a bad camera."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import zxingcpp

from vision.geometry import UNIT_SQUARE, Picture, Quad
from vision.marks.label_code import Payload

TEXTS = {14: "HM1-{:02d}-{:03d}", 12: "HM{:02d}{:03d}", 10: "{:02d}{:03d}"}
_FINER = 3  # tiles are drawn this many times larger
_TALL = 1.36
_BACK = (96, 120, 60)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A label to draw: its text, its number of modules, and whether its tile's quad starts at the other end."""

    payload: Payload
    count: int = 14
    turned: bool = False


@cache
def barcode(text: str) -> Picture:
    """Draw a DataMatrix, one pixel per module."""
    drawn = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.DataMatrix)
    return np.array(zxingcpp.write_barcode_to_image(drawn, add_quiet_zones=False))


def lay(
    tiles: Sequence[Drawn | None], *, width: int = 110, across: int = 17, play: float = 0.02, seed: int = 0
) -> tuple[Picture, list[Quad]]:
    """Lay tiles in rows (None is a bare back), `width` pixels each; quads are off by up to `play` of the width."""
    chance = np.random.default_rng(seed)
    cell = np.array([width * 1.2, width * _TALL * 1.15])
    rows = -(-len(tiles) // across)
    size = np.ceil(cell * [min(across, len(tiles)), rows]).astype(int)
    picture = np.full((size[1], size[0], 3), (40, 52, 70), dtype=np.uint8)
    quads = []
    for place, tile in enumerate(tiles):
        corner = cell * [place % across, place // across] + cell / 2
        outline = _outline(corner, width, float(chance.uniform(-3, 3)))
        _put(picture, _back(tile, width * _FINER, chance), outline)
        given = outline + chance.uniform(-play, play, (4, 2)) * width
        quads.append(np.roll(given, 2, axis=0) if tile is not None and tile.turned else given)
    return picture, quads


def spoil(picture: Picture, *, blur: float = 0.0, noise: float = 0.0, glare: float = 0.0, seed: int = 0) -> Picture:
    """Blur a picture (pixels), add a bright reflection in the middle (levels), and add noise (levels)."""
    seen = cv2.GaussianBlur(picture, (0, 0), blur).astype(np.float32) if blur else picture.astype(np.float32)
    if glare:
        height, width = picture.shape[:2]
        down, right = np.mgrid[:height, :width]
        spot = np.exp(-(((down / height - 0.5) * 3) ** 2) - ((right / width - 0.5) * 3) ** 2)
        np.add(seen, (glare * spot)[:, :, None], out=seen)
    if noise:
        np.add(seen, np.random.default_rng(seed).normal(0, noise, seen.shape), out=seen)
    return np.asarray(np.clip(seen, 0, 255), dtype=np.uint8)


def _outline(centre: Quad, width: int, degrees: float) -> Quad:
    turn = np.radians(degrees)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return np.asarray((UNIT_SQUARE - 0.5) * [width, width * _TALL] @ spin + centre)


def _back(tile: Drawn | None, width: int, chance: np.random.Generator) -> Picture:
    back = np.full((round(width * _TALL), width, 3), _BACK, dtype=np.uint8)
    if tile is None:
        return back
    sticker = np.full((round(width * 0.56), round(width * 0.46), 3), 238, dtype=np.uint8)
    side = round(width * 0.38)
    code = barcode(TEXTS[tile.count].format(tile.payload.set, tile.payload.serial))
    mark = cv2.resize(code, (side, side), interpolation=cv2.INTER_NEAREST)
    margin = (sticker.shape[1] - side) // 2
    sticker[margin : margin + side, margin : margin + side] = np.clip(mark, 30, 238)[:, :, None]
    number = ((margin, sticker.shape[0] - margin // 2), cv2.FONT_HERSHEY_SIMPLEX, width / 300, (30, 30, 30), 2)
    cv2.putText(sticker, f"{tile.payload.serial:03d}", *number, cv2.LINE_AA)
    at = (np.array([0.27, 0.34]) + chance.uniform(-0.03, 0.03, 2)) * width
    turn = cv2.getRotationMatrix2D((sticker.shape[1] / 2, sticker.shape[0] / 2), float(chance.uniform(-2.5, 2.5)), 1.0)
    turn = turn + np.column_stack([np.zeros((2, 2)), at])
    cv2.warpAffine(sticker, turn, back.shape[1::-1], back, borderMode=cv2.BORDER_TRANSPARENT)
    return back


def _put(picture: Picture, back: Picture, outline: Quad) -> None:
    """Draw a back into its part of the picture."""
    left, top = np.maximum(np.floor(outline.min(axis=0)), 0).astype(int)
    right, bottom = np.ceil(outline.max(axis=0)).astype(int)
    piece = picture[top:bottom, left:right]
    soft = cv2.GaussianBlur(back, (0, 0), _FINER / 2)
    square = UNIT_SQUARE * [back.shape[1], back.shape[0]] - 0.5
    chain = cv2.getPerspectiveTransform(square.astype(np.float32), (outline - [left, top] - 0.5).astype(np.float32))
    warped = piece.copy()
    cv2.warpPerspective(soft, chain, piece.shape[1::-1], warped, borderMode=cv2.BORDER_TRANSPARENT)
    piece[:] = warped
