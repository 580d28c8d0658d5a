"""What lies beside a tray and is no tile of its set: cards, counters, telephones, numbers printed on the cloth.

A tray shows how the tiles of the set look: how large they are, of what colour, how their numbers are printed. A number
beside it is a serial only if it is like them. A label of ours is on no card: it counts wherever it lies. Without a tray
there is nothing to compare with.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from vision.detections import TileMark
from vision.geometry import UNIT_SQUARE, Points, Quad, project
from vision.plane import HEIGHT

_FEWEST = 6  # tiles of trays that are read, before anything is compared with them
_SIZE = 0.12  # share by which a tile's sides may differ from the usual: corners are off by up to 6 %
_PITCH = 0.11  # share by which the distance between digits may
_HELD = 0.02  # how much a digit's width is held to the usual one: a tenth of what a number tells in which it stands
_WIDER = 0.6  # of the usual by which a digit may be wider or narrower
_SPOT = 0.08  # of a tile's sides by which a number may stand elsewhere
_TINT, _LIGHT = 8.0, 9.0  # L*a*b* units by which a back may differ from the nearest in a tray; light falls unevenly
_NEAREST = 6
_OF_ONE_COLOUR = 11.0  # L*a*b* units, lightness counted half
_WEIGHTS = np.array([0.5, 1.0, 1.0])  # lightness tells less than tint: light falls unevenly
_MANY, _MOST = 4, 1 / 3  # things beside a tray that are unlike its tiles, and their share, from which all are doubted
_CLUTTER = 20  # such things from which nothing in the picture is believed, not even the tray


def unlike_tiles(
    flat: Quad, colours: Points, marks: Sequence[TileMark | None], held: Sequence[int], loose: Sequence[int]
) -> frozenset[int]:
    """Return which of the `loose` tiles are read and yet not like those that trays hold; in clutter, all tiles.

    `flat`, shape (n, 4, 2), are all tiles' outlines in the plane of their backs, tile widths; `colours`, shape (n, 3),
    their backs' colours, CIE L*a*b*.
    """
    sure = [number for number in held if _is_read(marks[number])]
    read = [number for number in loose if _is_read(marks[number]) and _is_printed(marks[number])]
    if len(sure) < _FEWEST or not read:
        return frozenset()
    usual = np.median([_sides(flat[number]) for number in sure], axis=0)
    printed = [marks[number] for number in sure]
    unlike = frozenset(
        number
        for number in read
        if not (
            is_of_size(_sides(flat[number]), usual)
            and is_of_colour(colours[number], _nearby(flat, colours, number, sure))
            and is_printed_alike(marks[number], printed)
        )
    )
    if is_clutter(len(unlike)):
        return frozenset((*held, *read))
    # Where much beside a tray is print on something else, what happens to be like the tiles is that, too.
    return frozenset(read) if len(unlike) >= _MANY and len(unlike) >= _MOST * len(read) else unlike


def is_clutter(unlike: int) -> bool:
    """Return whether so much is printed about the tray that what seems to be the tray may be print as well."""
    return unlike >= _CLUTTER


def usual_spot(marks: Sequence[TileMark | None]) -> Points | None:
    """Return where numbers stand on most tiles, shape (2,), in shares of a tile from its middle; None without any."""
    spots = [mark.spot for mark in marks if mark is not None and _is_printed(mark)]
    return np.asarray(np.median(spots, axis=0)) if spots else None


def expected_outline(quad: Quad, mark: TileMark, near: Quad, spot: Points) -> Quad:
    """Return the outline of a tile that is as large as that of a place `near` it, and has its number on its `spot`.

    `mark` is what was read along `quad`. All are shape (4, 2), pixels; the spot is in shares of the tile.
    """
    way = -1 if mark.turned else 1
    line = 0.5 + way * (mark.spot + np.array([[0.0, 0.0], [0.1, 0.0]]))
    unit = cv2.getPerspectiveTransform(UNIT_SQUARE.astype(np.float32), quad.astype(np.float32))
    start, end = project(unit.astype(np.float64), line)
    return _laid(start, end - start, near, spot)


def outline_as_large(quad: Quad, near: Quad) -> Quad:
    """Return the outline of a tile as large as that of a place `near` it, that lies about as `quad` does."""
    return _laid(quad.mean(axis=0), quad[1] - quad[0] + quad[2] - quad[3], near, np.zeros(2))


def _laid(at: Points, right: Points, near: Quad, spot: Points) -> Quad:
    """Return the outline, as large as `near`, of a tile whose `spot` lies at a pixel and whose top runs to the right.

    In the plane in which `near` is a tile's rectangle, which is right close to it.
    """
    across, down = near[1] + near[2] - near[0] - near[3], near[2] + near[3] - near[0] - near[1]
    plane = np.column_stack([across, down / HEIGHT]) / 2  # pixels of a tile's width, either way
    start, way = np.linalg.solve(plane, np.column_stack([at, right])).T
    way = way / np.linalg.norm(way)
    sides = np.array([way, HEIGHT * np.array([-way[1], way[0]])])
    return np.asarray((start + (UNIT_SQUARE - 0.5 - spot) @ sides) @ plane.T)


def colour_groups(colours: Points, fewest: int) -> list[list[int]]:
    """Return the backs of one colour each, shape (n, 3), L*a*b*, largest group first; none that holds all of them."""
    left = list(range(len(colours)))
    groups = []
    while len(left) >= fewest:
        apart = np.linalg.norm((colours[left][:, None] - colours[left][None]) * _WEIGHTS, axis=2) <= _OF_ONE_COLOUR
        middle = int(apart.sum(axis=1).argmax())
        members = [number for number, near in zip(left, apart[middle], strict=True) if near]
        if fewest <= len(members) < len(colours):
            groups.append(members)
        left = [number for number in left if number not in set(members)]
    return sorted(groups, key=len, reverse=True)


def _is_read(mark: TileMark | None) -> bool:
    return mark is not None and (mark.serial is not None or mark.either is not None)


def _is_printed(mark: TileMark | None) -> bool:
    return mark is not None and bool(np.isfinite(mark.pitch))


def _sides(quad: Quad) -> Points:
    """Return an outline's short and long sides, shape (2,)."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    return np.array([(sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2])


def is_of_size(sides: Points, usual: Points) -> bool:
    """Return whether short and long sides are about as long as is usual in the trays, and as a tile's are."""
    return bool((np.abs(sides / usual - 1) <= _SIZE).all() and abs(sides[1] / sides[0] / HEIGHT - 1) <= _SIZE)


def _nearby(flat: Quad, colours: Points, number: int, sure: Sequence[int]) -> Points:
    """Return the median colour of the tiles in trays that are nearest."""
    middles = flat[list(sure)].mean(axis=1)
    near = np.argsort(np.linalg.norm(middles - flat[number].mean(axis=0), axis=1))[:_NEAREST]
    return np.asarray(np.median(colours[list(sure)][near], axis=0))


def is_of_colour(colour: Points, usual: Points) -> bool:
    """Return whether a back's colour, L*a*b*, is the usual one, in more or less light."""
    return bool(np.hypot(*(colour - usual)[1:]) <= _TINT and abs(colour[0] - usual[0]) <= _LIGHT)


def expected_pitch(mark: TileMark, others: Sequence[TileMark]) -> float:
    """Return how far apart the first and the last digit of a number would stand in the print of the `others`.

    In many fonts a 1 is narrower than a 0: how wide each digit is follows from the numbers in which it stands, where
    it stands in none it is as wide as most. From middle to middle it is half of both outer digits and the middle one.
    """
    usual = float(np.median([other.pitch for other in others]))
    widths = np.array([_digit_widths(other) for other in others])
    wider = np.linalg.solve(
        widths.T @ widths + _HELD * np.eye(10), widths.T @ [other.pitch - usual for other in others]
    )
    return usual + float(_digit_widths(mark) @ np.clip(wider, -_WIDER * usual, _WIDER * usual))


def _digit_widths(mark: TileMark) -> Points:
    """Return how much the width of each of the ten digits counts in a number's pitch, shape (10,)."""
    digits = [int(digit) for digit in f"{mark.serial or (mark.either or (0,))[0]:03d}"]
    return np.asarray(np.bincount(digits, weights=(0.25, 0.5, 0.25), minlength=10))


def is_printed_alike(mark: TileMark | None, others: Sequence[TileMark | None]) -> bool:
    """Return whether a number is printed as most others are: numbers, too, as wide, at the same spot."""
    numbers = [other for other in others if other is not None and _is_printed(other)]
    if mark is None or 2 * len(numbers) <= len(others):
        return False
    usual = expected_pitch(mark, numbers)
    spot = np.median([other.spot for other in numbers], axis=0)
    off = float(np.abs(mark.spot - spot).max())
    if mark.turned is None:  # then its spot may be that of the tile upside down
        off = min(off, float(np.abs(mark.spot + spot).max()))
    return abs(mark.pitch - usual) <= _PITCH * usual and off <= _SPOT
