"""Our reader: whole pictures as with `homologue read`, and marks alone along the tiles' true corners."""

import numpy as np

from tests.benchmarks.vision.contest import ALL, LABELS, Contestant
from tests.benchmarks.vision.judging import Told
from tests.benchmarks.vision.scenes import Scene
from vision.marks.digits import read_digits
from vision.marks.label import read_labels
from vision.marks.read import withhold_repeated_serials, withhold_unsure
from vision.reader import read_picture


def contestants() -> list[Contestant]:
    """Return our two contestants."""
    return [
        Contestant("ours", ALL, _whole, ours=True),
        Contestant("ours, marks alone", ALL, _crops, on_crops=True, ours=True),
    ]


def _whole(scene: Scene) -> list[Told]:
    reads = read_picture(scene.picture).reads
    return [Told(read.serial, np.mean(read.quad, axis=0)) for read in reads if read.serial is not None]


def _crops(scene: Scene) -> list[Told]:
    """Read marks along true corners, every second tile upside down, as the finder does not know the way up."""
    quads = [np.roll(tile.quad, 2 * (number % 2), axis=0) for number, tile in enumerate(scene.marked)]
    look = read_labels if scene.style in LABELS else read_digits
    marks = withhold_repeated_serials(withhold_unsure(tuple(look(scene.picture, quads))), [False] * len(quads))
    return [
        Told(mark.serial, tile.middle)
        for tile, mark in zip(scene.marked, marks, strict=True)
        if mark is not None and mark.serial is not None
    ]
