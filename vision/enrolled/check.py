"""Hold what readers say of backs against the tiles' own pictures: both must agree, or the picture be beyond doubt.

A serial that a reader is sure of needs its own picture to be the likest. Where no reader is sure (worn, written by
hand, without leading zeros) the picture alone may say it, if it is well ahead of every other serial's. Numbers that
are another upside down (60 and 90) are left open, as they are without pictures, unless the pictures tell them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from vision.detections import TileMark
from vision.enrolled.file import EnrolledSet
from vision.enrolled.likeness import OwnPicture, Rival
from vision.geometry import Picture, Quad
from vision.marks.digits import cut_backs
from vision.marks.read import SURE, is_sure


@dataclass(frozen=True, slots=True)
class Bar:
    """What a picture must reach: its likeness to the back, and its lead and odds over each other serial's."""

    likeness: float
    lead: float
    odds: float


CONFIRMS: Final = Bar(0.6, 0.05, 0.05)
"""A picture that confirms what a reader is sure of."""

TELLS: Final = Bar(0.8, 0.35, 0.65)
"""A picture that says a serial by itself. How both were chosen: docs/vision-measured.md."""

_MOST: Final = 0.9999


def check_marks(
    enrolled: EnrolledSet, picture: Picture, quads: Sequence[Quad], marks: Sequence[TileMark]
) -> list[TileMark]:
    """Return the marks on which readers and own pictures agree; others say no serial."""
    claims = [mark.serial if is_sure(mark) else None for mark in marks]
    seen = enrolled.pictures.look(cut_backs(picture, quads), claims)
    return [agreed_mark(mark, own, enrolled.text) for mark, own in zip(marks, seen, strict=True)]


def agreed_mark(mark: TileMark, own: OwnPicture, text: str | None) -> TileMark:
    """Return what a reader's mark and the likest picture say together. `text` is what the set's backs call it."""
    others = [rival for rival in own.rivals if rival.serial != own.serial]
    if is_sure(mark):
        said = {mark.serial} if mark.serial is not None else set(mark.either or ())
        left = [rival for rival in others if not (rival.turned != own.turned and rival.serial in said | {own.serial})]
        if own.serial not in said or _strength(own, left, CONFIRMS) < 1 or _stands_otherwise(mark, own):
            return _silent(mark)
        return replace(mark, pitch=float("nan"), likeness=round(own.likeness, 4))
    twins = [rival for rival in others if rival.turned != own.turned and _is_near(rival)]
    strength = _strength(own, [rival for rival in others if rival not in twins], TELLS)
    if strength < 1 or len({rival.serial for rival in twins}) > 1:
        return _silent(mark)
    told = replace(
        mark,
        serial=own.serial,
        either=None,
        set_text=mark.set_text or text,
        turned=None if _both_ways(own) else own.turned,
        confidence=min(_MOST, 1 - (1 - SURE) / strength**2),
        pitch=float("nan"),
        likeness=round(own.likeness, 4),
    )
    if not twins:
        return told
    pair = (twins[0].serial, own.serial) if own.turned else (own.serial, twins[0].serial)
    return replace(told, serial=None, either=pair, turned=None)


def _strength(own: OwnPicture, others: Sequence[Rival], bar: Bar) -> float:
    """Return by how much a picture is over a bar: 1 where it just reaches it."""
    leads = [min(rival.lead / bar.lead, rival.odds / bar.odds) for rival in others]
    return max(0.0, min([own.likeness / bar.likeness, *leads]))


def _is_near(rival: Rival) -> bool:
    return rival.lead < TELLS.lead or rival.odds < TELLS.odds


def _both_ways(own: OwnPicture) -> bool:
    """Return whether a back shows no way up: 101, 111 or 88 in plain strokes."""
    return any(rival.serial == own.serial and _is_near(rival) for rival in own.rivals)


def _stands_otherwise(mark: TileMark, own: OwnPicture) -> bool:
    return mark.turned is not None and mark.turned != own.turned and not _both_ways(own)


def _silent(mark: TileMark) -> TileMark:
    return replace(mark, serial=None, either=None, confidence=min(mark.confidence, SURE / 2))
