"""Trays, carriers and heaps as a camera sees them: computed quads, flat drawings, known truth."""

from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from vision.finder import DetectedTile, Detections
from vision.geometry import Picture, Points, Quad, rectangle
from vision.layout import TableLayout, lay_out_table
from vision.marks import TileMark
from vision.reading import LEFT, SEATS, Indents, RowCol, tray_places

HEIGHT, WIDTH, CELL = 960, 960, 8.0
FLOOR, BACK, INK, FACE, HAND = (70, 60, 60), (60, 130, 40), (230, 235, 235), (225, 235, 235), (120, 150, 215)
SPOT = np.array([0.02, -0.06])  # where marks are on these tiles
PITCH = 0.2  # of the digits of those without a set name


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """A camera (degrees, mm, shares) and a tray of 28 by 38 mm tiles with gaps."""

    azimuth: float = 0.0
    tilt: float = 0.0
    lens: float = 0.0
    gap: float = 1.0
    row_gap: float = 4.0
    indents: Indents = LEFT
    noise: float = 0.0  # of corners, as a share of the width
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Lying:
    """A tile on the table: its middle and size in mm, its rotation in degrees, and what a reader knows of it."""

    quad: Quad  # mm, its own top-left first
    seat: str | None = None
    where: RowCol | None = None
    serial: int | None = 1
    set_text: str | None = None
    face_up: bool = False
    told: bool = True  # whether its mark shows which way up it is
    found: bool = True
    likelihood: float = 0.9
    colour: tuple[int, int, int] = BACK


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Tiles on a table before a camera; `hands` are discs over them (x, y, radius) in mm."""

    pose: Pose
    tiles: tuple[Lying, ...]
    hands: tuple[tuple[float, float, float], ...] = field(default=())

    def without(self, *gone: RowCol, seat: str | None = None) -> "Scene":
        return replace(self, tiles=tuple(one for one in self.tiles if one.seat != seat or one.where not in gone))

    def changed(self, at: RowCol, seat: str | None = None, **changes: object) -> "Scene":
        tiles = tuple(
            replace(one, **changes) if (one.seat, one.where) == (seat, at) else one  # type: ignore[arg-type] # named by the test
            for one in self.tiles
        )
        return replace(self, tiles=tiles)

    def at(self, where: RowCol, seat: str | None = None) -> Lying:
        return next(one for one in self.tiles if (one.seat, one.where) == (seat, where))


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The input of the layout for a scene; `shown` are the tiles that were found, in the order of `found.tiles`."""

    picture: Picture
    found: Detections
    marks: tuple[TileMark | None, ...]
    shown: tuple[Lying, ...]
    quads: tuple[Quad, ...]  # of `shown`, pixels, their own top-left first

    def lay_out(self) -> TableLayout:
        return lay_out_table(self.picture, self.found, self.marks)


def turned(quad: Quad, degrees: float) -> Quad:
    """Rotate a quad about its middle, clockwise on the screen."""
    return np.asarray((quad - quad.mean(axis=0)) @ _spin(degrees).T + quad.mean(axis=0))


def _spin(degrees: float) -> Points:
    angle = np.radians(degrees)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def tray(pose: Pose, seat: str | None = None) -> tuple[Lying, ...]:
    """Lay a full tray around the table's middle, with its player at the bottom."""
    chance = np.random.default_rng([pose.seed, SEATS.index(seat) if seat else 9])
    pitch, row_pitch = 28 + pose.gap, 38 + pose.row_gap
    tiles = []
    for number, (row, col) in enumerate(tray_places()):
        x = (col + pose.indents[row] - 6) * pitch + chance.uniform(-pose.gap, pose.gap) / 3
        y = (row - 1) * row_pitch + chance.uniform(-pose.row_gap, pose.row_gap) / 4
        quad = turned(rectangle(np.array([x, y]), 28.0, 38.0), chance.normal(0, 1))
        base = 34 * SEATS.index(seat) if seat else 0
        tiles.append(Lying(quad, seat, (row, col), base + number + 1))
    return tuple(tiles)


def tray_scene(pose: Pose) -> Scene:
    return Scene(pose, tray(pose))


def carrier_scene(pose: Pose) -> Scene:
    """Lay four trays in a square, each a quarter turn further anticlockwise than the one before."""
    out = np.array([40.0, 270.0])
    return Scene(
        pose,
        tuple(
            replace(one, quad=(one.quad + out) @ _spin(-90.0 * number).T)
            for number, seat in enumerate(SEATS)
            for one in tray(pose, seat)
        ),
    )


def heap_scene(pose: Pose, number: int) -> Scene:
    """Drop tiles at random rotations without overlap."""
    chance = np.random.default_rng(pose.seed)
    middles: list[Points] = []
    while len(middles) < number:
        spot = chance.uniform([-260, -140], [260, 140])
        if all(np.linalg.norm(spot - other) > 40 for other in middles):
            middles.append(spot)
    quads = [turned(rectangle(spot, 28.0, 38.0), chance.uniform(0, 360)) for spot in middles]
    return Scene(pose, tuple(Lying(quad, serial=at + 1) for at, quad in enumerate(quads)))


def see(scene: Scene, *, scale: float = 1.7) -> Seen:
    """Look at a scene, `scale` pixels per mm in the middle; tiles in random order, quads beginning at either end."""
    chance = np.random.default_rng(scene.pose.seed)
    picture = np.full((HEIGHT, WIDTH, 3), FLOOR, dtype=np.uint8)
    pixels = [to_pixels(one.quad, scene.pose, scale) for one in scene.tiles]
    for one, quad in zip(scene.tiles, pixels, strict=True):
        _draw(picture, one, quad)
    hands = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
    for x, y, radius in scene.hands:
        ring = np.array([[x + radius * np.cos(a), y + radius * np.sin(a)] for a in np.linspace(0, 2 * np.pi, 24)])
        outline = np.round(to_pixels(ring, scene.pose, scale)).astype(np.int32)
        cv2.fillConvexPoly(hands, outline, 255)
        cv2.fillConvexPoly(picture, outline, HAND)
    tiles, marks, shown, quads = [], [], [], []
    for number in chance.permutation(len(scene.tiles)):
        one, over = scene.tiles[number], bool(chance.random() < 0.5)
        width = np.linalg.norm(pixels[number][1] - pixels[number][0])
        quad = pixels[number] + chance.normal(0, scene.pose.noise * width, (4, 2))
        if one.found:
            tiles.append(DetectedTile(np.roll(quad, 2 if over else 0, axis=0), one.face_up, one.likelihood))
            marks.append(_mark(one, over=over))
            shown.append(one)
            quads.append(quad)
    cells = cv2.resize(hands, (int(WIDTH / CELL), int(HEIGHT / CELL)), interpolation=cv2.INTER_AREA)
    found = Detections(tuple(tiles), np.asarray(cells, dtype=np.uint8), CELL)
    return Seen(picture, found, tuple(marks), tuple(shown), tuple(quads))


def _mark(one: Lying, *, over: bool) -> TileMark | None:
    if one.face_up:
        return None
    if not one.told:
        return TileMark(None, None, None, 0.0, np.full(2, np.nan))
    return TileMark(one.serial, one.set_text, over, 0.99, SPOT, pitch=PITCH if one.set_text is None else np.nan)


def _draw(picture: Picture, one: Lying, quad: Quad) -> None:
    cv2.fillConvexPoly(picture, np.round(quad).astype(np.int32), FACE if one.face_up else one.colour)
    middle = quad.mean(axis=0)
    mark = middle + (quad - middle) * [0.5, 0.2]
    cv2.polylines(picture, [np.round(mark).astype(np.int32)], isClosed=True, color=INK, thickness=2)


def to_pixels(points: Points, pose: Pose, scale: float) -> Points:
    """Map mm on the table to pixels: rotated by the azimuth, tilted, distorted by the lens."""
    distance, lean = 700.0, np.radians(pose.tilt)
    spun = points @ _spin(pose.azimuth).T
    depth = 1 - spun[:, 1] * np.sin(lean) / distance
    flat = np.column_stack([spun[:, 0], spun[:, 1] * np.cos(lean)]) / depth[:, None] * scale
    reach = np.hypot(WIDTH, HEIGHT) / 2
    bent = flat * (1 - pose.lens * ((flat / reach) ** 2).sum(axis=1, keepdims=True))
    return np.asarray(bent + np.array([WIDTH, HEIGHT]) / 2, dtype=np.float64)
