"""Draw a table with tiles, and return exactly where they are. Every picture depends on its seed alone."""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points
from vision.training.scene_art import Grain, any_colour, grain_bank, lay_texture, similar_colour
from vision.training.scene_layout import SceneSlab, SceneTable, SceneTile, outline, random_table
from vision.training.scene_light import light_up, photograph, shadows
from vision.training.scene_paint import (
    Canvas,
    Pinhole,
    TileAppearance,
    at_height,
    paint_hand,
    paint_slab,
    paint_tile,
    random_appearance,
    random_pinhole,
    random_trim,
)

SIZE = (320, 256)  # width, height of a picture
CELL = 4  # pixels: side of a cell of the maps
_FINE = 2  # scenes are painted this many times larger
_LEAST_SEEN = 0.35  # share of a tile's top; if less is visible, it counts neither as a tile nor as none


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A picture and its truth.

    `quads`: the tiles, shape (n, 4, 2), pixels; `faces`, shape (n,): which of them lie face up. Maps of cells: `cores`
    (0 for none, k for the core of tile k - 1), `unsure` (tiles that are mostly hidden), `hands` (0..255). `decoys`,
    shape (m, 4, 2), pixels: empty places, cards and prints that might be mistaken for tiles.
    """

    picture: Picture
    quads: NDArray[np.float32]
    faces: NDArray[np.bool_]
    cores: Picture
    unsure: Picture
    hands: Picture
    decoys: NDArray[np.float32]


def draw_scene(seed: int) -> Scene:
    """Draw the scene of a seed."""
    rng = np.random.default_rng(seed)
    size = _tile_size(rng)
    look = random_appearance(rng, size)
    table = random_table(rng, size)
    width = _apparent_width(rng)
    middle = np.array(SIZE) * _FINE / 2 + rng.normal(0, 30, 2) * _FINE
    pinhole = random_pinhole(rng, width * _FINE / size[0], size[0], middle)
    canvas = _ground(rng, pinhole, look, table)
    decoys = _decoys(pinhole, look, table)
    quads, faces = _paint(rng, canvas, pinhole, look, table)
    for _ in range(int(rng.choice([0, 1, 2], p=[0.65, 0.25, 0.1]))):
        paint_hand(rng, canvas, quads, width * _FINE)
    picture = photograph(rng, light_up(rng, canvas, SIZE))
    return _truth(canvas, picture, quads, faces, decoys)


def _apparent_width(rng: np.random.Generator) -> float:
    """Return the width of tiles in the picture, pixels; mostly in the finder's range, sometimes outside it."""
    least, most = [(14, 62), (8, 14), (62, 320)][int(rng.choice(3, p=[0.9, 0.05, 0.05]))]
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def _tile_size(rng: np.random.Generator) -> tuple[float, float, float]:
    width = float(rng.uniform(20, 32))
    return width, width * float(rng.uniform(1.22, 1.5)), width * float(rng.uniform(0.45, 0.85))


@cache
def _grains() -> list[Grain]:
    return grain_bank(np.random.default_rng(1))


def _ground(rng: np.random.Generator, pinhole: Pinhole, look: TileAppearance, table: SceneTable) -> Canvas:
    ground = _lay(rng, pinhole, look)
    floors = [slab for slab in table.slabs if slab.role == "floor"]
    if floors:
        mask = np.zeros(ground.shape[:2], np.uint8)
        for slab in floors:
            foot = pinhole.project(at_height(slab.corners, 0.0))
            cv2.fillConvexPoly(mask, np.round(foot / _FINE).astype(np.int32), 1)
        ground = np.where(mask[:, :, None] > 0, _lay(rng, pinhole, look), ground)
    ground = np.clip(ground * _shadows(rng, pinhole, look, table)[:, :, None], 0, 255).astype(np.uint8)
    return Canvas(cv2.resize(ground, (SIZE[0] * _FINE, SIZE[1] * _FINE), interpolation=cv2.INTER_LINEAR))


def _lay(rng: np.random.Generator, pinhole: Pinhole, look: TileAppearance) -> NDArray[np.float32]:
    grains = _grains()
    colour = similar_colour(rng, look.style.ground, 15) if rng.random() < 0.2 else any_colour(rng)
    zoom = float(np.exp(rng.uniform(np.log(0.4), np.log(2.0))))
    turn = rng.uniform(0, 2 * np.pi)
    c, s = zoom * np.cos(turn), zoom * np.sin(turn)
    spread = np.array([[c, -s, -256 * (c - s)], [s, c, -256 * (s + c)], [0, 0, 1]])
    grain = grains[int(rng.integers(len(grains)))]
    plane = np.diag([1 / _FINE, 1 / _FINE, 1]) @ pinhole.plane(0.0) @ spread
    return lay_texture(grain, colour, float(rng.uniform(0.02, 0.3)), plane, SIZE)


def _shadows(
    rng: np.random.Generator, pinhole: Pinhole, look: TileAppearance, table: SceneTable
) -> NDArray[np.float32]:
    cast = -look.light * look.size[2] * rng.uniform(0.1, 1.5)
    boxes = []
    for tile in (tile for tile in table.tiles if tile.shows != "empty"):
        foot = outline(tile.x, tile.y, look.size[0], look.size[1], tile.angle)
        boxes.append((pinhole.project(at_height(foot, 0)), pinhole.project(at_height(foot + cast, 0))))
    for slab in table.slabs:
        if slab.role not in {"floor", "print"}:
            fall = cast * min(1.0, slab.top / look.size[2])
            ends = at_height(slab.corners, 0), at_height(slab.corners + fall, 0)
            boxes.append((pinhole.project(ends[0]), pinhole.project(ends[1])))
    return shadows(rng, SIZE, [(foot / _FINE, fall / _FINE) for foot, fall in boxes])


def _paint(
    rng: np.random.Generator, canvas: Canvas, pinhole: Pinhole, look: TileAppearance, table: SceneTable
) -> tuple[list[Points], list[bool]]:
    """Paint everything from far to near, with cards and prints flat below everything else."""
    eye = pinhole.position()
    trims = {"rim": random_trim(rng, look), "rail": random_trim(rng, look), "card": look.face, "print": any_colour(rng)}
    lying: list[SceneSlab | SceneTile] = [slab for slab in table.slabs if slab.role != "floor"]
    lying += [tile for tile in table.tiles if tile.shows != "empty"]
    things = _in_view(pinhole, canvas, lying, look)
    things.sort(key=lambda thing: (_is_tall(thing), -np.hypot(thing.x - eye[0], thing.y - eye[1])))
    quads: list[Points] = []
    faces: list[bool] = []
    for thing in things:
        if isinstance(thing, SceneSlab):
            paint_slab(rng, canvas, pinhole, look, thing, trims[thing.role])
        else:
            quads.append(paint_tile(rng, canvas, pinhole, look, thing, len(quads) + 1))
            faces.append(thing.shows == "face")
    return quads, faces


def _is_tall(thing: SceneSlab | SceneTile) -> bool:
    return isinstance(thing, SceneTile) or thing.role not in {"card", "print"}


def _in_view(
    pinhole: Pinhole, canvas: Canvas, things: list[SceneSlab | SceneTile], look: TileAppearance
) -> list[SceneSlab | SceneTile]:
    """Return the things that may be visible: those whose middles lie in the picture or not far outside."""
    if not things:
        return []
    middles = pinhole.project(np.array([(thing.x, thing.y, 0.0) for thing in things]))
    reach = np.array([max(look.size[1], thing.width if isinstance(thing, SceneSlab) else 0) for thing in things])
    margin = (1.5 * pinhole.focal / pinhole.distance * reach)[:, None]
    seen = np.all((middles > -margin) & (middles < canvas.size + margin), axis=1).tolist()
    return [thing for thing, is_seen in zip(things, seen, strict=True) if is_seen]


def _decoys(pinhole: Pinhole, look: TileAppearance, table: SceneTable) -> list[Points]:
    empty = [outline(tile.x, tile.y, *look.size[:2], tile.angle) for tile in table.tiles if tile.shows == "empty"]
    flat = [slab.corners for slab in table.slabs if slab.role in {"card", "print"}]
    return [pinhole.project(at_height(corners, 0.0)) for corners in empty + flat]


def _truth(canvas: Canvas, picture: Picture, quads: list[Points], faces: list[bool], decoys: list[Points]) -> Scene:
    step = CELL * _FINE
    tiles, cores = (layer[step // 2 :: step, step // 2 :: step] for layer in (canvas.tiles, canvas.cores))
    cores = np.where(cores == tiles, cores, 0).astype(np.uint8)
    seen = np.bincount(canvas.tiles.ravel(), minlength=len(quads) + 1)[1:]
    whole = [_visible_area(quad, canvas.size) for quad in quads]
    hidden = [k + 1 for k in range(len(quads)) if seen[k] < _LEAST_SEEN * whole[k]]
    shape = (cores.shape[1], cores.shape[0])
    return Scene(
        picture=picture,
        quads=np.asarray(np.reshape(quads, (-1, 4, 2)) / _FINE, dtype=np.float32),
        faces=np.array(faces, bool),
        cores=np.where(np.isin(cores, hidden), 0, cores).astype(np.uint8),
        unsure=np.isin(tiles, hidden).astype(np.uint8),
        decoys=np.asarray(np.reshape(decoys, (-1, 4, 2)) / _FINE, dtype=np.float32),
        hands=np.asarray(cv2.resize(canvas.hands, shape, interpolation=cv2.INTER_AREA), dtype=np.uint8),
    )


def _visible_area(quad: Points, size: tuple[int, int]) -> float:
    frame = np.array([[0, 0], [size[0], 0], list(size), [0, size[1]]], np.float32)
    area, _ = cv2.intersectConvexConvex(quad.astype(np.float32), frame)
    return float(area)
