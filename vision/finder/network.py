"""Ask the finder's first network, `vision/models/finder.onnx`, what is in each cell of a picture."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture
from vision.networks import run

CELL = 4  # pixels a side of the network's cells
_MULTIPLE = 16  # its deepest layer is as many times smaller than the picture
MIDDLE = 128.0  # of the grey levels; the networks were trained on (grey - 128) / 128


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """What the network says of each cell, shape (rows, columns) each, the frames (9, rows, columns)."""

    back: NDArray[np.float32]  # 0..1: the middle part of a tile that shows its back
    face: NDArray[np.float32]
    hand: NDArray[np.float32]
    frames: NDArray[np.float32]  # see `frames.py`; meaningful where a tile's middle is


def as_blob(pictures: Picture) -> NDArray[np.float32]:
    """Give BGR pictures, shape (n, height, width, 3), as the finder's networks take them."""
    return np.ascontiguousarray((pictures.transpose(0, 3, 1, 2) - np.float32(MIDDLE)) / np.float32(MIDDLE))


def look(picture: Picture) -> Maps:
    """Look at a BGR picture as it is; tiles from 12 to 70 pixels wide are seen."""
    height, width = picture.shape[:2]
    padded = cv2.copyMakeBorder(
        picture, 0, -height % _MULTIPLE, 0, -width % _MULTIPLE, cv2.BORDER_CONSTANT, value=(MIDDLE,) * 3
    )
    blob = as_blob(np.asarray(padded, dtype=np.uint8)[None])
    answer = run("finder", blob)[0][0]
    answer = answer[:, : -(-height // CELL), : -(-width // CELL)]
    back, face, hand = 1 / (1 + np.exp(-np.clip(answer[:3], -30, 30)))
    return Maps(back, face, hand, answer[3:])
