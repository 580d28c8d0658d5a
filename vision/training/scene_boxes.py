"""Boxes in perspective: tiles with two-tone sides and a rounded, shaded top; rims, rails, floors and cards."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Picture, Points, Quad
from vision.training.scene_art import BackStyle, draw_card, draw_face
from vision.training.scene_camera import Pinhole
from vision.training.scene_canvas import Canvas
from vision.training.scene_colours import Colour, ink_on, ivory, near, plastic
from vision.training.scene_layout import Lie, Slab

Size = tuple[float, float, float]  # width, height, thickness in millimetres


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How the tiles of a picture are made, and from where light falls on them."""

    size: Size
    style: BackStyle
    foreign: BackStyle
    face: Colour
    layer: float  # share of the thickness that has the back's colour
    bevel: float  # share of the width
    rounding: float  # share of the width
    light: NDArray[np.float64]  # shape (2,), towards the lamp in the plane
    dimness: float  # of sides turned away from the lamp, 0..1
    gloss: int

    def side(self, normal: NDArray[np.float64]) -> float:
        """Give how bright a side is that looks along `normal`, shape (2,)."""
        return float(np.clip(self.dimness + (1 - self.dimness) * max(0.0, float(normal @ self.light)), 0, 1.1))


def random_look(rng: np.random.Generator, size: Size) -> Look:
    """Draw a set of tiles and a lamp's direction."""
    angle = rng.uniform(0, 2 * np.pi)
    back = plastic(rng)
    return Look(
        size=size,
        style=BackStyle(rng, back),
        foreign=BackStyle(rng, plastic(rng)),
        face=ivory(rng),
        layer=float(rng.choice([rng.uniform(0.2, 0.75), 1.0])),
        bevel=float(rng.uniform(0.02, 0.09)),
        rounding=float(rng.uniform(0.04, 0.18)),
        light=np.array([np.cos(angle), np.sin(angle)]) * rng.uniform(0.2, 1.0),
        dimness=float(rng.uniform(0.15, 0.9)),
        gloss=int(rng.integers(20, 255)),
    )


def outline(x: float, y: float, width: float, depth: float, angle: float) -> Points:
    """Give the corners of a turned rectangle in the plane, shape (4, 2): its own top-left first, clockwise."""
    c, s = np.cos(angle), np.sin(angle)
    corners = (UNIT_SQUARE - 0.5) * [width, depth]
    return np.asarray(corners @ np.array([[c, s], [-s, c]]) + [x, y])


def at_height(corners: Points, height: float) -> NDArray[np.float64]:
    """Lift corners of the plane, shape (n, 2), to a height."""
    return np.column_stack([corners, np.full(len(corners), height)])


def paint_tile(rng: np.random.Generator, canvas: Canvas, pinhole: Pinhole, look: Look, lie: Lie, number: int) -> Quad:
    """Paint one tile and give its top's quad in pixels."""
    width, height, thick = look.size
    corners = outline(lie.x, lie.y, width, height, lie.angle)
    quad = pinhole.see(at_height(corners, thick))
    style = look.foreign if lie.shows == "foreign" else look.style
    upper, lower = (look.face, style.ground) if lie.shows == "face" else (style.ground, look.face)
    split = thick * (look.layer if lie.shows == "face" else 1 - look.layer)
    for bottom, top, colour in ((0.0, split, lower), (split, thick, upper)):
        if top > bottom:
            paint_sides(canvas, pinhole, look, corners, bottom, top, colour)
    art = _top(rng, look, style, lie, quad)
    canvas.paste(art, _cover(art.shape, look.rounding), quad, look.gloss)
    core = pinhole.see(at_height(outline(lie.x, lie.y, 0.55 * width, 0.55 * height, lie.angle), thick))
    canvas.claim(number, quad, core)
    return quad


def paint_sides(
    canvas: Canvas, pinhole: Pinhole, look: Look, corners: Points, bottom: float, top: float, colour: Colour
) -> None:
    """Paint those sides of a box that the camera sees, the far ones first."""
    eye = pinhole.place()[:2]
    low, high = pinhole.see(at_height(corners, bottom)), pinhole.see(at_height(corners, top))
    for a in range(4):
        b = (a + 1) % 4
        along = corners[b] - corners[a]
        normal = np.array([along[1], -along[0]]) / (np.hypot(*along) + 1e-9)
        if float(normal @ (eye - corners[a])) > 0:
            canvas.fill(np.array([low[a], low[b], high[b], high[a]]), colour * look.side(normal))


def paint_slab(
    rng: np.random.Generator, canvas: Canvas, pinhole: Pinhole, look: Look, slab: Slab, colour: Colour
) -> None:
    """Paint a rim, a rail or a card."""
    corners = outline(slab.x, slab.y, slab.width, slab.depth, slab.angle)
    top = pinhole.see(at_height(corners, slab.top))
    if slab.role == "card":
        pixels = max(24, min(400, int(np.hypot(*(top[1] - top[0])))))
        art = draw_card(rng, (pixels, max(16, int(pixels * slab.depth / slab.width))))
        canvas.paste(art, np.full(art.shape[:2], 255, np.uint8), top)
        return
    paint_sides(canvas, pinhole, look, corners, slab.bottom, slab.top, colour)
    canvas.fill(top, colour, look.gloss // 4)


def _top(rng: np.random.Generator, look: Look, style: BackStyle, lie: Lie, quad: Quad) -> Picture:
    pixels = int(np.clip(1.2 * np.hypot(*(quad[1] - quad[0])), 20, 260))
    size = (pixels, int(pixels * look.size[1] / look.size[0]))
    art = draw_face(rng, look.face, size) if lie.shows == "face" else style.draw(rng, size)
    if rng.random() < 0.5:  # the number may stand upside down in the tile
        art = np.ascontiguousarray(art[::-1, ::-1])
    return _shade(rng, art, look, lie.angle)


def _shade(rng: np.random.Generator, art: Picture, look: Look, angle: float) -> Picture:
    """Darken and brighten the rounded edges as the lamp has it, and the whole tile a little."""
    height, width = art.shape[:2]
    band = max(1, round(look.bevel * width))
    shade = np.full((height, width), float(rng.normal(1, 0.03)), np.float32)
    normals = [outline(0, 0, 0, 2, angle)[0], outline(0, 0, 2, 0, angle)[1]]
    for normal, near_edge, far_edge in (
        (normals[0], np.s_[:band, :], np.s_[height - band :, :]),
        (normals[1], np.s_[:, width - band :], np.s_[:, :band]),
    ):
        shade[near_edge] *= 0.5 + 0.5 * look.side(normal) + 0.4 * max(0.0, float(normal @ look.light))
        shade[far_edge] *= 0.5 + 0.5 * look.side(-normal) + 0.4 * max(0.0, float(-normal @ look.light))
    soft = cv2.blur(shade, (band, band))
    return np.asarray(np.clip(art * soft[:, :, None], 0, 255), dtype=np.uint8)


def _cover(shape: tuple[int, ...], rounding: float) -> Picture:
    height, width = shape[:2]
    radius = max(1, int(rounding * width))
    cover = np.zeros((height, width), np.uint8)
    cover[radius : height - radius] = 255
    cover[:, radius : width - radius] = 255
    for x in (radius, width - radius - 1):
        for y in (radius, height - radius - 1):
            cv2.circle(cover, (x, y), radius, 255, -1)
    return cover


def random_trim(rng: np.random.Generator, look: Look) -> Colour:
    """Give a tray's colour: any, or nearly that of the backs."""
    return near(rng, look.style.ground, 12) if rng.random() < 0.2 else ink_on(rng, look.style.ground)
