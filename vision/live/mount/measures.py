"""All measurements of one picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.geometry import Picture, Quad
from vision.live.mount.glare import Glare, measure_glare
from vision.live.mount.light import Light, measure_light
from vision.live.mount.needs import Mark
from vision.live.mount.pose import Pose, fit_pose
from vision.live.mount.sharpness import edge_width


@dataclass(frozen=True, slots=True)
class Setup:
    """What the installer knows: the tiles' width and height in millimetres, their marks, how many places to read.

    `view` is the lens's horizontal angle in degrees, None where it is not known.
    """

    tile_mm: tuple[float, float] = (22.0, 30.0)
    mark: Mark = Mark.LABEL
    places: int = 34
    view: float | None = None


@dataclass(frozen=True, slots=True)
class Measures:
    """What one picture says of the mounting. `size` is its width and height; `edge` the width of an edge in pixels.

    `pose` is None with less than three tiles, `edge` None where nothing sharp or soft is seen.
    """

    size: tuple[int, int]
    tiles: int
    pose: Pose | None
    edge: float | None
    glare: Glare
    light: Light


def measure(picture: Picture, quads: Sequence[Quad], setup: Setup) -> Measures:
    """Measure a picture, BGR, shape (height, width, 3), uint8, with tiles' quads, shape (4, 2), in pixels."""
    size = (picture.shape[1], picture.shape[0])
    pose = fit_pose(quads, setup.tile_mm, size, setup.view)
    scale = pose.pixels_per_mm if pose else setup.mark.pixels_per_mm
    edge = edge_width(picture, quads, reach=int(np.clip(round(1.5 * setup.mark.fine_mm * scale), 3, 40)))
    return Measures(size, len(quads), pose, edge, measure_glare(picture, quads), measure_light(picture, quads))
