"""Run the trained networks of `vision/models` with ONNX Runtime, in half the time that OpenCV's module takes.

Sessions are thread-safe.
"""

import os
from functools import cache
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from vision.geometry import Picture

MODELS = Path(__file__).parent / "models"
_SOFT, _MOST = 2.0, 5.0  # levels added to the contrast, so that noise alone is not amplified; largest output value
_LEVELS = np.arange(256.0)  # all pixel values, far fewer than there are pixels: each value is normalised once
_MOST_THREADS = 4  # the cores of a Pi; more save no time on networks this small

Name = Literal["finder", "closeup", "digits", "lines"]


@cache
def _session(name: Name) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(os.cpu_count() or 1, _MOST_THREADS)
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # leaves idle cores to the screen
    return onnxruntime.InferenceSession(MODELS / f"{name}.onnx", options, providers=["CPUExecutionProvider"])


def run_network(name: Name, pictures: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
    """Return a network's outputs, one array each, for pictures of shape (n, 3, height, width)."""
    session = _session(name)
    return tuple(np.asarray(output) for output in session.run(None, {session.get_inputs()[0].name: pictures}))


def normalise_contrast(pictures: Picture, inner: tuple[slice, slice]) -> NDArray[np.float32]:
    """Normalise pictures, shape (n, height, width, 3), so that their `inner` parts have equal colour and contrast.

    Return shape (n, 3, height, width).
    """
    parts = (np.ascontiguousarray(picture[inner]) for picture in pictures)
    moments = np.array([cv2.meanStdDev(part) for part in parts]).reshape(-1, 2, 3, 1)
    middles, spreads = moments[:, 0], moments[:, 1].mean(axis=1, keepdims=True) + _SOFT
    levels = np.clip((_LEVELS - middles).astype(np.float32) / spreads.astype(np.float32), -_MOST, _MOST)
    normalised = np.empty((len(pictures), 3, *pictures.shape[1:3]), dtype=np.float32)
    for picture, tables, planes in zip(pictures, levels, normalised, strict=True):
        for channel, table, plane in zip(cv2.split(picture), tables, planes, strict=True):
            cv2.LUT(channel, table, plane)
    return normalised
