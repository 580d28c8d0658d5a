"""Run the finder's two networks, `vision/models/finder.onnx` and `closeup.onnx`, through OpenCV's dnn."""

import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture

_MODELS = Path(__file__).parent.parent / "models"
FINDER = _MODELS / "finder.onnx"
CLOSEUP = _MODELS / "closeup.onnx"
CELL = 4  # pixels a side of the network's cells
_MULTIPLE = 16  # its deepest layer is as many times smaller than the picture
MIDDLE = 128.0  # of the grey levels; the networks were trained on (grey - 128) / 128

# A cv2.dnn network keeps the last picture's layers: one call at a time.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """What the network says of each cell, shape (rows, columns) each, the frames (9, rows, columns)."""

    back: NDArray[np.float32]  # 0..1: the middle part of a tile that shows its back
    face: NDArray[np.float32]
    hand: NDArray[np.float32]
    frames: NDArray[np.float32]  # see `frames.py`; meaningful where a tile's middle is


@cache
def _network(model: Path) -> cv2.dnn.Net:
    return cv2.dnn.readNetFromONNX(str(model), cv2.dnn.ENGINE_CLASSIC)  # twice as fast here as the new engine


def run(model: Path, blob: cv2.typing.MatLike) -> NDArray[np.float32]:
    """Give a network's answer to a blob, shape (n, 3, height, width)."""
    with _ONE_AT_A_TIME:
        network = _network(model)
        network.setInput(blob)
        return np.array(network.forward(), dtype=np.float32)


def look(picture: Picture) -> Maps:
    """Look at a BGR picture as it is; tiles from 12 to 70 pixels wide are seen."""
    height, width = picture.shape[:2]
    padded = cv2.copyMakeBorder(
        picture, 0, -height % _MULTIPLE, 0, -width % _MULTIPLE, cv2.BORDER_CONSTANT, value=(MIDDLE,) * 3
    )
    blob = cv2.dnn.blobFromImage(padded, 1 / MIDDLE, mean=(MIDDLE,) * 3)
    answer = run(FINDER, blob)[0]
    answer = answer[:, : -(-height // CELL), : -(-width // CELL)]
    back, face, hand = 1 / (1 + np.exp(-np.clip(answer[:3], -30, 30)))
    return Maps(back, face, hand, answer[3:])
