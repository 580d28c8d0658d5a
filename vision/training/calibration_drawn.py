"""Reads of freshly drawn crops, through the shipped network exactly as at the table."""

import multiprocessing
from typing import Final

import cv2
import numpy as np

from vision.marks.digits import conclude, look_twice
from vision.marks.signs import NUMBER
from vision.payload import LAST_SERIAL
from vision.training.calibration import Reads
from vision.training.crops import Crop, draw_crops

_SEED: Final = 31  # not the training's: no crop is one that the network has learnt from
_CHUNK: Final = 500

Row = tuple[int | None, float, int, bool]


def read_drawn(count: int, processes: int) -> Reads:
    """Draw at least `count` crops and read them; numbers that are no serials are left out, as no tile has one."""
    chunks = range(-(-count // _CHUNK))
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return Reads.of(row for rows in pool.imap(_read_chunk, chunks) for row in rows)


def _read_chunk(number: int) -> list[Row]:
    cv2.setNumThreads(1)
    chance = np.random.default_rng([_SEED, number])
    rows: list[Row] = []
    while len(rows) < _CHUNK:
        crops = draw_crops(chance)
        if crops and 0 < _number(crops[0]) <= LAST_SERIAL:
            rows += _read(crops)
    return rows


def _read(crops: list[Crop]) -> list[Row]:
    pixels = np.array([crop.pixels for crop in crops])
    marks = [conclude(look) for look in look_twice(pixels)]
    return [
        (mark.serial, mark.confidence, _number(crop), crop.kind == NUMBER)
        for crop, mark in zip(crops, marks, strict=True)
    ]


def _number(crop: Crop) -> int:
    hundreds, tens, ones = crop.digits
    return 100 * hundreds + 10 * tens + ones
