"""Stage 6, places without a read: is there a tile's back, a face, a hand, or nothing? Only the picture is asked."""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Picture, Points
from vision.lattice import LEFT, Lattice
from vision.reading import State
from vision.tiles import Flat, Shape, strangeness

_ALIKE = 0.5  # strangeness below which a pixel has the back's colour
_EVEN = 18.0  # levels: the rim of a back or a face is of one colour, that of an empty slot is wall, shadow and floor
_PRINT = 20.0  # levels of spread in the middle: a label or a face's print; a floor's grain stays below
_GLARE = 245.0
_LIKE_BACKS, _LIKE_NONE = 0.7, 0.12  # share of the rim that has the backs' colour: a back; none of a back
_ON_FLOOR = 0.3  # share of the rim that has the floor's colour: walls and shadows hide the rest
_LIGHTER = 30.0  # levels above the floor: no shadow
_WHITE_TINT, _WHITE_LIGHT = 0.72, 0.6  # a face against a label's white: least tint kept, least brightness


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A place's appearance: its rim's colour (BGR, shape (3,)) and spread in levels, and its middle's spread."""

    colour: Points
    spread: float
    middle_spread: float
    rim: Picture  # shape (n, 1, 3)
    bright: Points  # the middle's brightest colour, BGR, shape (3,): on a back the label's white

    def share_of(self, colour: Points) -> float:
        """Give which part of the rim, 0..1, has a colour."""
        return float((strangeness(self.rim, colour) < _ALIKE).mean())


def look_at(flat: Flat, middle: Points, shape: Shape) -> Look:
    """Look at the place whose tile has its `middle`, shape (2,), there in the plane."""
    patch = flat.patch(middle, shape.width, shape.height)
    height, width = patch.shape[:2]
    mask = np.zeros((height, width), dtype=bool)
    mask[_between(height, 0.07), _between(width, 0.07)] = True
    mask[_between(height, 0.2), _between(width, 0.2)] = False
    rim = patch[mask]
    colour = np.median(rim, axis=0)
    core = patch[_between(height, 0.25), _between(width, 0.25)].reshape(-1, 3)
    spread = float(np.percentile(np.abs(rim - colour).max(axis=1), 75))
    return Look(
        np.asarray(colour),
        spread,
        float(core.std(axis=0).max()),
        rim.reshape(-1, 1, 3),
        np.asarray(np.percentile(core, 90, axis=0)),
    )


def _between(length: int, margin: float) -> slice:
    return slice(round(length * margin), length - round(length * margin))


def floor_colour(flat: Flat, lattice: Lattice, shape: Shape) -> Points:
    """Give the colour of the tray's floor, BGR, where its short rows leave it open, shape (3,)."""
    spots = (
        ((1, 11), (1, 12), (2, 10), (2, 11), (2, 12))
        if lattice.indents == LEFT
        else ((1, -1), (1, 11), (2, -1), (2, 10))
    )
    seen = [look_at(flat, lattice.spot(*spot) + shape.seat, shape).colour for spot in spots]
    return np.asarray(np.median(seen, axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """What is usual in this tray: the colours, BGR, shape (3,), of backs nearby, of the floor and of labels' white.

    `printed` is how much the middle of a back with a label spreads, in levels.
    """

    back: Points
    floor: Points
    white: Points
    printed: float


def judge(look: Look, usual: Usual, *, labelled: bool) -> State:
    """Say what a place without a read holds; `labelled` tells whether a DataMatrix's black L was found there."""
    alike = look.share_of(usual.back)
    printed = look.middle_spread > _PRINT
    if labelled:
        return State.BACK  # perhaps of a set of another colour
    if alike >= _LIKE_BACKS:  # a tray may have the tiles' colour: then the label tells
        return State.BACK if look.middle_spread > 0.4 * usual.printed else State.EMPTY
    if look.spread < _EVEN and alike < _LIKE_NONE:
        return _judge_even(look, usual, printed=printed)
    if alike >= _LIKE_NONE and printed:  # an even rim is a back in other light, an uneven one has something over it
        return State.OCCLUDED if look.spread >= _EVEN else State.BACK
    return State.OCCLUDED if _is_covered(look, usual.floor) else State.EMPTY


def _judge_even(look: Look, usual: Usual, *, printed: bool) -> State:
    """Judge a place whose rim has one colour, another one than the backs nearby."""
    on_the_floor = look.share_of(usual.floor) >= _ON_FLOOR
    if _is_whitish(look.colour, usual.white) and (printed or not on_the_floor):
        return State.FACE_UP  # the white dragon has no print
    if printed:
        return State.BACK  # of a set of another colour, its label too blurred to tell
    return State.EMPTY if on_the_floor or not _is_covered(look, usual.floor) else State.OCCLUDED


def _is_whitish(colour: Points, white: Points) -> bool:
    """Tell whether a colour is that of white or ivory in this light: no hand, no wood."""
    share = (colour + 1) / (white + 1)
    return bool(share.min() > _WHITE_TINT * share.max() and share.max() > _WHITE_LIGHT)


def _is_covered(look: Look, floor: Points) -> bool:
    """Nothing of the tray is seen, and what is there is no shadow and no glare."""
    lighter = float(look.colour.mean() - floor.mean()) > _LIGHTER
    return look.share_of(floor) < _ON_FLOOR and lighter and float(look.colour.max()) < _GLARE
