"""Draw the simulated table from straight above: felt, tray, tiles with shadows, a hand. Lengths are in millimetres."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import ceil, hypot

import cv2
import numpy as np
import zxingcpp

from vision.geometry import Picture, Points
from vision.marks.label_code import Payload, payload_text
from vision.sim.table import CameraView, LooseTile, SimulatedTile

TILE = (22.0, 30.0)
SCALE = 5  # pixels per millimetre: about the scale of a frame 1600 pixels wide; a module has three pixels
_MARK = 8.4  # side of the DataMatrix
_LABEL = (10.0, 13.0)
_BACKS = ((82, 128, 38), (128, 84, 40), (60, 60, 66), (96, 138, 92), (92, 168, 214))  # BGR, by set
_IVORY = (206, 226, 236)
_INKS = ((40, 40, 170), (60, 110, 30), (130, 50, 30))


def _pixels(length: float) -> int:
    return round(length * SCALE)


@lru_cache(maxsize=512)
def tile_stamp(tile: SimulatedTile) -> Picture:
    """Draw a tile, BGR, as it lies in an upright tray, shape (150, 110, 3)."""
    drawn = _face(tile.serial) if tile.face_up else _back(Payload(tile.set, tile.serial))
    return np.asarray(cv2.rotate(drawn, cv2.ROTATE_180) if tile.upside_down else drawn, dtype=np.uint8)


def _blank(colour: tuple[int, int, int]) -> Picture:
    """Draw the rounded top of a tile, darker towards its edge."""
    width, height = _pixels(TILE[0]), _pixels(TILE[1])
    drawn = np.full((height, width, 3), colour, dtype=np.uint8)
    for inset, shade in ((0, 0.72), (2, 0.88), (4, 1.06)):
        box = ((inset, inset), (width - 1 - inset, height - 1 - inset))
        cv2.rectangle(drawn, *box, [min(255.0, shade * part) for part in colour], 2)
    return drawn


def _back(payload: Payload) -> Picture:
    drawn = _blank(_BACKS[payload.set % len(_BACKS)])
    label = _label(payload)
    top = _pixels(5.5)
    left = (drawn.shape[1] - label.shape[1]) // 2
    drawn[top : top + label.shape[0], left : left + label.shape[1]] = label
    return np.asarray(cv2.GaussianBlur(drawn, (0, 0), 0.5), dtype=np.uint8)


def _label(payload: Payload) -> Picture:
    """Draw the label: DataMatrix above, small number below."""
    width, height = _pixels(_LABEL[0]), _pixels(_LABEL[1])
    label = np.full((height, width, 3), 238, dtype=np.uint8)
    barcode = zxingcpp.create_barcode(payload_text(payload), zxingcpp.BarcodeFormat.DataMatrix)
    code = np.array(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False))
    side = _pixels(_MARK)
    mark = cv2.resize(code, (side, side), interpolation=cv2.INTER_NEAREST)
    margin = (width - side) // 2
    label[margin : margin + side, margin : margin + side] = np.clip(mark, 28, 238)[:, :, None]
    text, foot = f"{payload.serial:03d}", (margin + 2, height - 4)
    cv2.putText(label, text, foot, cv2.FONT_HERSHEY_SIMPLEX, 0.55, (28, 28, 28), 1, cv2.LINE_AA)
    return label


def _face(serial: int) -> Picture:
    """Draw a face that is not a real one: the faces of serials are secret, so any print will do."""
    drawn = _blank(_IVORY)
    height, width = drawn.shape[:2]
    rows = 2 + serial % 3
    for row in range(rows):
        for col in range(1 + (serial + row) % 2):
            at = (round(width * (0.36 + 0.28 * col)), round(height * (row + 0.75) / (rows + 0.5)))
            cv2.circle(drawn, at, 12, _INKS[(serial + row + col) % 3], -1, cv2.LINE_AA)
            cv2.circle(drawn, at, 6, _IVORY, 2, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(drawn, (0, 0), 0.5), dtype=np.uint8)


_GROUP_GAP = 36.0
_LEFT_EDGE, _RIGHT_EDGE = 24.0, 356.0  # edges of the part of the table that the camera sees
_FIRST_ROW = 52.0
_ROW_PITCH = TILE[1] + 14.0
_TILE_GAP = 0.8  # between two tiles of a group
_TURNS = (0.7, -1.1, 0.2, -0.4)  # degrees, as nobody lays tiles quite straight


def lay_hand(
    groups: Sequence[Sequence[SimulatedTile]], under: Sequence[Sequence[SimulatedTile]] = ()
) -> tuple[LooseTile, ...]:
    """Return the position of each tile of a hand; a group without room in its row starts the next one.

    `under`: groups in a separate row below the hand, like dora indicators.
    """
    hand = (*_loose_tile(groups, _FIRST_ROW),)
    return (*hand, *_loose_tile(under, max((loose.at[1] for loose in hand), default=_FIRST_ROW) + _ROW_PITCH))


def _loose_tile(groups: Sequence[Sequence[SimulatedTile]], y: float) -> Iterator[LooseTile]:
    x = _LEFT_EDGE
    for group in groups:
        if x + len(group) * (TILE[0] + _TILE_GAP) > _RIGHT_EDGE:
            x, y = _LEFT_EDGE, y + _ROW_PITCH
        for tile in group:
            yield LooseTile(tile, (x + TILE[0] / 2, y), _TURNS[tile.serial % len(_TURNS)])
            x += TILE[0] + _TILE_GAP
        x += _GROUP_GAP


_RIVER_AT = (110.0, 24.0)  # middle of a river's first tile
_RIVER_PITCH = (TILE[0] + 1.0, TILE[1] + 1.5)


def lay_river(tiles: Sequence[SimulatedTile | None], in_row: int = 6) -> tuple[LooseTile, ...]:
    """Return the position of each tile of a river, row by row; None is the gap of a claimed tile."""
    return tuple(
        LooseTile(
            tile,
            (_RIVER_AT[0] + at % in_row * _RIVER_PITCH[0], _RIVER_AT[1] + at // in_row * _RIVER_PITCH[1]),
            _TURNS[tile.serial % len(_TURNS)],
        )
        for at, tile in enumerate(tiles)
        if tile is not None
    )


GAP = (1.2, 4.5)  # between tiles of a row, between rows
MARGIN = (12.0, 14.0)  # tray rim to first tile
TABLE_SIZE = (380.0, 190.0)
TRAY_SIZE = (13 * (TILE[0] + GAP[0]) + 2 * MARGIN[0], 3 * (TILE[1] + GAP[1]) + 2 * MARGIN[1])
_ORIGIN = ((TABLE_SIZE[0] - TRAY_SIZE[0]) / 2 + MARGIN[0], (TABLE_SIZE[1] - TRAY_SIZE[1]) / 2 + MARGIN[1])
_FELT, _RIM, _FLOOR, _SKIN = (58, 72, 34), (38, 58, 84), (70, 98, 128), (142, 172, 222)
_STRAIGHT = 5.0  # degrees; a tile turned by more needs a larger piece of the scene
_PLAY = (0.5, 0.7, 1.2)  # most that tiles lie off their places: mm right, mm down, degrees


def draw_table(view: CameraView, seed: int) -> Picture:
    """Draw the table with everything on it, BGR, at `SCALE` pixels per millimetre."""
    chance = np.random.default_rng(seed)
    scene = _table(seed, tray=not view.loose).copy()
    for loose in view.loose:
        _put(scene, loose.tile, np.array(loose.at), loose.turn)
    for row, places in enumerate(view.rows):
        for col, tile in enumerate(places):
            play = chance.uniform(-1, 1, 3) * _PLAY  # drawn for empty places, too, so that the others do not move
            if tile is not None:
                _put(scene, tile, _middle(row, col) + play[:2], float(play[2]))
    if view.covered:
        _draw_hand(scene, view.hand_at)
    return scene


def _middle(row: int, col: int) -> Points:
    """Return the middle of a place, mm."""
    return np.array(
        [_ORIGIN[0] + col * (TILE[0] + GAP[0]) + TILE[0] / 2, _ORIGIN[1] + row * (TILE[1] + GAP[1]) + TILE[1] / 2]
    )


@lru_cache(maxsize=4)
def _table(seed: int, *, tray: bool) -> Picture:
    width, height = round(TABLE_SIZE[0] * SCALE), round(TABLE_SIZE[1] * SCALE)
    # Grain is drawn at a quarter of the size, at a sixteenth of the cost: felt and wood are no finer.
    grain = np.random.default_rng(seed).normal(0, 7, (height // 4, width // 4)).astype(np.float32)
    soft = cv2.resize(cv2.GaussianBlur(grain, (0, 0), 1.0), (width, height))
    flat = np.full((height, width, 3), _FELT, dtype=np.float32)
    left, top = ((TABLE_SIZE[0] - TRAY_SIZE[0]) / 2, (TABLE_SIZE[1] - TRAY_SIZE[1]) / 2)
    for inset, colour in ((0.0, _RIM), (7.0, _FLOOR)) if tray else ():
        corner = (round((left + inset) * SCALE), round((top + inset) * SCALE))
        other = (round((left + TRAY_SIZE[0] - inset) * SCALE), round((top + TRAY_SIZE[1] - inset) * SCALE))
        cv2.rectangle(flat, corner, other, colour, -1)
    return np.asarray(np.clip(flat + soft[:, :, None], 0, 255), dtype=np.uint8)


def _put(scene: Picture, tile: SimulatedTile, middle: Points, turn: float) -> None:
    """Draw one tile with its front side and shadow; only the piece of the scene around it is changed."""
    drawn = tile_stamp(tile)
    height, width = drawn.shape[:2]
    diagonal = ceil(hypot(width, height))  # side of a square in which a tile fits at any angle
    reach = np.array([width, height] if abs(turn) < _STRAIGHT else [diagonal, diagonal]) // 2 + 18
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


def _draw_hand(scene: Picture, at: float) -> None:
    """Draw a forearm from the player's side with a hand that reaches row 0, `at` a share of the table's width."""
    points = np.array(
        [[0.40, 1.0], [0.42, 0.6], [0.38, 0.42], [0.40, 0.26], [0.55, 0.24], [0.58, 0.45], [0.55, 0.62], [0.56, 1.0]]
    )
    points = (points + np.array([at - 0.5, 0.0])) * [scene.shape[1], scene.shape[0]]
    cv2.fillPoly(scene, [np.round(points).astype(np.int32)], _SKIN, cv2.LINE_AA)
