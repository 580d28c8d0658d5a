"""The table from straight above: felt, tray, tiles with their shadows, a hand. Lengths in millimetres."""

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points
from vision.twins.stamps import SCALE, TILE, stamp
from vision.twins.world import Laid, View

GAP = (1.2, 4.5)  # between tiles of a row, between rows
MARGIN = (12.0, 14.0)  # tray rim to first tile
TABLE = (380.0, 190.0)
TRAY = (13 * (TILE[0] + GAP[0]) + 2 * MARGIN[0], 3 * (TILE[1] + GAP[1]) + 2 * MARGIN[1])
_ORIGIN = ((TABLE[0] - TRAY[0]) / 2 + MARGIN[0], (TABLE[1] - TRAY[1]) / 2 + MARGIN[1])
_FELT, _RIM, _FLOOR, _SKIN = (58, 72, 34), (38, 58, 84), (70, 98, 128), (142, 172, 222)
_STRAIGHT = 5.0  # degrees; what is turned more needs more room about it
_PLAY = (0.5, 0.7, 1.2)  # how far tiles lie off their places: mm right, mm down, degrees


def draw_scene(view: View, seed: int) -> Picture:
    """Draw what lies on the table, BGR, `SCALE` pixels a millimetre of TABLE."""
    chance = np.random.default_rng(seed)
    scene = _table(seed, tray=not view.loose).copy()
    for loose in view.loose:
        _put(scene, loose.tile, np.array(loose.at), loose.turn)
    for row, places in enumerate(view.rows):
        for col, tile in enumerate(places):
            play = chance.uniform(-1, 1, 3) * _PLAY  # drawn for empty places too: the others stay where they are
            if tile is not None:
                _put(scene, tile, _middle(row, col) + play[:2], float(play[2]))
    if view.covered:
        _draw_hand(scene, view.hand_at)
    return scene


def _middle(row: int, col: int) -> Points:
    """Give the middle of a place, mm."""
    return np.array(
        [_ORIGIN[0] + col * (TILE[0] + GAP[0]) + TILE[0] / 2, _ORIGIN[1] + row * (TILE[1] + GAP[1]) + TILE[1] / 2]
    )


@lru_cache(maxsize=4)
def _table(seed: int, *, tray: bool) -> Picture:
    width, height = round(TABLE[0] * SCALE), round(TABLE[1] * SCALE)
    # Grain is drawn at a quarter of the size: felt and wood are not finer, and it costs a sixteenth.
    grain = np.random.default_rng(seed).normal(0, 7, (height // 4, width // 4)).astype(np.float32)
    soft = cv2.resize(cv2.GaussianBlur(grain, (0, 0), 1.0), (width, height))
    flat = np.full((height, width, 3), _FELT, dtype=np.float32)
    left, top = ((TABLE[0] - TRAY[0]) / 2, (TABLE[1] - TRAY[1]) / 2)
    for inset, colour in ((0.0, _RIM), (7.0, _FLOOR)) if tray else ():
        corner = (round((left + inset) * SCALE), round((top + inset) * SCALE))
        other = (round((left + TRAY[0] - inset) * SCALE), round((top + TRAY[1] - inset) * SCALE))
        cv2.rectangle(flat, corner, other, colour, -1)
    return np.asarray(np.clip(flat + soft[:, :, None], 0, 255), dtype=np.uint8)


def _put(scene: Picture, tile: Laid, middle: Points, turn: float) -> None:
    """Stamp one tile with its front side and shadow; only the piece of the scene about it is touched."""
    drawn = stamp(tile)
    height, width = drawn.shape[:2]
    reach = (np.array([width, height]) if abs(turn) < _STRAIGHT else _diagonal(width, height)) // 2 + 18
    corner = np.round(middle * SCALE).astype(int) - reach
    piece = scene[corner[1] : corner[1] + 2 * reach[1], corner[0] : corner[0] + 2 * reach[0]]
    size = (int(2 * reach[0]), int(2 * reach[1]))
    spin = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -turn, 1.0)
    spin += np.array([[0.0, 0.0, reach[0] - width / 2], [0.0, 0.0, reach[1] - height / 2]])
    mask = cv2.warpAffine(np.full((height, width), 255, dtype=np.uint8), spin, size)
    shadow = cv2.blur(np.roll(mask, (9, 4), axis=(0, 1)), (9, 9))
    piece[:] = (piece * (1 - shadow[:, :, None] * np.float32(0.6 / 255))).astype(np.uint8)
    side = np.roll(mask, 6, axis=0) > 0
    piece[side] = (150, 170, 180)
    top = cv2.warpAffine(drawn, spin, size, borderMode=cv2.BORDER_REPLICATE)
    inside = mask > 0
    piece[inside] = top[inside]


def _diagonal(width: int, height: int) -> NDArray[np.int_]:
    """Give the sides of a square in which a tile has room however it is turned."""
    return np.full(2, int(np.ceil(np.hypot(width, height))))


def _draw_hand(scene: Picture, at: float) -> None:
    """Draw a forearm from the player's side and a hand that ends on row 0, `at` a share of the table's width."""
    points = np.array(
        [[0.40, 1.0], [0.42, 0.6], [0.38, 0.42], [0.40, 0.26], [0.55, 0.24], [0.58, 0.45], [0.55, 0.62], [0.56, 1.0]]
    )
    points = (points + np.array([at - 0.5, 0.0])) * [scene.shape[1], scene.shape[0]]
    cv2.fillPoly(scene, [np.round(points).astype(np.int32)], _SKIN, cv2.LINE_AA)
