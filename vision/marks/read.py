"""The marks of all tiles of a picture, whichever kind they are, and which of them count.

What is unsure, ambiguous or there twice is not read; faces and things that are no tiles have no mark.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.detections import DetectedTile, Detections, TileMark
from vision.geometry import Picture, Quad
from vision.marks.digits import (
    FACE,
    LABEL,
    NOTHING,
    NUMBER,
    DigitLook,
    cut_backs,
    look_at_crops,
    look_at_crops_twice,
    mark_of_look,
)
from vision.marks.label import is_labelled, is_labelled_closely, read_labels

SURE = 0.95  # confidence from which a serial counts: how it was chosen is told in docs/vision-measured.md
_DUPLICATE_OVERLAP = 0.6  # of a tile's width
TileMarks = tuple[TileMark | None, ...]  # one for each tile found; None for faces


def is_sure(mark: TileMark | None) -> bool:
    """Return whether a mark says a serial, or one of two, surely enough."""
    return mark is not None and mark.confidence >= SURE and (mark.serial is not None or mark.either is not None)


def withhold_unsure(marks: TileMarks) -> TileMarks:
    """Take the serial from every mark that is not sure enough."""
    return tuple(_unread(mark) if mark is not None and mark.confidence < SURE else mark for mark in marks)


def drop_duplicate_tiles(found: Detections, marks: TileMarks) -> tuple[Detections, TileMarks]:
    """Of tiles that say the same and lie on one another keep the surest: the finder saw one tile twice."""
    kept: list[int] = []
    for number in sorted(range(len(marks)), key=lambda one: -_confidence(marks[one])):
        if not any(_is_duplicate(found.tiles, marks, number, other) for other in kept):
            kept.append(number)
    kept.sort()
    return replace(found, tiles=tuple(found.tiles[one] for one in kept)), tuple(marks[one] for one in kept)


def _confidence(mark: TileMark | None) -> float:
    return mark.confidence if mark is not None else 0.0


def _is_duplicate(tiles: Sequence[DetectedTile], marks: TileMarks, one: int, other: int) -> bool:
    mark, surer = marks[one], marks[other]
    if mark is None or surer is None or mark.serial is None or mark.serial != surer.serial:
        return False
    quad = tiles[other].quad
    apart = np.linalg.norm(quad.mean(axis=0) - tiles[one].quad.mean(axis=0))
    return bool(apart < _DUPLICATE_OVERLAP * np.linalg.norm(quad[1] - quad[0]))


def withhold_repeated_serials(marks: TileMarks, strange: Sequence[bool]) -> TileMarks:
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


def stand_mark_up(mark: TileMark, *, turned: bool) -> TileMark:
    """Return a mark that reads as a serial both ways up the one that it has when it stands so."""
    if mark.either is None:
        return mark
    return replace(
        mark, serial=mark.either[turned], turned=turned, spot=-mark.spot if turned else mark.spot, either=None
    )


def _unread(mark: TileMark) -> TileMark:
    return replace(mark, serial=None, either=None)


_FEW = 0.2  # share of the tiles: fewer numbers than these, and what is there may be labels that are hard to see
_SIDEWAYS = 6  # tiles of a picture that are tried on their side
_FACE_ALONE = 0.9  # share of a face from which one is believed where nothing else is made out
_BLANK = 0.3  # confidence below which nothing is made out at all
_TOLD_FROM_LABEL = 0.8  # share of a face or of nothing from which no label is looked for
_SURELY_MARKED, _MARKED_TWICE = (
    0.5,
    0.3,
)  # share from which a face is a face and nothing nothing; less where the finder agrees


def read_marks(picture: Picture, found: Detections) -> tuple[Detections, TileMarks]:
    """Read all tiles; gives those that are there, and the mark of each, None for those face up."""
    quads = [tile.quad for tile in found.tiles]
    marks, looks = _read(picture, quads)
    if len(looks) == len(quads):
        _try_on_their_side(picture, quads, marks, looks)
    doubted = [number for number, mark in enumerate(marks) if not is_sure(mark)]
    looks |= _looks(picture, quads, [number for number in doubted if number not in looks])
    tiles = {
        number: DetectedTile(quad, face_up=False, likelihood=found.tiles[number].likelihood)
        for number, quad in enumerate(quads)
    }
    alone = len(doubted) == len(tiles)
    for number in doubted:
        tiles[number] = replace(tiles[number], face_up=_is_face(found.tiles[number], looks[number]))
        if _is_nothing(found.tiles[number], looks[number], alone=alone):
            del tiles[number]
    there = tuple(None if tile.face_up else marks[number] for number, tile in tiles.items())
    return replace(found, tiles=tuple(tiles.values())), there


def read_again(picture: Picture, quads: Sequence[Quad], marks: TileMarks) -> list[TileMark | None]:
    """Read some tiles along better outlines, as labels or as numbers, as the picture's `marks` are; None for a face."""
    labelled = any(mark is not None and (mark.set_text or "").isdigit() for mark in marks)
    looks = look_at_crops_twice(cut_backs(picture, quads))
    again = read_labels(picture, quads) if labelled else [mark_of_look(look) for look in looks]
    return [
        mark if is_sure(mark) or look.kind[FACE] < _SURELY_MARKED else None
        for mark, look in zip(again, looks, strict=True)
    ]


def shares_of_marks(picture: Picture, quads: Sequence[Quad]) -> list[float]:
    """Return for each outline how likely a number or a label stands in it, upright or upside down: one quick look."""
    return [float(look.kind[[NUMBER, LABEL]].sum()) for look in look_at_crops(cut_backs(picture, quads))]


def _read(picture: Picture, quads: Sequence[Quad]) -> tuple[list[TileMark], dict[int, DigitLook]]:
    """Read labels or numbers; also what the network saw, where it was asked."""
    if is_labelled(picture, quads):
        looks: dict[int, DigitLook] = {}

        def dismiss(numbers: list[int]) -> set[int]:
            looks.update(_looks(picture, quads, numbers))
            return {number for number in numbers if looks[number].kind[[FACE, NOTHING]].sum() > _TOLD_FROM_LABEL}

        return read_labels(picture, quads, dismiss), looks
    looks = _looks(picture, quads, list(range(len(quads))))
    numbers = [mark_of_look(look) for look in looks.values()]
    if _sure(numbers) < _FEW * len(quads) and is_labelled_closely(picture, quads):
        numbers = max(numbers, read_labels(picture, quads), key=_sure)
    return numbers, looks


def _looks(picture: Picture, quads: Sequence[Quad], numbers: list[int]) -> dict[int, DigitLook]:
    cuts = cut_backs(picture, [quads[number] for number in numbers])
    return dict(zip(numbers, look_at_crops_twice(cuts), strict=True))


def _try_on_their_side(picture: Picture, quads: list[Quad], marks: list[TileMark], looks: dict[int, DigitLook]) -> None:
    """Read unread tiles with long and short ends exchanged, as the finder may have them."""
    left = [number for number, mark in enumerate(marks) if mark.confidence < _BLANK][:_SIDEWAYS]
    turned = [np.roll(quads[number], 1, axis=0) for number in left]
    for number, quad, look in zip(left, turned, look_at_crops_twice(cut_backs(picture, turned)), strict=True):
        mark = mark_of_look(look)
        if is_sure(mark):
            quads[number], marks[number], looks[number] = quad, mark, look


def _sure(marks: list[TileMark]) -> int:
    return sum(mark.serial is not None and mark.confidence >= SURE for mark in marks)


def _is_face(tile: DetectedTile, look: DigitLook) -> bool:
    return bool(look.kind[FACE] > (_MARKED_TWICE if tile.face_up else _SURELY_MARKED))


def _is_nothing(tile: DetectedTile, look: DigitLook, *, alone: bool) -> bool:
    """Whether no tile is there after all; where nothing at all was read, a blank thing is more likely no back."""
    if alone:
        return bool(look.kind[[NUMBER, LABEL]].sum() < _SURELY_MARKED and look.kind[FACE] < _FACE_ALONE)
    return bool(look.kind[NOTHING] > _SURELY_MARKED and not tile.face_up)
