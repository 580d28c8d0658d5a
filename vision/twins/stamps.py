"""What one tile looks like from straight above: drawn once, then stamped. Lengths in millimetres."""

from functools import lru_cache

import cv2
import numpy as np
import zxingcpp

from vision.geometry import Picture
from vision.payload import Payload, payload_text
from vision.twins.world import Laid

TILE = (22.0, 30.0)
SCALE = 5  # pixels a millimetre: a frame of 1600 pixels shows about as many, and three make a module
_MARK = 8.4  # side of the DataMatrix
_LABEL = (10.0, 13.0)
_BACKS = ((82, 128, 38), (128, 84, 40), (60, 60, 66), (96, 138, 92), (92, 168, 214))  # BGR; sets differ
_IVORY = (206, 226, 236)
_INKS = ((40, 40, 170), (60, 110, 30), (130, 50, 30))


def _pixels(length: float) -> int:
    return round(length * SCALE)


@lru_cache(maxsize=512)
def stamp(tile: Laid) -> Picture:
    """Draw a tile as it lies, BGR, upright in the tray, shape (150, 110, 3)."""
    drawn = _face(tile.serial) if tile.face_up else _back(Payload(tile.set, tile.serial))
    return np.asarray(cv2.rotate(drawn, cv2.ROTATE_180) if tile.upside_down else drawn, dtype=np.uint8)


def _blank(colour: tuple[int, int, int]) -> Picture:
    """Draw a tile's rounded top: a little darker towards its edge."""
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
    """Draw the sticker: DataMatrix above, small number below."""
    width, height = _pixels(_LABEL[0]), _pixels(_LABEL[1])
    label = np.full((height, width, 3), 238, dtype=np.uint8)
    barcode = zxingcpp.create_barcode(payload_text(payload), zxingcpp.BarcodeFormat.DataMatrix)
    code = np.array(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False))
    side = _pixels(_MARK)
    mark = cv2.resize(code, (side, side), interpolation=cv2.INTER_NEAREST)
    margin = (width - side) // 2
    label[margin : margin + side, margin : margin + side] = np.clip(mark, 28, 238)[:, :, None]
    cv2.putText(
        label,
        f"{payload.serial:03d}",
        (margin + 2, height - 4),
        cv2.FONT_HERSHEY_SIMPLEX,
        0.55,
        (28, 28, 28),
        1,
        cv2.LINE_AA,
    )
    return label


def _face(serial: int) -> Picture:
    """Draw a face of no particular tile: which face a serial has is secret, so any print will do."""
    drawn = _blank(_IVORY)
    height, width = drawn.shape[:2]
    rows = 2 + serial % 3
    for row in range(rows):
        for col in range(1 + (serial + row) % 2):
            at = (round(width * (0.36 + 0.28 * col)), round(height * (row + 0.75) / (rows + 0.5)))
            cv2.circle(drawn, at, 12, _INKS[(serial + row + col) % 3], -1, cv2.LINE_AA)
            cv2.circle(drawn, at, 6, _IVORY, 2, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(drawn, (0, 0), 0.5), dtype=np.uint8)
