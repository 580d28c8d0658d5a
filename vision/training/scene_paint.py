"""Paint a scene in perspective: tiles, rims, rails, floors and cards, hands and forearms.

A pinhole camera looks at a table. Coordinates are in millimetres: x right, y towards the viewer, z up, with the origin
where the camera looks. Besides the picture, the canvas records what each pixel belongs to.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Homography, Picture, Points, Quad, homography_between
from vision.training.scene_art import (
    BackStyle,
    Colour,
    any_colour,
    draw_card,
    draw_face,
    draw_print,
    ink_on,
    ivory,
    plastic,
    similar_colour,
    skin,
)
from vision.training.scene_layout import SceneSlab, SceneTile, outline

Spots = NDArray[np.float64]  # shape (n, 3), millimetres


@dataclass(frozen=True, slots=True, eq=False)
class Pinhole:
    """A camera that looks at the origin from `distance` millimetres; `turn` is the rotation from world to camera."""

    turn: NDArray[np.float64]  # shape (3, 3)
    distance: float
    focal: float  # pixels
    middle: Points  # shape (2,), pixels: the image of the origin

    def project(self, spots: Spots) -> Points:
        """Project points, shape (n, 3), to pixels, shape (n, 2)."""
        seen = spots @ self.turn.T
        return np.asarray(self.middle + self.focal * seen[:, :2] / (self.distance - seen[:, 2:]))

    def position(self) -> NDArray[np.float64]:
        """Return the position of the camera, shape (3,)."""
        return np.asarray(self.turn.T @ [0.0, 0.0, self.distance])

    def plane(self, height: float) -> Homography:
        """Return the homography from millimetres in the plane z = `height` to pixels."""
        square = 100 * (UNIT_SQUARE - 0.5)
        seen = self.project(np.column_stack([square, np.full(4, height)]))
        return homography_between(square, seen)


def random_pinhole(rng: np.random.Generator, pixels_per_mm: float, tile_width: float, middle: Points) -> Pinhole:
    """Return a random camera, 9 to 45 tile widths away, tilted by up to 44 degrees, often aligned with the table."""
    distance = tile_width * float(np.exp(rng.uniform(np.log(9), np.log(45))))
    tilt = np.radians(rng.choice([rng.uniform(0, 8), rng.uniform(0, 44), rng.uniform(15, 44)]))
    azimuth = rng.uniform(0, 2 * np.pi)
    straight = rng.integers(4) * np.pi / 2 + rng.normal(0, 0.08)
    roll = (straight if rng.random() < 0.6 else rng.uniform(0, 2 * np.pi)) - azimuth
    turn = _about_z(roll) @ _about_x(float(tilt)) @ _about_z(azimuth)
    return Pinhole(turn, distance, pixels_per_mm * distance, middle)


def _about_z(angle: float) -> NDArray[np.float64]:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def _about_x(angle: float) -> NDArray[np.float64]:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


_SUBPIXEL = 4  # fractional bits of OpenCV's coordinates


class Canvas:
    """A BGR picture with maps of tile numbers and cores (0: none), gloss and hands, all of one size."""

    def __init__(self, ground: Picture) -> None:
        self.picture: Picture = ground
        self.tiles: Picture = np.zeros(ground.shape[:2], np.uint8)
        self.cores: Picture = np.zeros(ground.shape[:2], np.uint8)
        self.gloss: Picture = np.zeros(ground.shape[:2], np.uint8)
        self.hands: Picture = np.zeros(ground.shape[:2], np.uint8)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.picture.shape[1], self.picture.shape[0]

    def fill(self, outline: Points, colour: Colour, gloss: int = 0) -> None:
        """Fill a convex outline other than a tile's top."""
        corners = _fixed(outline)
        cv2.fillConvexPoly(self.picture, corners, colour.tolist(), cv2.LINE_AA, _SUBPIXEL)
        cv2.fillConvexPoly(self.tiles, corners, 0, cv2.LINE_8, _SUBPIXEL)
        cv2.fillConvexPoly(self.gloss, corners, gloss, cv2.LINE_8, _SUBPIXEL)

    def paste(self, art: Picture, cover: Picture, quad: Quad, gloss: int = 0) -> None:
        """Paint flat art, with the opacity `cover` (0..255), into a quad (top-left, top-right, ...)."""
        left, top = np.maximum(np.floor(quad.min(axis=0)) - 1, 0).astype(int)
        right, low = np.minimum(np.ceil(quad.max(axis=0)).astype(int) + 1, self.size)
        if right <= left or low <= top:
            return
        height, width = art.shape[:2]
        homography = homography_between(UNIT_SQUARE * [width, height] - 0.5, quad - [left + 0.5, top + 0.5])
        room = (int(right - left), int(low - top))
        seen = cv2.warpPerspective(art, homography, room, borderMode=cv2.BORDER_REPLICATE)
        alpha = cv2.warpPerspective(cover, homography, room)[:, :, None].astype(np.uint16)
        part = self.picture[top:low, left:right]
        part[:] = (part * (255 - alpha) + seen * alpha + 127) // 255
        cv2.fillConvexPoly(self.gloss, _fixed(quad), gloss, cv2.LINE_8, _SUBPIXEL)

    def claim(self, number: int, quad: Quad, core: Quad) -> None:
        """Record the quad of a tile's top, and that of its core."""
        cv2.fillConvexPoly(self.tiles, _fixed(quad), number, cv2.LINE_8, _SUBPIXEL)
        cv2.fillConvexPoly(self.cores, _fixed(core), number, cv2.LINE_8, _SUBPIXEL)


def _fixed(outline: Points) -> NDArray[np.int32]:
    # OpenCV's origin is the middle of the first pixel, ours is its corner.
    return np.round((np.clip(outline, -4000, 4000) - 0.5) * (1 << _SUBPIXEL)).astype(np.int32)


Size = tuple[float, float, float]  # width, height, thickness in millimetres


@dataclass(frozen=True, slots=True, eq=False)
class TileAppearance:
    """The look of a picture's tiles, and the direction of light."""

    size: Size
    style: BackStyle
    foreign: BackStyle
    face: Colour
    layer: float  # share of the thickness in the back's colour
    bevel: float  # share of the width
    rounding: float  # share of the width
    light: NDArray[np.float64]  # shape (2,), direction towards the lamp in the plane
    dimness: float  # brightness of sides facing away from the lamp, 0..1
    gloss: int

    def side(self, normal: NDArray[np.float64]) -> float:
        """Return the brightness of a side with this normal, shape (2,)."""
        return float(np.clip(self.dimness + (1 - self.dimness) * max(0.0, float(normal @ self.light)), 0, 1.1))


def random_appearance(rng: np.random.Generator, size: Size) -> TileAppearance:
    """Return a random look of tiles, and a random direction of light."""
    angle = rng.uniform(0, 2 * np.pi)
    back = plastic(rng)
    return TileAppearance(
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


def at_height(corners: Points, height: float) -> NDArray[np.float64]:
    """Return points of the plane, shape (n, 2), lifted to a height, shape (n, 3)."""
    return np.column_stack([corners, np.full(len(corners), height)])


def paint_tile(
    rng: np.random.Generator, canvas: Canvas, pinhole: Pinhole, look: TileAppearance, tile: SceneTile, number: int
) -> Quad:
    """Paint one tile; return the quad of its top in pixels."""
    width, height, thick = look.size
    corners = outline(tile.x, tile.y, width, height, tile.angle)
    quad = pinhole.project(at_height(corners, thick))
    style = look.foreign if tile.shows == "foreign" else look.style
    upper, lower = (look.face, style.ground) if tile.shows == "face" else (style.ground, look.face)
    split = thick * (look.layer if tile.shows == "face" else 1 - look.layer)
    for bottom, top, colour in ((0.0, split, lower), (split, thick, upper)):
        if top > bottom:
            paint_sides(canvas, pinhole, look, corners, bottom, top, colour)
    art = _top(rng, look, style, tile, quad)
    canvas.paste(art, _cover(art.shape, look.rounding), quad, look.gloss)
    core = pinhole.project(at_height(outline(tile.x, tile.y, 0.55 * width, 0.55 * height, tile.angle), thick))
    canvas.claim(number, quad, core)
    return quad


def paint_sides(
    canvas: Canvas, pinhole: Pinhole, look: TileAppearance, corners: Points, bottom: float, top: float, colour: Colour
) -> None:
    """Paint the sides of a box that the camera sees."""
    eye = pinhole.position()[:2]
    low, high = pinhole.project(at_height(corners, bottom)), pinhole.project(at_height(corners, top))
    for a in range(4):
        b = (a + 1) % 4
        along = corners[b] - corners[a]
        normal = np.array([along[1], -along[0]]) / (np.hypot(*along) + 1e-9)
        if float(normal @ (eye - corners[a])) > 0:
            canvas.fill(np.array([low[a], low[b], high[b], high[a]]), colour * look.side(normal))


def paint_slab(
    rng: np.random.Generator, canvas: Canvas, pinhole: Pinhole, look: TileAppearance, slab: SceneSlab, colour: Colour
) -> None:
    """Paint a rim, a rail, a card or a print."""
    top = pinhole.project(at_height(slab.corners, slab.top))
    if slab.role in {"card", "print"}:
        pixels = max(24, min(400, int(np.hypot(*(top[1] - top[0])))))
        size = (pixels, max(16, int(pixels * slab.depth / slab.width)))
        canvas.paste(*(draw_card(rng, size) if slab.role == "card" else draw_print(rng, size, colour)), top)
        return
    paint_sides(canvas, pinhole, look, slab.corners, slab.bottom, slab.top, colour)
    canvas.fill(top, colour, look.gloss // 4)


def _top(rng: np.random.Generator, look: TileAppearance, style: BackStyle, tile: SceneTile, quad: Quad) -> Picture:
    pixels = int(np.clip(1.2 * np.hypot(*(quad[1] - quad[0])), 20, 260))
    size = (pixels, int(pixels * look.size[1] / look.size[0]))
    art = draw_face(rng, look.face, size) if tile.shows == "face" else style.draw(rng, size)
    if rng.random() < 0.5:  # the number may be upside down on the tile
        art = np.ascontiguousarray(art[::-1, ::-1])
    return _shade(rng, art, look, tile.angle)


def _shade(rng: np.random.Generator, art: Picture, look: TileAppearance, angle: float) -> Picture:
    """Shade the rounded edges according to the lamp, and vary the brightness of the whole tile slightly."""
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


def random_trim(rng: np.random.Generator, look: TileAppearance) -> Colour:
    """Return a colour for a tray: any, or sometimes close to that of the backs."""
    return similar_colour(rng, look.style.ground, 12) if rng.random() < 0.2 else ink_on(rng, look.style.ground)


def paint_hand(rng: np.random.Generator, canvas: Canvas, quads: list[Points], tile_width: float) -> None:
    """Paint an arm that comes in from a side and ends in a palm and fingers; `tile_width` is in pixels.

    More than half of the hands reach for a tile of `quads`, and half of all hands point with one finger.
    """
    width, height = canvas.size
    aim = rng.uniform([0, 0], [width, height])
    if quads and rng.random() < _REACHING:
        aim = rng.dirichlet(np.ones(4)) @ quads[int(rng.integers(len(quads)))]
    angle = rng.uniform(0, 2 * np.pi)
    way = np.array([np.cos(angle), np.sin(angle)])
    broad = tile_width * rng.uniform(1.2, 2.6)
    points = rng.random() < _POINTING
    long = broad * (rng.uniform(0.8, 1.5) if points else rng.uniform(0.3, 1.0))
    knuckles = aim + way * long
    wrist = knuckles + way * broad * rng.uniform(1.0, 1.6)
    shape = np.zeros((height, width), np.uint8)
    _limb(shape, wrist, wrist + way * 3000, 0.75 * broad)
    palm = ((knuckles + wrist) / 2).tolist(), (broad * 1.3, broad), float(np.degrees(angle))
    cv2.ellipse(shape, palm, 255, -1)
    places = np.linspace(-0.36, 0.36, 4)[int(rng.integers(2)) :: int(rng.integers(1, 3))]
    first = int(rng.integers(len(places)))
    for number, place in enumerate(places.tolist()):
        reach = long if number == first else broad * 0.3 if points else long * rng.uniform(0.5, 1.1)
        _finger(rng, shape, knuckles + np.array([-way[1], way[0]]) * broad * place, -way * reach, broad)
    if rng.random() < 0.6:  # the thumb
        side = np.array([-way[1], way[0]]) * broad * rng.choice([-0.5, 0.5])
        _finger(rng, shape, (knuckles + wrist) / 2 + side, (side - way * broad * rng.uniform(0.2, 0.9)), broad)
    _cast_shadow(rng, canvas, shape, broad)
    _colour(rng, canvas, shape, wrist + way * broad * rng.uniform(0, 3), way)
    canvas.hands[shape > 0] = 255
    canvas.tiles[shape > 0] = 0
    canvas.gloss[shape > 0] = 0


_REACHING, _POINTING = 0.6, 0.5  # shares of hands


def _finger(rng: np.random.Generator, shape: Picture, root: Points, way: Points, broad: float) -> None:
    """Paint a slightly bent finger from its root along the vector `way`, pixels."""
    turn = rng.normal(0, 0.15)
    c, s = np.cos(turn), np.sin(turn)
    bent = np.array([c * way[0] - s * way[1], s * way[0] + c * way[1]])
    middle = root + bent * rng.uniform(0.4, 0.6)
    thick = broad * rng.uniform(0.22, 0.29)
    _limb(shape, root, middle, thick)
    _limb(shape, middle, root + bent + rng.normal(0, 0.06, 2) * broad, thick * rng.uniform(0.85, 0.95))


def _cast_shadow(rng: np.random.Generator, canvas: Canvas, shape: Picture, broad: float) -> None:
    """Darken the surroundings of a hand, so that a shadow on a tile is not learnt as a finger."""
    away = rng.normal(0, 0.35 * broad, 2)
    small = np.ascontiguousarray(shape[::4, ::4])
    matrix = np.array([[1, 0, away[0] / 4], [0, 1, away[1] / 4]])
    moved = cv2.warpAffine(small, matrix, (small.shape[1], small.shape[0]))
    soft = cv2.GaussianBlur(moved, (0, 0), max(0.5, broad * rng.uniform(0.02, 0.12) / 4))
    dark = 1 - cv2.resize(soft, canvas.size, interpolation=cv2.INTER_LINEAR) * np.float32(rng.uniform(0, 0.6) / 255)
    np.multiply(canvas.picture, dark[:, :, None], out=canvas.picture, casting="unsafe")


def _limb(shape: Picture, one: Points, other: Points, thick: float) -> None:
    cv2.line(shape, one.astype(int).tolist(), other.astype(int).tolist(), 255, max(1, int(thick)), cv2.LINE_AA)


def _colour(rng: np.random.Generator, canvas: Canvas, shape: Picture, cuff: Points, way: Points) -> None:
    """Colour the hand as a rounded shape, dark at its edges and lit by a lamp, perhaps with a sleeve above the cuff."""
    height, width = shape.shape
    small = cv2.resize(shape, (width // 4, height // 4), interpolation=cv2.INTER_AREA)
    depth = cv2.distanceTransform(small, cv2.DIST_L2, 3)
    round_ = np.sqrt(np.minimum(depth / (rng.uniform(0.3, 1.0) * depth.max() + 1e-6), 1))
    down, across = np.gradient(cv2.GaussianBlur(round_, (0, 0), 1.5))
    lamp = rng.normal(0, 1.5, 2)
    shade = (rng.uniform(0.3, 0.8) + 0.5 * round_ + across * lamp[0] + down * lamp[1])[:, :, None]
    x, y = np.meshgrid(np.arange(width // 4) * 4, np.arange(height // 4) * 4)
    beyond = ((x - cuff[0]) * way[0] + (y - cuff[1]) * way[1] > 0)[:, :, None] & (rng.random() < 0.6)
    paint = np.clip(np.where(beyond, any_colour(rng), skin(rng)) * shade, 0, 255).astype(np.uint8)
    paint = cv2.resize(paint, (width, height), interpolation=cv2.INTER_LINEAR)
    cv2.copyTo(paint, shape, canvas.picture)
