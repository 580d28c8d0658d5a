"""Measure how a camera is mounted, from one picture and the outlines of the tiles in it. Pure functions.

They measure glare, light and noise, sharpness, and the pose (tilt, distance, scale), which is fitted to tiles of known
size; and compare the results with what the reader needs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import ceil
from typing import Final

import cv2
import numpy as np

from vision.cameras.camera import UnmetSetting
from vision.geometry import Picture, Points, Quad
from vision.picture import noise_of
from vision.reading import ROW_LENGTHS

_MOST_PIECES = 48  # tiles to measure; more cost time and add nothing
_INSIDE = 0.8  # share of an outline's size; beyond it are the rounded edge and a neighbour's shadow
_LEAST_PIECE = 8  # pixels: least side of a piece


def tile_pieces(picture: Picture, quads: Sequence[Quad]) -> Iterator[tuple[Quad, Picture]]:
    """Yield quad and piece of up to 48 tiles, spread evenly; pieces are cut off at the picture's border."""
    height, width = picture.shape[:2]
    for quad in quads[:: max(1, -(-len(quads) // _MOST_PIECES))]:
        inner = quad.mean(axis=0) + _INSIDE * (quad - quad.mean(axis=0))
        left, top = np.floor(np.clip(inner.min(axis=0), 0, None)).astype(int)
        right, bottom = np.ceil(np.minimum(inner.max(axis=0), [width, height])).astype(int)
        if right - left >= _LEAST_PIECE and bottom - top >= _LEAST_PIECE:
            yield quad, picture[top:bottom, left:right]


_FULL = 250  # level in all three channels from which a pixel is overexposed


@dataclass(frozen=True, slots=True)
class Glare:
    """The `share` of the tiles' area that is overexposed, and `usual`, the same for the median tile.

    `at` is the centre of the overexposed area, as shares of the picture's width and height; None without any. A lamp's
    reflection overexposes a few tiles, so that `share` is high but `usual` is not; too much light overexposes all.
    """

    share: float
    usual: float
    at: tuple[float, float] | None


def measure_glare(picture: Picture, quads: Sequence[Quad]) -> Glare:
    """Measure glare on tiles, given as quads of shape (4, 2) in pixels; without tiles there is none."""
    burnt, area, middles = [], [], []
    for quad, piece in tile_pieces(picture, quads):
        burnt.append(int((piece.min(axis=2) >= _FULL).sum()))
        area.append(piece.shape[0] * piece.shape[1])
        middles.append(quad.mean(axis=0) / [picture.shape[1], picture.shape[0]])
    if not any(burnt):
        return Glare(0.0, 0.0, None)
    right, down = np.average(middles, axis=0, weights=burnt)
    shares = np.array(burnt) / np.array(area)
    return Glare(sum(burnt) / sum(area), float(np.median(shares)), (float(right), float(down)))


@dataclass(frozen=True, slots=True)
class Light:
    """The tiles' median grey level, 0..255, and the noise: the standard deviation of a pixel, in levels."""

    level: float
    noise: float


def measure_light(picture: Picture, quads: Sequence[Quad]) -> Light:
    """Measure light on tiles, given as quads of shape (4, 2) in pixels; without tiles, on the whole picture."""
    greys = [_grey(piece) for _, piece in tile_pieces(picture, quads)]
    greys = greys or [_grey(picture[::2, ::2])]
    level = float(np.median([np.median(grey) for grey in greys]))
    return Light(level, float(np.median([noise_of(grey) for grey in greys])))


def _grey(piece: Picture) -> Picture:
    return np.asarray(cv2.cvtColor(piece, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


_STRONG = 0.7  # share of the strongest contrast from which a pixel is at the edge of a mark, not the back's grain
_STEEP = 0.02  # share of a tile's pixels to use: those with the steepest slopes
_FEWEST = 8
_MOST_TILES = 75.0  # percentile of the tiles; with a tilted camera, some rows are sharp and others are not
_LEAST_CONTRAST = 25.0  # levels


def edge_width(picture: Picture, quads: Sequence[Quad], reach: int) -> float | None:
    """Return the 75th percentile of the tiles' edge widths, in pixels; None if there are no edges.

    The width of an edge is its contrast in levels divided by its steepest slope in levels per pixel. For an edge
    blurred by a Gaussian of deviation s, it is s times the square root of 2 pi, close to its 10-90 % rise (2.56 s).
    `reach` is how far, in pixels, the contrast is measured around an edge: a little more than a mark's finest line.
    """
    widths = [width for _, piece in tile_pieces(picture, quads) if (width := _edge_width(piece, reach)) is not None]
    return float(np.percentile(widths, _MOST_TILES)) if widths else None


def _edge_width(piece: Picture, reach: int) -> float | None:
    grey = _grey(piece)
    window = np.ones((2 * reach + 1, 2 * reach + 1), dtype=np.uint8)
    contrast = cv2.subtract(cv2.dilate(grey, window), cv2.erode(grey, window)).astype(np.float32)
    down, right = np.gradient(grey.astype(np.float32))
    slope = np.hypot(down, right)
    strong = contrast >= max(_LEAST_CONTRAST, _STRONG * float(contrast.max()))
    steepest = np.sort(slope[strong])[::-1][: max(_FEWEST, round(_STEEP * slope.size))]
    if len(steepest) < _FEWEST:
        return None
    return float(np.median(contrast[strong])) / float(np.median(steepest))


FEWEST_TILES = 3
_USUAL_FOCAL = 0.95  # focal length in picture widths: a horizontal view of 55 degrees
_FOCAL_SPREAD = 0.3  # standard deviation of its logarithm, over cameras sold for desks and for the Pi
_CORNER = 0.02  # usual error of a side, as a share of its length
_ROUNDS = 14
_LEAN = 0.5  # slope, 27 degrees, at which the leaning fits start
_MOST_FITTED = 40  # tiles to fit; more add nothing
_STEP = 1e-5
_STRAY = 3.0  # in usual errors; beyond it, tiles count less and less


@dataclass(frozen=True, slots=True)
class CameraPose:
    """The camera's pose: `tilt` in degrees from the vertical, `distance_mm` from lens to table along its axis.

    `pixels_per_mm` is the median over the tiles, averaged over both directions (a tilt shortens one). `field_mm` is the
    width and height of the table that fit into the picture at that scale.
    """

    pixels_per_mm: float
    tilt: float
    distance_mm: float
    field_mm: tuple[float, float]


def fit_camera_pose(
    quads: Sequence[Quad], tile_mm: tuple[float, float], size: tuple[int, int], view: float | None = None
) -> CameraPose | None:
    """Fit tilt and distance by least squares over the tiles' sides and diagonals; None for fewer than three tiles.

    `tile_mm` is a back's width and height, `size` the picture's width and height in pixels, `view` the lens's
    horizontal angle of view in degrees, if known. If it is not, it is estimated from the tiles, which tell little from
    straight above, and from the usual focal length of cameras; distances may then be off by up to 40 %.
    """
    if len(quads) < FEWEST_TILES:
        return None
    corners = np.asarray(quads[:: -(-len(quads) // _MOST_FITTED)], dtype=np.float64) - np.array(size) / 2
    scale = pixels_per_mm(quads, tile_mm)
    focal = size[0] / 2 / np.tan(np.radians(view) / 2) if view else _USUAL_FOCAL * size[0]
    parameters = _fit_slopes(corners, tile_mm, (focal, 0.01 if view else _FOCAL_SPREAD), scale)
    slope = float(np.hypot(parameters[0], parameters[1]))
    field = (size[0] / scale, size[1] / scale)
    return CameraPose(scale, float(np.degrees(np.arctan(slope))), float(np.exp(parameters[2])), field)


def pixels_per_mm(quads: Sequence[Quad], tile_mm: tuple[float, float]) -> float:
    """Return the median scale of the tiles, from their areas (shoelace formula)."""
    x, y = np.moveaxis(np.asarray(quads, dtype=np.float64), -1, 0)
    area = np.abs((x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1)).sum(axis=1)) / 2
    return float(np.sqrt(np.median(area) / (tile_mm[0] * tile_mm[1])))


def _fit_slopes(corners: Points, tile_mm: tuple[float, float], focal: tuple[float, float], scale: float) -> Points:
    """Fit the table's two slopes and the logarithms of distance and focal length; return the best of several fits.

    Foreshortening alone does not tell which side of the table is nearer, so a single fit may end up leaning the wrong
    way.
    """
    usual = np.array([0.0, 0.0, np.log(focal[0] / scale), np.log(focal[0])])
    starts = [(0.0, 0.0), (_LEAN, 0.0), (-_LEAN, 0.0), (0.0, _LEAN), (0.0, -_LEAN)]
    fitted = [_descend(usual + np.array([*lean, 0.0, 0.0]), usual, corners, tile_mm, 1 / focal[1]) for lean in starts]
    return min(fitted, key=lambda parameters: _pose_cost(parameters, usual, corners, tile_mm, 1 / focal[1]))


def _descend(parameters: Points, usual: Points, corners: Points, tile_mm: tuple[float, float], trust: float) -> Points:
    """Minimise by Gauss-Newton; outliers count less once the fit is near."""
    prior = np.array([0.0, 0.0, 0.0, trust])
    for turn in range(_ROUNDS):
        errors = _pose_errors(parameters, corners, tile_mm)
        jacobian = np.stack(
            [(_pose_errors(parameters + step, corners, tile_mm) - errors) / _STEP for step in np.eye(4) * _STEP], -1
        )
        weight = 1 / (1 + (errors / _STRAY) ** 2) if turn >= _ROUNDS // 2 else np.ones_like(errors)
        rows = np.vstack([jacobian * weight[:, None], np.diag(prior)])
        step, *_ = np.linalg.lstsq(rows, np.concatenate([-errors * weight, prior * (usual - parameters)]), rcond=None)
        parameters = parameters + np.clip(step, -0.3, 0.3)
    return parameters


def _pose_cost(parameters: Points, usual: Points, corners: Points, tile_mm: tuple[float, float], trust: float) -> float:
    errors = (_pose_errors(parameters, corners, tile_mm) / _STRAY) ** 2
    return float(np.log1p(errors).sum() * _STRAY**2 + (trust * (parameters[3] - usual[3])) ** 2)


def _pose_errors(parameters: Points, corners: Points, tile_mm: tuple[float, float]) -> Points:
    """Return the errors of each tile's sides and diagonals at this pose, in usual errors."""
    right, down, distance, focal = parameters[0], parameters[1], np.exp(parameters[2]), np.exp(parameters[3])
    rays = np.concatenate([corners / focal, np.ones((*corners.shape[:2], 1))], axis=-1)
    deep = np.maximum(rays @ np.array([right, down, 1.0]), 0.05)  # a table does not reach behind the camera
    points = rays * (distance / deep)[..., None]
    width, height = tile_mm
    across = float(np.hypot(width, height))
    pairs = ((0, 1, width), (2, 3, width), (1, 2, height), (3, 0, height), (0, 2, across), (1, 3, across))
    errors = [np.linalg.norm(points[:, a] - points[:, b], axis=-1) / length - 1 for a, b, length in pairs]
    return np.concatenate(errors) / _CORNER


_GAP = 0.055  # gap between tiles of a row, in tile widths
_ROW_GAP = 0.15  # gap between rows, in tile heights


class MarkKind(Enum):
    """A kind of mark: its finest line in millimetres, and how many pixels that line needs."""

    DIGITS = (1.0, 2.2)
    LABEL = (0.7, 3.0)

    @property
    def fine_mm(self) -> float:
        """The finest line: a digit's stroke, or a module of a DataMatrix."""
        return self.value[0]

    @property
    def pixels_per_mm(self) -> float:
        """The smallest scale at which the mark can be read."""
        return self.value[1] / self.value[0]


@dataclass(frozen=True, slots=True)
class NeededRoom:
    """The part of a table that must be in the picture, in millimetres, the longer side first."""

    long_mm: float
    short_mm: float

    def fits(self, field_mm: tuple[float, float]) -> bool:
        """Return whether it fits into the field, in either orientation."""
        return self.long_mm <= max(field_mm) and self.short_mm <= min(field_mm)

    def excess(self, field_mm: tuple[float, float]) -> float:
        """Return the factor by which the field's sides would have to grow; at most 1 if it fits already."""
        return max(self.long_mm / max(field_mm), self.short_mm / min(field_mm))


TRAY: Final = 34
CARRIER: Final = 136


def room_for(places: int, tile_mm: tuple[float, float]) -> NeededRoom:
    """Return the room of a tray's 34 places, or of a carrier's 136: four trays around a square."""
    width = ROW_LENGTHS[0] * tile_mm[0] * (1 + _GAP)
    height = len(ROW_LENGTHS) * tile_mm[1] * (1 + _ROW_GAP)
    return NeededRoom(width, height) if places == TRAY else NeededRoom(width + height, width + height)


@dataclass(frozen=True, slots=True)
class MountingSetup:
    """The facts that the installer gives: tile width and height in millimetres, kind of mark, and number of places.

    `view` is the lens's horizontal angle of view in degrees, None if it is not known.
    """

    tile_mm: tuple[float, float] = (22.0, 30.0)
    mark: MarkKind = MarkKind.LABEL
    places: int = 34
    view: float | None = None


@dataclass(frozen=True, slots=True)
class MountingMeasures:
    """The measurements of one picture: its width and height, number of tiles, pose, edge width in pixels, and light.

    `pose` is None with fewer than three tiles, `edge` is None if no edges were found.
    """

    size: tuple[int, int]
    tiles: int
    pose: CameraPose | None
    edge: float | None
    glare: Glare
    light: Light


def measure_mounting(picture: Picture, quads: Sequence[Quad], setup: MountingSetup) -> MountingMeasures:
    """Measure a picture (BGR, shape (height, width, 3), uint8), given its tiles' quads, shape (4, 2), in pixels."""
    size = (picture.shape[1], picture.shape[0])
    pose = fit_camera_pose(quads, setup.tile_mm, size, setup.view)
    scale = pose.pixels_per_mm if pose else setup.mark.pixels_per_mm
    edge = edge_width(picture, quads, reach=int(np.clip(round(1.5 * setup.mark.fine_mm * scale), 3, 40)))
    return MountingMeasures(size, len(quads), pose, edge, measure_glare(picture, quads), measure_light(picture, quads))


TILT: Final = 15.0
"""Degrees from the vertical up to which all rows are about equally sharp and large."""

GLARE: Final = 0.02
"""Share of the tiles' area that may be overexposed."""

BRIGHT: Final = 0.04
"""Share of the median tile that may be overexposed; more is not a reflection but too much light."""

DARK: Final = 45.0
"""Level (of 255) below which marks are lost in noise."""

NOISY: Final = 7.0
"""Standard deviation of a pixel, in levels, above which fine marks are lost."""

SHARP: Final = 1.15
"""Largest width of an edge, in widths of a mark's finest line."""

SHARPEST: Final = 2.5
"""Pixels up to which an edge is always sharp: none is narrower than two, and a camera's sharpening adds to that."""

_THIRDS = (1 / 3, 2 / 3)


@dataclass(frozen=True, slots=True)
class MountingHint:
    """One thing to change: a stable code, and the values for its sentence."""

    code: str
    names: dict[str, object] = field(default_factory=dict)


def mounting_hints(
    measures: MountingMeasures, setup: MountingSetup, unmet: Sequence[UnmetSetting] = ()
) -> tuple[MountingHint, ...]:
    """Return what to change, the most important first; nothing if all is fine."""
    place, focus = _place_hints(measures, setup), _focus_hints(measures, setup)
    return (*_setting_hints(unmet), *place, *_light_hints(measures), *focus)


def print_hints(setup: MountingSetup, *, enrolled: bool) -> tuple[MountingHint, ...]:
    """Return what to do if many backs are not read and nothing else is wrong, for an enrolled set or another."""
    if enrolled:
        return (MountingHint("camera_enrolled"),)
    return (MountingHint("camera_print"),) if setup.mark is MarkKind.DIGITS else ()


def judge_focus(measures: MountingMeasures, setup: MountingSetup) -> str | None:
    """Return whether the focus is `good` or `soft` for these marks; None if it could not be measured."""
    if measures.edge is None or measures.pose is None:
        return None
    line = setup.mark.fine_mm * measures.pose.pixels_per_mm
    return "good" if measures.edge <= max(SHARPEST, SHARP * line) else "soft"


def _setting_hints(unmet: Sequence[UnmetSetting]) -> Iterator[MountingHint]:
    for setting in unmet:
        taken = "-" if setting.taken is None else f"{setting.taken:g}"
        yield MountingHint("camera_setting", {"setting": setting.setting, "wanted": setting.wanted, "taken": taken})


def _place_hints(measures: MountingMeasures, setup: MountingSetup) -> Iterator[MountingHint]:
    pose = measures.pose
    if pose is None:
        yield MountingHint("camera_no_tiles")
        return
    yield from _distance_hints(pose, measures, setup)
    if pose.tilt > TILT:
        yield MountingHint("camera_tilted", {"degrees": round(pose.tilt)})


def _distance_hints(pose: CameraPose, measures: MountingMeasures, setup: MountingSetup) -> Iterator[MountingHint]:
    """Yield a hint to move the camera if the marks are too small or not all places are in the picture.

    If the camera has too few pixels for both, yield that instead.
    """
    wanted = setup.mark.pixels_per_mm
    room = room_for(setup.places, setup.tile_mm)
    nearest = (measures.size[0] / wanted, measures.size[1] / wanted)  # millimetres in the picture at that scale
    if room.fits(pose.field_mm) and pose.pixels_per_mm >= wanted:
        return
    if not room.fits(nearest):
        pixels = (round(room.long_mm * wanted), round(room.short_mm * wanted))
        yield MountingHint("camera_too_coarse", {"places": setup.places, "width": pixels[0], "height": pixels[1]})
    elif not room.fits(pose.field_mm):
        away = pose.distance_mm * (room.excess(pose.field_mm) - 1)
        yield MountingHint("camera_too_near", {"places": setup.places, "cm": _centimetres(away)})
    else:
        closer = pose.distance_mm * (1 - pose.pixels_per_mm / wanted)
        yield MountingHint("camera_too_far", {"cm": _centimetres(closer)})


def _light_hints(measures: MountingMeasures) -> Iterator[MountingHint]:
    glare, light = measures.glare, measures.light
    if glare.usual > BRIGHT:
        yield MountingHint("camera_bright")
    elif glare.share > GLARE and glare.at is not None:
        yield MountingHint("camera_glare", {"percent": round(100 * glare.share), "where": picture_region(glare.at)})
    if light.level < DARK:
        yield MountingHint("camera_dark")
    if light.noise > NOISY:
        yield MountingHint("camera_noisy")


def _focus_hints(measures: MountingMeasures, setup: MountingSetup) -> Iterator[MountingHint]:
    if judge_focus(measures, setup) == "soft" and measures.edge is not None:
        yield MountingHint("camera_soft", {"pixels": f"{measures.edge:.1f}"})


def picture_region(at: tuple[float, float]) -> str:
    """Return the name of the ninth of the picture that contains a point: `top_left` to `bottom_right`, or `middle`."""
    column = ("left", "", "right")[sum(at[0] > third for third in _THIRDS)]
    row = ("top", "", "bottom")[sum(at[1] > third for third in _THIRDS)]
    return "_".join(part for part in (row, column) if part) or "middle"


def _centimetres(millimetres: float) -> int:
    return max(1, ceil(millimetres / 10))
