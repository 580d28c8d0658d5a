"""Tiles and marks as a good finder and reader give them, made from a truth file (`tileback-truth/1`) and noise."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from vision.geometry import Quad
from vision.sight import Found, Mark, Tile

Truth = dict[str, Any]
CELL = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How far from perfect: `corner` as a share of a tile's width (one sigma), the rest as probabilities."""

    corner: float = 0.025
    missed: float = 0.02
    stray: float = 0.3  # each of two possible false tiles
    unread: float = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What the layout is given, and for each tile the truth's index, None for a false one."""

    found: Found
    marks: tuple[Mark | None, ...]
    truth: tuple[int | None, ...]


def see(truth: Truth, noise: Noise, seed: int) -> Seen:
    """Give tiles and marks of a picture; tiles that are more than half hidden are not found."""
    chance = np.random.default_rng([seed, truth["seed"], truth["index"]])
    tiles: list[Tile] = []
    marks: list[Mark | None] = []
    origin: list[int | None] = []
    for number, one in enumerate(truth["tiles"]):
        if one["occluded"] > 0.5 or chance.random() < noise.missed:
            continue
        quad, turned = _jittered(np.array(one["quad"]), noise, chance)
        tiles.append(Tile(quad, one["state"] == "face-up", 0.99))
        marks.append(_mark(one, noise, chance, turned=turned) if one["state"] == "back" else None)
        origin.append(number)
    for _ in range(2 if tiles else 0):
        if chance.random() < noise.stray:
            tiles.append(_stray(tiles, truth, chance))
            marks.append(None)
            origin.append(None)
    order = chance.permutation(len(tiles))
    found = Found(tuple(tiles[at] for at in order), _hands(truth), CELL)
    return Seen(found, tuple(marks[at] for at in order), tuple(origin[at] for at in order))


def _jittered(quad: Quad, noise: Noise, chance: np.random.Generator) -> tuple[Quad, bool]:
    width = float(np.linalg.norm(quad[1] - quad[0]))
    turned = bool(chance.random() < 0.5)
    shaken = quad + chance.normal(0, noise.corner * width, (4, 2))
    return np.roll(shaken, 2 if turned else 0, axis=0), turned


def _mark(one: Truth, noise: Noise, chance: np.random.Generator, *, turned: bool) -> Mark:
    quad = np.array(one["quad"], dtype=np.float32)
    to_tile = cv2.getPerspectiveTransform(quad, np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32))
    middle = np.mean(one["mark_quad"], axis=0)
    spot = cv2.perspectiveTransform(middle[None, None], to_tile)[0, 0] - 0.5 + chance.normal(0, 0.007, 2)
    if not one["readable"] or chance.random() < noise.unread:
        return Mark(None, None, None, 0.0, np.full(2, np.nan))
    number = one["set"]
    return Mark(one["serial"], number, turned, 0.99, np.asarray(spot, dtype=np.float64))


def _stray(tiles: list[Tile], truth: Truth, chance: np.random.Generator) -> Tile:
    """Give a false tile as large as one of the true ones, anywhere."""
    quad = tiles[int(chance.integers(len(tiles)))].quad
    spin = chance.uniform(0, 2 * np.pi)
    turn = np.array([[np.cos(spin), -np.sin(spin)], [np.sin(spin), np.cos(spin)]])
    centre = chance.uniform([0, 0], [truth["width"], truth["height"]])
    return Tile((quad - quad.mean(axis=0)) @ turn.T + centre, face_up=False, likelihood=0.6)


def _hands(truth: Truth) -> np.typing.NDArray[np.uint8]:
    """Give a hands map in which each tile's top is covered by as much as the truth says."""
    shape = (int(np.ceil(truth["height"] / CELL)), int(np.ceil(truth["width"] / CELL)))
    fine = np.zeros((shape[0] * 4, shape[1] * 4), dtype=np.uint8)
    for one in truth["tiles"]:
        if one["occluded"] > 0.05:
            a, b, c, d = np.array(one["quad"])
            part = np.array([a, b, b + (c - b) * one["occluded"], a + (d - a) * one["occluded"]])
            cv2.fillConvexPoly(fine, np.round(part * 4 / CELL).astype(np.int32), 255)
    return np.asarray(cv2.resize(fine, shape[::-1], interpolation=cv2.INTER_AREA), dtype=np.uint8)
