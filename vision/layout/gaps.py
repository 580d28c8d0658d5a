"""Step 7, places where no tile was found: empty, covered, or with a back that was overlooked.

Two things tell. A back has its print: on the development pictures the fine detail in the middle of each of 1,784 backs
was at least 0.54 of its neighbours', and that of most floors far less, glare or not. And colour: is each point of the
place's rim nearer to some point of the backs nearby, or to some point of the floor that the short rows leave open? Of
those backs at least 0.75 of the rim was on the backs' side, of 252 empty places at most 0.17.
"""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Picture, Points, Quad
from vision.layout.frames import Indices
from vision.layout.lattice import Lattice
from vision.layout.samples import CORE, CORE_SIDE, RIM, Colours, colours_on, inside_share
from vision.layout.tray import LEFT, places
from vision.reading import State

COVERED = 0.12  # share under a hand from which a place counts as covered
_EMPTY, _BACK = 0.3, 0.6  # share of the rim on the backs' side: up to the one, from the other
_NEITHER = 20.0  # L*a*b* units: a rim as far as this from backs and floor is something else
_BARE, _PRINTED = 0.4, 0.65  # share of the backs' usual print: less is no back; enough where colours leave it open
_LIGHTER, _WHITE = 25.0, 97.0  # lightness
_FAINT = 0.1  # lightness: there is always some noise
_NEAR = 5
_WHERES = np.array(list(places()))
_IN_PICTURE = 0.75  # share of a place that must be seen before anything is said of it


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What gaps are judged by: the 34 places in reading order, and the floor where the short rows leave it open."""

    inside: Points  # share of each place that is in the picture, shape (34,)
    rims: Colours  # shape (34, m, 3)
    details: Points  # shape (34,)
    floor: Colours  # shape (n, 3)


def look_at(picture: Picture, quads: Quad, lattice: Lattice) -> Ground:
    """Look at all places of a tray, `quads` of shape (34, 4, 2): a tile's own where one was found."""
    left = ((1, 11), (1, 12), (2, 10), (2, 11), (2, 12))
    open_spots = left if lattice.indents == LEFT else ((1, -1), (1, 11), (2, -1), (2, 10))
    floor = colours_on(picture, lattice.quads(lattice.spots(*np.array(open_spots, dtype=float).T)), RIM)
    details = _detail(colours_on(picture, quads, CORE))
    return Ground(inside_share(picture, quads), colours_on(picture, quads, RIM), details, floor.reshape(-1, 3))


def judge_gap(ground: Ground, gap: int, backs: Indices, *, found: bool = False) -> State:
    """Say whether place number `gap`, where neither a tile nor a hand was found, is empty, covered or holds a back.

    `backs` are the numbers of places that hold one. What is neither back nor floor, or outside of the picture, is
    called a back: nothing is claimed of it. Where the finder `found` a tile, missing print is no proof: glare hides it.
    """
    if not len(backs) or ground.inside[gap] < _IN_PICTURE:
        return State.BACK
    near = backs[np.argsort(np.abs(_WHERES[backs] - _WHERES[gap]) @ [1.4, 1.0], kind="stable")[:_NEAR]]
    printed = float(ground.details[gap] / max(np.median(ground.details[near]), _FAINT))
    rim = ground.rims[gap]
    to_back, to_floor = _nearest(rim, ground.rims[near].reshape(-1, 3)), _nearest(rim, ground.floor)
    if np.median(to_floor) > _NEITHER and _is_over_it(rim, ground.rims[near], ground.floor):
        return State.OCCLUDED
    if printed < _BARE and not found:
        return State.EMPTY
    share = float((np.sign(to_floor - to_back) + 1).mean() / 2)
    if share >= _BACK or min(np.median(to_back), np.median(to_floor)) > _NEITHER:
        return State.BACK
    return State.BACK if share > _EMPTY and printed > _PRINTED else State.EMPTY


def _is_over_it(rim: Colours, backs: Colours, floor: Colours) -> bool:
    """Tell whether a rim is unlike most backs nearby, one of which may be half covered, and lighter than the floor.

    Then it is no shadow and, below white, no glare.
    """
    usual, light = np.median(rim, axis=0), float(np.median(rim[:, 0]))
    apart = np.linalg.norm(np.median(backs, axis=1) - usual, axis=1)
    return bool(np.median(apart) > _NEITHER and float(np.median(floor[:, 0])) + _LIGHTER < light < _WHITE)


def _nearest(rim: Colours, others: Colours) -> Points:
    """Give how far each point of a rim is from the nearest of other colours, shape (m,)."""
    away = rim[:, None] - others[None]
    return np.asarray(np.sqrt((away**2).sum(axis=2).min(axis=1)), dtype=np.float64)


def _detail(cores: Colours) -> Points:
    """Give the mean step in lightness between neighbouring points of each middle, shape (n,)."""
    light = cores[..., 0].reshape(len(cores), CORE_SIDE, CORE_SIDE)
    down, right = np.abs(np.diff(light, axis=1)), np.abs(np.diff(light, axis=2))
    return np.asarray(down.mean(axis=(1, 2)) + right.mean(axis=(1, 2)), dtype=np.float64)
