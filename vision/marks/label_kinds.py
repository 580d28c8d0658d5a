"""How the labels of a picture look: taken from those that are read already, or searched on a few tiles."""

from collections.abc import Iterable, Iterator
from statistics import multimode

import numpy as np

from vision.geometry import Picture, Quad
from vision.marks.label_look import Look, find, fit, look_again
from vision.marks.label_odds import is_certain
from vision.marks.label_patch import Kind
from vision.marks.label_words import MODULE_COUNTS

_SIDES = (0.32, 0.345, 0.375, 0.405, 0.435, 0.47)  # of a DataMatrix, shares of a tile's width
_TALL = 1.36  # a tile's height by its width: 1.3 to 1.4 is usual, and a fit takes up the rest
_SPOT = np.array([0.0, -0.04])  # where labels are stuck on: about the middle, rather above it
_REACH = 0.17  # shares of a tile's width about it
_FITTED = 8  # of the places where a frame may be, the likeliest
_GUESSED = 3  # of these


def usual_kind(kinds: Iterable[Kind]) -> Kind | None:
    """Give the kind of most labels, its spot and size their medians; None where there are none."""
    standing = [kind for kind in kinds if np.isfinite(kind.spot).all()]
    if not standing:
        return None
    count = multimode(kind.count for kind in standing)[0]
    alike = [kind for kind in standing if kind.count == count]
    return Kind(
        count, np.median([kind.spot for kind in alike], axis=0), np.median([kind.size for kind in alike], axis=0)
    )


def search_look(grey: Picture, quad: Quad) -> Look | None:
    """Look at a tile for labels of every kind; give the one that is read for certain, None without."""
    found = sorted(_search(grey, quad), key=lambda look: -look.frame)[:_FITTED]
    fitted = sorted((fit(look) for look in found), key=lambda look: -look.frame)[:_GUESSED]
    for look in fitted:
        closer = look_again(look)
        if is_certain(closer, None):
            return closer
    return None


def _search(grey: Picture, quad: Quad) -> Iterator[Look]:
    for count in MODULE_COUNTS:
        for side in _SIDES:
            kind = Kind(count, _SPOT, np.array([side, side / _TALL]))
            for turned in (False, True):
                yield find(grey, quad, kind, turned=turned, margin=_REACH * count / side, angles=(0.0,))
