"""From a picture to what `set check` counts: the one place that asks the reader."""

from collections import Counter
from pathlib import Path

import cv2
import numpy as np

from vision.geometry import Picture
from vision.marks import find_marks
from vision.picture import load_picture
from vision.reader import read_tray
from vision.sheets.completeness import Look, Tile


def look_at(path: Path) -> Look:
    """Read a picture of any part of a set. Raises PictureError."""
    picture = load_picture(path)
    reads = read_tray(picture).reads
    twins = _twins(picture)
    tiles = tuple(Tile(read.set, read.serial) for read in reads if read.serial is not None)
    unread = sum(read.serial is None and not read.face_up for read in reads)
    return Look(tiles + twins, max(0, unread - len(twins)), sum(read.face_up for read in reads))


def _twins(picture: Picture) -> tuple[Tile, ...]:
    """Give the labels that are there more than once: the reader takes two of one serial for two that it cannot read."""
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    times = Counter(mark.payload for mark in find_marks(grey))
    return tuple(
        Tile(payload.set_text, payload.serial) for payload, count in times.items() if count > 1 for _ in range(count)
    )
