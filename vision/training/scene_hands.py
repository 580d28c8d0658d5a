"""Hands and forearms over the table: smooth shapes of all colours of skin, with sleeves."""

import cv2
import numpy as np

from vision.geometry import Picture, Points
from vision.training.scene_canvas import Canvas
from vision.training.scene_colours import any_colour, skin


def paint_hand(rng: np.random.Generator, canvas: Canvas, tile_width: float) -> None:
    """Paint an arm that comes in from a side and ends in a palm and fingers; `tile_width` in pixels."""
    width, height = canvas.size
    tip = rng.uniform([0, 0], [width, height])
    angle = rng.uniform(0, 2 * np.pi)
    way = np.array([np.cos(angle), np.sin(angle)])
    broad = tile_width * rng.uniform(1.2, 2.6)
    wrist = tip + way * broad * rng.uniform(1.2, 2.0)
    shape = np.zeros((height, width), np.uint8)
    _limb(shape, wrist, wrist + way * 3000, 0.75 * broad)
    cv2.ellipse(shape, _box((tip + wrist) / 2, broad * 1.1, broad, angle), 255, -1)
    for _ in range(int(rng.integers(1, 6))):
        _finger(rng, shape, tip, -way, broad)
    _colour(rng, canvas, shape, wrist + way * broad * rng.uniform(0, 3), way)
    canvas.hands[shape > 0] = 255
    canvas.tiles[shape > 0] = 0
    canvas.gloss[shape > 0] = 0


def _finger(rng: np.random.Generator, shape: Picture, tip: Points, way: Points, broad: float) -> None:
    turn = rng.normal(0, 0.5)
    c, s = np.cos(turn), np.sin(turn)
    bent = np.array([c * way[0] - s * way[1], s * way[0] + c * way[1]])
    root = tip + np.array([-way[1], way[0]]) * broad * rng.uniform(-0.4, 0.4)
    middle = root + bent * broad * rng.uniform(0.2, 0.6)
    _limb(shape, root, middle, broad * 0.25)
    _limb(shape, middle, middle + (bent + rng.normal(0, 0.3, 2)) * broad * rng.uniform(0.1, 0.6), broad * 0.22)


def _limb(shape: Picture, one: Points, other: Points, thick: float) -> None:
    cv2.line(shape, one.astype(int).tolist(), other.astype(int).tolist(), 255, max(1, int(thick)), cv2.LINE_AA)


def _box(
    middle: Points, long: float, short: float, angle: float
) -> tuple[tuple[float, float], tuple[float, float], float]:
    return (float(middle[0]), float(middle[1])), (float(long), float(short)), float(np.degrees(angle))


def _colour(rng: np.random.Generator, canvas: Canvas, shape: Picture, cuff: Points, way: Points) -> None:
    """Round the shape by shading it from its edge inwards; beyond the cuff is a sleeve."""
    height, width = shape.shape
    small = cv2.resize(shape, (width // 4, height // 4), interpolation=cv2.INTER_AREA)
    depth = cv2.distanceTransform(small, cv2.DIST_L2, 3)
    shade = (rng.uniform(0.3, 0.8) + 0.5 * np.minimum(depth / (depth.max() + 1e-6) * 2, 1))[:, :, None]
    across, down = np.meshgrid(np.arange(width // 4) * 4, np.arange(height // 4) * 4)
    beyond = ((across - cuff[0]) * way[0] + (down - cuff[1]) * way[1] > 0)[:, :, None] & (rng.random() < 0.6)
    paint = np.clip(np.where(beyond, any_colour(rng), skin(rng)) * shade, 0, 255).astype(np.uint8)
    paint = cv2.resize(paint, (width, height), interpolation=cv2.INTER_LINEAR)
    cv2.copyTo(paint, shape, canvas.picture)
