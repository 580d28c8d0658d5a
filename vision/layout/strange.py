"""Backs of another colour than the others: tiles of a foreign set whose mark names none.

Light changes a colour towards white (glare) and towards black (shade). A back is strange only where even those points
of its rim that are most like its neighbours lie off that way, or are far lighter or darker than any light explains.
Thresholds: over 1,500 backs of the development pictures, those of the set in play stay below 10, 15 and -29; when
unsure, nothing is said.
"""

import numpy as np

from vision.geometry import Points
from vision.layout.frames import Flags
from vision.layout.samples import Colours

_NEIGHBOURS = 6
_OTHER_HUE = 15.0  # L*a*b* units off the way from grey through the usual colour
_OTHER_TINT, _LIGHTER = 20.0, 22.0  # paler than the rest, and lighter: a light back among coloured ones
_DARKER = -45.0
_WHITE = 97.0  # lightness from which glare has eaten the colour
_FINGER_HUE, _FINGER_LIGHT = 6.0, 15.0  # L*a*b* units
_NEAREST = 0.25  # share of the rim's points that are most like the neighbours


def strange_backs(rims: Colours, centres: Points, backs: Flags, blank: Flags) -> Flags:
    """Tell which backs have clearly another colour than their neighbours; `rims` of shape (n, m, 3), L*a*b*.

    `blank` ones, which may be no tiles at all, are nobody's neighbours.
    """
    strange = np.zeros(len(rims), dtype=bool)
    if (backs & ~blank).sum() <= _NEIGHBOURS:
        return strange
    usual = _neighbours_colour(rims, centres, backs & ~blank)
    hue = _ranked(_off_hue(rims[..., 1:].astype(float), usual[:, None, 1:]), _NEAREST)
    tint = _ranked(np.hypot(*(rims[..., 1:] - usual[:, None, 1:]).transpose(2, 0, 1)), _NEAREST)
    lighter = rims[..., 0] - usual[:, None, 0]
    pale = (tint > _OTHER_TINT) & (_ranked(lighter, 0.1) > _LIGHTER)
    dark = _ranked(lighter, 0.9) < _DARKER
    glaring = np.median(rims[..., 0], axis=1) > _WHITE
    return np.asarray(backs & ((hue > _OTHER_HUE) | (pale & ~glaring) | dark))


def finger_shares(rims: Colours, centres: Points, backs: Flags) -> Points:
    """Give the share, 0..1, of each back's rim that is no light on a back: other in hue and in lightness at once.

    Worn edges and quads that are off can look so too: it counts for backs that were not read, or with a hand near.
    """
    if backs.sum() <= _NEIGHBOURS:
        return np.zeros(len(rims))
    usual = _neighbours_colour(rims, centres, backs)
    hue = _off_hue(rims[..., 1:].astype(float), usual[:, None, 1:])
    light = np.abs(rims[..., 0] - usual[:, None, 0])
    return np.asarray(backs * ((hue > _FINGER_HUE) & (light > _FINGER_LIGHT)).mean(axis=1))


def _ranked(values: Points, share: float) -> Points:
    """Give of each row the value that `share` of it lies below, shape (n,)."""
    place = round(share * (values.shape[1] - 1))
    return np.asarray(np.partition(values, place, axis=1)[:, place])


def _neighbours_colour(rims: Colours, centres: Points, backs: Flags) -> Points:
    """Give the median colour of the nearest backs, shape (n, 3); one strange neighbour does not change it."""
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    apart[:, ~backs] = np.inf
    near = np.argsort(apart, axis=1)[:, :_NEIGHBOURS]
    return np.asarray(np.median(np.median(rims, axis=1)[near], axis=1), dtype=np.float64)


def _off_hue(tints: Points, usual: Points) -> Points:
    """Give how far tints (a*, b*) lie from the way from grey to a quarter beyond the usual tint."""
    strength = np.linalg.norm(usual, axis=-1, keepdims=True)
    way = usual / np.maximum(strength, 1e-6)
    along = np.clip((tints * way).sum(axis=-1, keepdims=True), 0, 1.25 * strength + 4)
    return np.asarray(np.linalg.norm(tints - along * way, axis=-1))
