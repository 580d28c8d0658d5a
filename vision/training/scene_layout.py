"""Lay out a random table: tiles in trays, carriers, heaps or alone, and printed cards. All lengths in millimetres."""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Points

ROWS = (13, 11, 10)


def outline(x: float, y: float, width: float, depth: float, angle: float) -> Points:
    """Return the corners of a rotated rectangle in the plane, shape (4, 2), clockwise from its own top-left."""
    c, s = np.cos(angle), np.sin(angle)
    corners = (UNIT_SQUARE - 0.5) * [width, depth]
    return np.asarray(corners @ np.array([[c, s], [-s, c]]) + [x, y])


@dataclass(frozen=True, slots=True)
class SceneTile:
    """A place with a tile: its middle, its rotation (radians), and what it shows: back, face, foreign or empty."""

    x: float
    y: float
    angle: float
    shows: str


@dataclass(frozen=True, slots=True)
class SceneSlab:
    """A box other than a tile, such as a rim: its middle, size, rotation, and the heights of its bottom and top."""

    x: float
    y: float
    width: float
    depth: float
    angle: float
    bottom: float
    top: float
    role: str  # floor, rim, rail, card or print

    @property
    def corners(self) -> Points:
        """The outline in the plane, shape (4, 2)."""
        return outline(self.x, self.y, self.width, self.depth, self.angle)


Thing = TypeVar("Thing", SceneTile, SceneSlab)


@dataclass(frozen=True, slots=True, eq=False)
class SceneTable:
    """Everything on the table; the camera looks at the origin."""

    tiles: tuple[SceneTile, ...]
    slabs: tuple[SceneSlab, ...]


def random_table(rng: np.random.Generator, tile: tuple[float, float, float]) -> SceneTable:
    """Return a random table with tiles of size `tile`: width, height, thickness."""
    kind = rng.choice(["tray", "carrier", "heap", "single", "nothing"], p=[0.38, 0.2, 0.34, 0.05, 0.03])
    if kind == "tray":
        places, slabs = _tray(rng, tile, _habits(rng, tile))
    elif kind == "carrier":
        places, slabs = _carrier(rng, tile)
    else:
        count = {"heap": int(rng.integers(8, 50)), "single": 1, "nothing": 0}[str(kind)]
        places, slabs = _heap(rng, tile, count), []
    look = np.zeros(2)
    visible = [place for place in places if place.shows != "empty"]
    if visible:
        at = visible[int(rng.integers(len(visible)))]
        look = np.array([at.x, at.y]) + rng.normal(0, tile[1], 2)
    cards = [_card(rng, tile) for _ in range(int(rng.choice([0, 1, 2, 3], p=[0.6, 0.2, 0.1, 0.1])))]
    prints = _cloth(rng, tile) if rng.random() < (0.1 if visible else 0.5) else []
    slabs = [_turned(slab, 0.0, -look) for slab in slabs]
    return SceneTable(tuple(_turned(place, 0.0, -look) for place in places), (*slabs, *cards, *prints))


@dataclass(frozen=True, slots=True)
class _Habits:
    """How the trays of one picture are built and filled."""

    gap: float
    row_gap: float
    align: float
    rim: float
    rim_width: float
    rail: float
    askew: float
    faults: float


def _habits(rng: np.random.Generator, tile: tuple[float, float, float]) -> _Habits:
    return _Habits(
        gap=float(rng.choice([rng.uniform(0.0, 1.0), rng.uniform(0.3, 4.0)])),
        row_gap=float(rng.uniform(0.5, 8.0)),
        align=float(rng.choice([0.0, 0.5, 1.0, rng.random()])),
        rim=float(rng.uniform(0.15, 1.2) * tile[2]) if rng.random() < 0.7 else 0.0,
        rim_width=float(rng.uniform(1.5, 8.0)),
        rail=float(rng.uniform(0.1, 0.7) * tile[2]) if rng.random() < 0.5 else 0.0,
        askew=float(rng.choice([0.0, 0.01, 0.03])),
        faults=float(rng.choice([0.02, 0.06, 0.35], p=[0.5, 0.35, 0.15])),
    )


def _tray(
    rng: np.random.Generator, tile: tuple[float, float, float], habits: _Habits
) -> tuple[list[SceneTile], list[SceneSlab]]:
    width, height, _ = tile
    pitch, row_pitch = width + habits.gap, height + habits.row_gap
    long, deep = ROWS[0] * pitch + habits.gap, len(ROWS) * row_pitch + habits.row_gap
    places = []
    for row, count in enumerate(ROWS):
        left = -long / 2 + habits.gap + habits.align * (ROWS[0] - count) * pitch
        y = -deep / 2 + habits.row_gap + row_pitch * row + height / 2
        places += _row(rng, habits, [(left + pitch * col + width / 2, y) for col in range(count)])
        beyond = [*range(count, ROWS[0]), *range(count - ROWS[0], 0)]  # empty places at the row's ends
        places += [SceneTile(left + pitch * col + width / 2, y, 0.0, "empty") for col in beyond if ROWS[0] > count]
    floor = SceneSlab(0, 0, long + 2, deep + 2, 0, 0, 0.1, "floor")
    return places, [floor, *_walls(habits, long, deep, row_pitch)]


def _row(rng: np.random.Generator, habits: _Habits, spots: list[tuple[float, float]]) -> list[SceneTile]:
    places = []
    for x, y in spots:
        if rng.random() < habits.faults:
            fault = rng.choice(["empty", "face", "foreign", "askew"], p=[0.35, 0.35, 0.25, 0.05])
        else:
            fault = "back"
        angle = rng.normal(0, habits.askew) + (rng.normal(0, 0.5) if fault == "askew" else 0)
        dx, dy = rng.normal(0, max(0.05, habits.gap / 6)), rng.normal(0, habits.row_gap / 8)
        places.append(SceneTile(x + float(dx), y + float(dy), float(angle), "back" if fault == "askew" else str(fault)))
    return places


def _walls(habits: _Habits, long: float, deep: float, row_pitch: float) -> list[SceneSlab]:
    walls = []
    if habits.rim:
        w = habits.rim_width
        for x, y, a, b in (
            (0, -deep / 2 - w / 2, long + 2 * w, w),
            (0, deep / 2 + w / 2, long + 2 * w, w),
            (-long / 2 - w / 2, 0, w, deep),
            (long / 2 + w / 2, 0, w, deep),
        ):
            walls += _pieces(SceneSlab(x, y, a, b, 0, 0, habits.rim, "rim"))
    if habits.rail:
        for row in (1, 2):
            y = -deep / 2 + habits.row_gap / 2 + row * row_pitch
            walls += _pieces(SceneSlab(0, y, long, min(1.5, 0.8 * habits.row_gap), 0, 0, habits.rail, "rail"))
    return walls


def _pieces(wall: SceneSlab, length: float = 30.0) -> list[SceneSlab]:
    """Cut a wall into pieces, so that each can be painted in its turn from far to near."""
    count = max(1, round(max(wall.width, wall.depth) / length))
    along = np.arange(count) - (count - 1) / 2
    flat = wall.width > wall.depth
    width, depth = (wall.width / count, wall.depth) if flat else (wall.width, wall.depth / count)
    return [
        replace(wall, x=wall.x + k * width * flat, y=wall.y + k * depth * (not flat), width=width, depth=depth)
        for k in along.tolist()
    ]


def _carrier(rng: np.random.Generator, tile: tuple[float, float, float]) -> tuple[list[SceneTile], list[SceneSlab]]:
    habits = _habits(rng, tile)
    reach = 0.5 * ROWS[0] * (tile[0] + habits.gap) + rng.uniform(0.0, 0.3) * tile[1]
    places: list[SceneTile] = []
    slabs: list[SceneSlab] = []
    for seat in range(4):
        one, walls = _tray(rng, tile, habits)
        angle = seat * np.pi / 2 + rng.normal(0, 0.01)
        out = reach + 0.5 * 3 * (tile[1] + habits.row_gap) * rng.uniform(0.55, 1.05)
        # Each tray is shifted along its own side, so that the four form a pinwheel.
        shift = np.array([0.5 * 3 * tile[1] * rng.uniform(0.9, 1.1), out])
        places += [_turned(place, angle, shift) for place in one]
        slabs += [_turned(slab, angle, shift) for slab in walls]
    return places, slabs


def _turned(thing: Thing, angle: float, shift: NDArray[np.float64]) -> Thing:
    x, y = thing.x + shift[0], thing.y + shift[1]
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return replace(thing, x=c * x - s * y, y=s * x + c * y, angle=thing.angle + angle)


def _heap(rng: np.random.Generator, tile: tuple[float, float, float], count: int) -> list[SceneTile]:
    """Place tiles one by one at random, where they overlap no other."""
    reach = tile[1] * np.sqrt(count) * rng.uniform(0.55, 1.1)
    faces = rng.choice([0.0, 0.05, 0.3], p=[0.3, 0.5, 0.2])
    shows = [str(s) for s in rng.choice(["back", "face", "foreign"], count, p=[0.98 - faces, faces, 0.02])]
    places: list[SceneTile] = []
    for show in shows:
        for _ in range(12):
            x, y = rng.uniform(-reach, reach, 2)
            place = SceneTile(float(x), float(y), float(rng.uniform(0, 2 * np.pi)), show)
            if all(_apart(place, other, tile) for other in places):
                places.append(place)
                break
    return places


def _apart(one: SceneTile, other: SceneTile, tile: tuple[float, float, float]) -> bool:
    """Return whether two tiles do not overlap (separating axis theorem)."""
    between = np.array([other.x - one.x, other.y - one.y])
    half = np.array([tile[0], tile[1]]) / 2
    if float(np.hypot(*between)) > float(np.hypot(*half)) * 2:
        return True
    for angle in (one.angle, other.angle):
        for axis in (np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])):
            if abs(float(between @ axis)) > _reach(one, axis, half) + _reach(other, axis, half):
                return True
    return False


def _reach(place: SceneTile, axis: NDArray[np.float64], half: NDArray[np.float64]) -> float:
    c, s = np.cos(place.angle), np.sin(place.angle)
    return float(half[0] * abs(c * axis[0] + s * axis[1]) + half[1] * abs(-s * axis[0] + c * axis[1]))


def _card(rng: np.random.Generator, tile: tuple[float, float, float]) -> SceneSlab:
    """Return a card anywhere in view; some are as large as a tile, so that not every white rectangle is a tile."""
    width = tile[0] * float(rng.choice([rng.uniform(0.8, 1.6), rng.uniform(1.6, 5.0)]))
    x, y = rng.normal(0, tile[1] * 3, 2)
    depth = width * float(rng.uniform(0.5, 1.5))
    return SceneSlab(float(x), float(y), width, depth, float(rng.uniform(0, 6.3)), 0.1, 0.5, "card")


def _cloth(rng: np.random.Generator, tile: tuple[float, float, float]) -> list[SceneSlab]:
    """Return the numbers printed on a cloth, in rows or scattered; they have about the size of a tile."""
    width, depth = np.array(tile[:2]) * rng.uniform(0.6, 1.5)
    columns, rows = (int(count) for count in rng.integers(1, 14, 2))
    apart = np.array([width, depth]) * rng.uniform(0.9, 2.5, 2)
    grid = (np.indices((columns, rows)).reshape(2, -1).T - (np.array([columns, rows]) - 1) / 2) * apart
    scatter, angle = float(rng.choice([0.0, 0.02, 0.5])), float(rng.uniform(0, 2 * np.pi))
    spots = grid + rng.normal(0, scatter, grid.shape) * apart
    turns = rng.normal(0, scatter, len(grid))
    lying = [SceneSlab(x, y, width, depth, turn, 0, 0, "print") for (x, y), turn in zip(spots, turns, strict=True)]
    middle = rng.normal(0, 2 * tile[1], 2)
    return [_turned(slab, angle, middle) for slab in lying]
