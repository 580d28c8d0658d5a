"""Check marks against the pictures of an enrolled set: reader and picture must agree, or the picture be beyond doubt.

A serial that the reader is sure of counts if its enrolled picture is the best match, or about as good as the best. It
need not be the best, because very pale ink on clouded plastic hardly distinguishes pictures, and an enrolled set must
not be read worse than one that is not enrolled. If the reader is not sure (worn or handwritten numbers, or numbers
without leading zeros), the picture alone can decide, if it is well ahead of every other serial's; less of a lead is
needed if the reader tends to the same serial. Numbers that are another serial upside down (60 and 90) stay undecided,
as they do without pictures, unless the pictures tell them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from vision.enrolled.file import EnrolledSet
from vision.enrolled.likeness import OwnPicture, Rival
from vision.geometry import Picture, Quad
from vision.marks import TileMark
from vision.marks.digits import cut_backs
from vision.marks.read import SURE, is_sure


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold: the likeness of a picture to the back, and its lead and odds over another picture (see `Rival`)."""

    likeness: float
    lead: float
    odds: float


CONFIRMS: Final = Threshold(0.6, 0.25, 0.35)
"""A picture this like confirms a serial that the reader is sure of, unless another leads by this lead or these odds."""

DECIDES: Final = Threshold(0.8, 0.35, 0.65)
"""A picture decides a serial by itself if it reaches all three over every other; see docs/vision-measured.md."""

TURNS: Final = Threshold(0.8, 0.5, 2.0)
"""Lead and odds that tell a number from itself upside down: in many fonts 66 and 99 differ by wear and noise only."""

_LEGIBLE: Final = 0.3  # confidence from which a reader that is not sure supports a picture
_SUPPORTED: Final = 0.7  # share of the threshold that a supported picture must reach; wear can mislead both
_MOST: Final = 0.9999


def check_marks(
    enrolled: EnrolledSet, picture: Picture, quads: Sequence[Quad], marks: Sequence[TileMark]
) -> list[TileMark]:
    """Return the marks, without the serials of those on which reader and enrolled pictures do not agree."""
    claims = [mark.serial if is_sure(mark) else None for mark in marks]
    matches = enrolled.pictures.match(cut_backs(picture, quads), claims)
    return [agreed_mark(mark, own, enrolled.text) for mark, own in zip(marks, matches, strict=True)]


def agreed_mark(mark: TileMark, own: OwnPicture, text: str | None) -> TileMark:
    """Combine a reader's mark with the best matching picture. `text` is the set's letter or number on its backs."""
    if is_sure(mark):
        if not _is_confirmed(mark, own):
            return _unread(mark)
        return replace(mark, pitch=float("nan"), likeness=round(own.likeness, 4))
    twins = [rival for rival in own.others if rival.turned != own.turned and _is_near(rival, TURNS)]
    certainty = strength(own, [rival for rival in own.others if rival not in twins])
    same_way_up = mark.turned in (None, own.turned) or _both_ways(own)
    if own.serial in mark.possible_serials and same_way_up and mark.confidence >= _LEGIBLE:
        certainty /= _SUPPORTED
    if certainty < 1 or len({rival.serial for rival in twins}) > 1:
        return _unread(mark)
    combined = replace(
        mark,
        serial=own.serial,
        either=None,
        set_text=mark.set_text or text,
        turned=None if _both_ways(own) else own.turned,
        confidence=min(_MOST, 1 - (1 - SURE) / certainty**2),
        pitch=float("nan"),
        likeness=round(own.likeness, 4),
    )
    if not twins:
        return combined
    pair = (twins[0].serial, own.serial) if own.turned else (own.serial, twins[0].serial)
    return replace(combined, serial=None, either=pair, turned=None)


def strength(own: OwnPicture, others: Sequence[Rival]) -> float:
    """Return how clearly a picture alone decides its serial: 1 if it just reaches the threshold `DECIDES`."""
    leads = [min(rival.lead / DECIDES.lead, rival.odds / DECIDES.odds) for rival in others]
    return max(0.0, min([own.likeness / DECIDES.likeness, *leads]))


def _is_confirmed(mark: TileMark, own: OwnPicture) -> bool:
    """Return whether the picture of the serial that the reader is sure of is the best match, or about as good."""
    claimed = [
        rival
        for rival in (Rival(own.serial, own.turned, 0.0, 0.0), *own.rivals)
        if rival.serial in mark.possible_serials and (mark.turned is None or rival.turned == mark.turned)
    ]
    near = any(
        (rival.lead < CONFIRMS.lead and rival.odds < CONFIRMS.odds)
        or (rival.serial == own.serial and _is_near(rival, TURNS))  # the same number the other way up
        for rival in claimed
    )
    return near and own.likeness >= CONFIRMS.likeness


def _is_near(rival: Rival, threshold: Threshold) -> bool:
    return rival.lead < threshold.lead or rival.odds < threshold.odds


def _both_ways(own: OwnPicture) -> bool:
    """Return whether a back does not show which way up it is, such as 101, 111 or 88 in plain strokes."""
    return any(rival.serial == own.serial and _is_near(rival, TURNS) for rival in own.rivals)


def _unread(mark: TileMark) -> TileMark:
    return replace(mark, serial=None, either=None, confidence=min(mark.confidence, SURE / 2))
