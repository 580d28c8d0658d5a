"""From single marks to those that count: what is unsure, torn or twofold is not read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.sight import Found, Mark, Tile

SURE = 0.95  # confidence from which a serial counts: how it was chosen is told in docs/vision-measured.md
_DOUBLE = 0.6  # of a tile's width
Marks = tuple[Mark | None, ...]  # one for each tile found; None for faces


def is_sure(mark: Mark | None) -> bool:
    """Tell whether a mark says a serial, or one of two, surely enough."""
    return mark is not None and mark.confidence >= SURE and (mark.serial is not None or mark.either is not None)


def only_sure(marks: Marks) -> Marks:
    """Take the serial from every mark that is not sure enough."""
    return tuple(_unread(mark) if mark is not None and mark.confidence < SURE else mark for mark in marks)


def without_doubles(found: Found, marks: Marks) -> tuple[Found, Marks]:
    """Of tiles that say the same and lie on one another keep the surest: the finder saw one tile twice."""
    kept: list[int] = []
    for number in sorted(range(len(marks)), key=lambda one: -_confidence(marks[one])):
        if not any(_is_double(found.tiles, marks, number, other) for other in kept):
            kept.append(number)
    kept.sort()
    return replace(found, tiles=tuple(found.tiles[one] for one in kept)), tuple(marks[one] for one in kept)


def _confidence(mark: Mark | None) -> float:
    return mark.confidence if mark is not None else 0.0


def _is_double(tiles: Sequence[Tile], marks: Marks, one: int, other: int) -> bool:
    mark, surer = marks[one], marks[other]
    if mark is None or surer is None or mark.serial is None or mark.serial != surer.serial:
        return False
    quad = tiles[other].quad
    apart = np.linalg.norm(quad.mean(axis=0) - tiles[one].quad.mean(axis=0))
    return bool(apart < _DOUBLE * np.linalg.norm(quad[1] - quad[0]))


def without_twins(marks: Marks, strange: Sequence[bool]) -> Marks:
    """Take the serial from marks that name one tile of one set more than once: there is one of each.

    `strange` tells of each tile whether its back's colour is that of another set, for marks that name none.
    """
    named = [
        (mark.set_text, mark.set_text is None and other, mark.serial) if mark is not None and mark.serial else None
        for mark, other in zip(marks, strange, strict=True)
    ]
    times = Counter(named)
    return tuple(
        replace(mark, serial=None, clash=mark.serial) if mark is not None and name and times[name] > 1 else mark
        for mark, name in zip(marks, named, strict=True)
    )


def stand(mark: Mark, *, turned: bool) -> Mark:
    """Give a mark that reads as a serial both ways up the one that it has when it stands so."""
    if mark.either is None:
        return mark
    return replace(
        mark, serial=mark.either[turned], turned=turned, spot=-mark.spot if turned else mark.spot, either=None
    )


def _unread(mark: Mark) -> Mark:
    return replace(mark, serial=None, either=None)
