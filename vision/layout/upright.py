"""How much speaks for a tile standing the way its mark was read, and not upside down: 060 or 090, 001 or 100.

Two things tell that the mark itself does not: in one picture all marks sit at much the same spot of their tiles, and
the tiles of a tray stand one way. Both are given as natural log-odds, positive for the way the mark was read, and add
up, for a tile laid down upside down has its mark at the usual spot all the same.

Assumptions, for whoever sets a threshold:

* A mark's spot is off the picture's usual one by a Student t of 4 degrees of freedom in both directions. Its scale
  is what the picture shows, at least 0.012 of a side: 0.007 of print, the rest from corners found to 3 percent.
  Heavy tails, so that one bad quad cannot make a certainty.
* One tile in 40 lies upside down in its tray, each for itself: more than on the development pictures, where one in 300
  does. So many neighbours, all alike, are worth ln 39 = 3.7 and never more: this evidence is wrong as often as tiles
  are laid upside down.
"""

import numpy as np

from vision.geometry import Points
from vision.layout.tray import HALF_TURN
from vision.layout.values import Layout
from vision.sight import Mark

_FEWEST = 4  # other marks that make a usual spot
_SCALE = 0.012
_FREEDOM = 4.0
_UPSIDE_DOWN = 1 / 40


def upright_odds(tile: int, layout: Layout, marks: tuple[Mark | None, ...]) -> float:
    """Give the log-odds that tile number `tile` stands as its mark was read; 0.0 where nothing tells."""
    return spot_odds(tile, marks) + neighbour_odds(tile, layout, marks)


def spot_odds(tile: int, marks: tuple[Mark | None, ...]) -> float:
    """Give the log-odds by where the mark sits on the tile, against the other marks of the picture."""
    mark = marks[tile]
    others = [one.spot for number, one in enumerate(marks) if number != tile and one is not None and _stands(one)]
    if mark is None or not _stands(mark) or len(others) < _FEWEST:
        return 0.0
    spots = np.array(others)
    usual = np.median(spots, axis=0)
    scale = np.maximum(1.4826 * np.median(np.abs(spots - usual), axis=0), _SCALE)  # sigma from the median deviation
    return _fit(mark.spot, usual, scale) - _fit(-mark.spot, usual, scale)


def neighbour_odds(tile: int, layout: Layout, marks: tuple[Mark | None, ...]) -> float:
    """Give the log-odds, by how the other tiles of its tray stand, that a tile stands as its `Lie` says.

    That is how its mark was read; where the mark did not tell, how the tray stands. 0.0 for a tile in no tray.
    """
    lie = layout.lies[tile]
    if lie.row is None or lie.sideways or marks[tile] is None:
        return 0.0
    turns = [
        other.turn
        for number, other in enumerate(layout.lies)
        if number != tile and other.row is not None and other.seat == lie.seat and _known(marks[number])
    ]
    alike, against = turns.count(lie.turn), turns.count((lie.turn + HALF_TURN) % 360)
    same = 1 / (1 + (_UPSIDE_DOWN / (1 - _UPSIDE_DOWN)) ** (alike - against))  # the tray stands as this tile does
    stands = same * (1 - _UPSIDE_DOWN) + (1 - same) * _UPSIDE_DOWN
    return float(np.log(stands / (1 - stands)))


def _stands(mark: Mark) -> bool:
    """Tell whether it is known where the mark sits as it stands itself."""
    return mark.turned is not None and bool(np.isfinite(mark.spot).all())


def _known(mark: Mark | None) -> bool:
    return mark is not None and mark.turned is not None


def _fit(spot: Points, usual: Points, scale: Points) -> float:
    """Give the log-likelihood of a spot, up to a constant."""
    return float((-(_FREEDOM + 1) / 2 * np.log1p(((spot - usual) / scale) ** 2 / _FREEDOM)).sum())
