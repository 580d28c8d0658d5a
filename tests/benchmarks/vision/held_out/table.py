"""A table before a camera: surfaces that no training picture has, tiles with height, a lens, a sensor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from tests.benchmarks.vision.held_out.backs import SCALE, SIZE, TILE_MM, Back, Chance, Flat
from vision.geometry import Homography, Picture, Points, Quad, project

GROUNDS: Final = ("wood", "weave", "marble", "newsprint", "leather")
_TABLE_MM: Final = (700.0, 420.0)
_GROUND_SCALE: Final = 2.5  # pixels per millimetre


@dataclass(frozen=True, slots=True)
class Shot:
    """How a picture is taken: degrees, pixels, shares."""

    size: tuple[int, int] = (1920, 1080)
    tilt: float = 12.0
    turn: float = 0.0
    fill: float = 0.92  # share of the picture's width that the tray takes
    lens: float = 0.0  # barrel distortion at the picture's corner
    blur: float = 0.5
    motion: float = 0.0  # pixels
    light: float = 0.9
    noise: float = 0.008
    quality: int = 88


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A tile with its back up: its middle in mm on the table, its rotation in degrees, and its back."""

    at: Points
    turn: float
    back: Back


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A flat or thick thing other than a tile: its picture, middle, size (mm, including height) and rotation."""

    art: Flat
    at: Points
    size: tuple[float, float, float]
    turn: float


def ground(kind: str, chance: Chance) -> Flat:
    """Draw the table's surface, shape (1050, 1750, 3)."""
    wide, high = (round(part * _GROUND_SCALE) for part in _TABLE_MM)
    rows, cols = np.indices((high, wide)).astype(np.float32)
    slow = cv2.resize(chance.normal(0, 1, (9, 15)).astype(np.float32), (wide, high), interpolation=cv2.INTER_CUBIC)
    fine = chance.normal(0, 1, (high, wide)).astype(np.float32)
    if kind == "wood":
        rings = np.sin((rows + 60 * slow + 0.04 * cols) / 9) * 0.5 + np.sin((rows + 50 * slow) / 2.7) * 0.2
        tone = 0.5 + 0.13 * rings + 0.03 * fine
        colour = np.array([0.35, 0.55, 0.8]) * chance.uniform(0.5, 1.1)
    elif kind == "weave":
        tone = 0.6 + 0.18 * np.sin(cols / 1.7) * np.sin(rows / 1.7) + 0.05 * slow + 0.04 * fine
        colour = chance.uniform(0.2, 0.95, 3)
    elif kind == "marble":
        tone = 0.75 - 0.35 * np.exp(-np.abs(np.sin((cols + 2 * rows) / 210 + 2.2 * slow)) * 9) + 0.02 * fine
        colour = chance.uniform(0.75, 1.0, 3)
    elif kind == "newsprint":
        return _newsprint(wide, high, chance)
    else:
        cells = cv2.resize(
            chance.normal(0, 1, (high // 5, wide // 5)).astype(np.float32),
            (wide, high),
            interpolation=cv2.INTER_LANCZOS4,
        )
        tone = 0.55 + 0.1 * np.abs(cells) + 0.04 * slow
        colour = np.array([0.15, 0.25, 0.42]) * chance.uniform(0.6, 1.6)
    return np.asarray(np.clip(tone[:, :, None] * colour, 0, 1), dtype=np.float32)


def _newsprint(wide: int, high: int, chance: Chance) -> Flat:
    page = np.full((high, wide), 0.86, dtype=np.float32)
    for top in range(8, high, 9):
        left = 6
        while left < wide:
            word = int(chance.integers(8, 40))
            page[top : top + 5, left : left + word] = 0.35 + 0.2 * chance.random(
                (min(5, high - top), min(word, wide - left))
            )
            left += word + 5
    return np.repeat(page[:, :, None], 3, axis=2) * np.float32(chance.uniform(0.8, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A pinhole camera with lens distortion: maps points of the table (mm, with height) to pixels and back."""

    shot: Shot
    matrix: Points  # shape (3, 4)

    @classmethod
    def over(cls, shot: Shot, reach_mm: float) -> "Camera":
        """Place a camera over the table's middle so that `reach_mm` fills its width, as the shot says."""
        wide, high = shot.size
        across = reach_mm if wide >= high else reach_mm * wide / high  # in an upright picture, a tray is upright too
        distance = 700.0
        focal = shot.fill * wide / across * distance
        tilt, turn = np.radians(shot.tilt), np.radians(shot.turn if wide >= high else shot.turn + 90)
        spin = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
        flip = np.diag([1.0, 1.0, -1.0])  # heights point towards the camera
        lean = np.array([[1, 0, 0], [0, np.cos(tilt), np.sin(tilt)], [0, -np.sin(tilt), np.cos(tilt)]])
        turned = lean @ flip @ spin
        lens = np.array([[focal, 0, wide / 2], [0, focal, high / 2], [0, 0, 1]])
        return cls(shot, lens @ np.column_stack([turned, [0, 0, distance]]))

    def plane(self, height: float) -> Homography:
        """Return the map from millimetres at a height to pixels of the undistorted picture."""
        return np.column_stack([self.matrix[:, 0], self.matrix[:, 1], self.matrix[:, 2] * height + self.matrix[:, 3]])

    def bent(self, points: Points) -> Points:
        """Return where the lens shows points of the undistorted picture."""
        if not self.shot.lens:
            return points
        middle, reach = np.array(self.shot.size) / 2, np.hypot(*self.shot.size) / 2
        flat = (points - middle) / reach
        seen = flat.copy()
        for _ in range(30):
            seen = flat / (1 + self.shot.lens * (seen**2).sum(axis=1, keepdims=True))
        return np.asarray(seen * reach + middle)

    def bend(self, picture: Flat) -> Flat:
        """Distort a picture as the lens does."""
        if not self.shot.lens:
            return picture
        wide, high = self.shot.size
        rows, cols = np.indices((high, wide)).astype(np.float32)
        x, y, reach = cols + 0.5 - wide / 2, rows + 0.5 - high / 2, np.float32(np.hypot(wide, high) / 2)
        out = 1 + np.float32(self.shot.lens) * (x**2 + y**2) / reach**2
        return np.asarray(
            cv2.remap(
                picture,
                x * out + wide / 2 - 0.5,
                y * out + high / 2 - 0.5,
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REFLECT,
            ),
            dtype=np.float32,
        )


def placed(at: Points, size: tuple[float, float], turn: float) -> Quad:
    """Return a rectangle's corners on the table, mm, its own top-left first."""
    angle = np.radians(turn)
    spin = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.asarray(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array(size) / 2 @ spin.T + at)


def picture_of(
    camera: Camera, floor: Flat, sheets: Sequence[Sheet], tiles: Sequence[Standing], chance: Chance
) -> Picture:
    """Take a picture: the table with shadows, sheets, the tiles' sides, their backs."""
    to_ground = np.array(
        [[1 / _GROUND_SCALE, 0, -_TABLE_MM[0] / 2], [0, 1 / _GROUND_SCALE, -_TABLE_MM[1] / 2], [0, 0, 1]]
    )
    shade = np.ones(floor.shape[:2], dtype=np.float32)
    for tile in tiles:
        corners = (
            placed(tile.at, (TILE_MM[0] + 4, TILE_MM[1] + 5), tile.turn) + 2 + np.array(_TABLE_MM) / 2
        ) * _GROUND_SCALE
        cv2.fillConvexPoly(shade, np.round(corners).astype(np.int32), 0.45)
    floor = floor * cv2.GaussianBlur(shade, (0, 0), 4)[:, :, None]
    scene: Flat = cv2.warpPerspective(
        floor, _pixels(camera.plane(0) @ to_ground), camera.shot.size, borderMode=cv2.BORDER_REFLECT
    )
    for sheet in sheets:
        _sides(scene, camera, placed(sheet.at, sheet.size[:2], sheet.turn), sheet.size[2], np.array([0.1, 0.1, 0.1]))
        _lay(scene, camera, sheet.art, placed(sheet.at, sheet.size[:2], sheet.turn), sheet.size[2])
    for tile in tiles:
        side = tile.back.art[4:-4, 4:-4].mean(axis=(0, 1)) * 0.55
        _sides(scene, camera, placed(tile.at, TILE_MM[:2], tile.turn), TILE_MM[2], side)
    for tile in tiles:
        _lay(scene, camera, tile.back.art, placed(tile.at, TILE_MM[:2], tile.turn), TILE_MM[2])
    return _expose(camera.bend(scene), camera.shot, chance)


def mark_on(camera: Camera, tile: Standing) -> tuple[Quad, Quad]:
    """Return the corners of a tile's back and of its mark in the picture."""
    plane = camera.plane(TILE_MM[2])
    quad = placed(tile.at, TILE_MM[:2], tile.turn)
    mark = placed(np.zeros(2), (2.0, 2.0), tile.turn)  # the tile's own axes
    across, down = (mark[1] - mark[0]) / 2, (mark[3] - mark[0]) / 2
    local = (tile.back.mark - np.array(SIZE) / 2) / SCALE
    on_table = tile.at + local @ np.array([across, down])
    return camera.bent(project(plane, quad)), camera.bent(project(plane, on_table))


def _pixels(homography: Homography) -> Homography:
    """Return a homography for OpenCV, whose origin is the middle of the first pixel on either side."""
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    return np.asarray(np.linalg.inv(half) @ homography @ half)


def _lay(scene: Flat, camera: Camera, art: Flat, corners: Quad, height: float) -> None:
    high, wide = art.shape[:2]
    flat = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], dtype=np.float32)
    seen = project(camera.plane(height), corners)
    low, top = np.floor(seen.min(axis=0)).astype(int) - 2, np.ceil(seen.max(axis=0)).astype(int) + 3
    low, top = np.maximum(low, 0), np.minimum(top, np.array(camera.shot.size))
    if (top <= low).any():
        return
    way = _pixels(np.asarray(cv2.getPerspectiveTransform(flat, (seen - low).astype(np.float32)), dtype=np.float64))
    size = tuple(int(part) for part in top - low)
    shrink = wide / max(float(np.linalg.norm(seen[1] - seen[0])), 1.0)
    soft = cv2.GaussianBlur(art, (0, 0), 0.45 * shrink) if shrink > 1 else art
    cover = np.zeros((high, wide), dtype=np.float32)
    cv2.rectangle(cover, (1, 1), (wide - 2, high - 2), 1.0, -1)
    mask = cv2.warpPerspective(cover, way, size)[:, :, None]
    piece = scene[low[1] : top[1], low[0] : top[0]]
    piece += (cv2.warpPerspective(soft, way, size, borderMode=cv2.BORDER_REPLICATE) - piece) * mask


def _sides(scene: Flat, camera: Camera, corners: Quad, height: float, colour: Points) -> None:
    low, top = project(camera.plane(0), corners), project(camera.plane(height), corners)
    for side in range(4):
        other = (side + 1) % 4
        wall = np.array([top[side], top[other], low[other], low[side]])
        shade = (0.6, 0.85, 1.0, 0.75)[side]
        cv2.fillConvexPoly(
            scene, np.round(wall * 16).astype(np.int32), [float(part) * shade for part in colour], cv2.LINE_AA, 4
        )


def _expose(scene: Flat, shot: Shot, chance: Chance) -> Picture:
    """Add uneven light, blur, motion, noise that grows with the signal, reduced colour, and JPEG compression."""
    ramp = np.linspace(chance.uniform(0.75, 1), chance.uniform(0.75, 1), shot.size[0], dtype=np.float32)
    seen: Flat = scene * ramp[None, :, None] * np.float32(shot.light)
    if shot.blur:
        seen = cv2.GaussianBlur(seen, (0, 0), shot.blur)
    if shot.motion:
        seen = cv2.filter2D(seen, -1, _streak(shot.motion, float(chance.uniform(0, np.pi))))
    linear = np.clip(seen, 0, 1)
    grain = (
        chance.normal(0, 1, linear.shape).astype(np.float32) * np.sqrt(linear * 0.6 + 0.1) * np.float32(shot.noise * 2)
    )
    colour = cv2.resize(
        chance.normal(0, shot.noise, (shot.size[1] // 3, shot.size[0] // 3, 3)).astype(np.float32), shot.size
    )
    noisy = np.clip(linear + grain + colour, 0, 1)
    if shot.light < 0.4:
        noisy = np.clip(noisy * np.float32(0.75 / shot.light), 0, 1)
    packed = cv2.imencode(".jpg", (noisy * 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, shot.quality])[1]
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)


def _streak(length: float, angle: float) -> Flat:
    side = int(length) // 2 * 2 + 5
    kernel = np.zeros((side, side), dtype=np.float32)
    half = np.array([np.cos(angle), np.sin(angle)]) * length / 2
    ends = [np.round((side / 2 - 0.5 + sign * half) * 16).astype(int).tolist() for sign in (-1, 1)]
    cv2.line(kernel, ends[0], ends[1], 1.0, 1, cv2.LINE_AA, 4)
    return np.asarray(kernel / kernel.sum())
