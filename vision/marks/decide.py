"""From single marks to those that count: what is unsure, torn or twofold is not read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from vision.sight import Mark

SURE = 0.85  # confidence from which a serial counts: chosen from the calibration in docs/vision.md
Marks = tuple[Mark | None, ...]  # one for each tile found; None for faces


def only_sure(marks: Marks) -> Marks:
    """Take the serial from every mark that is not sure enough."""
    return tuple(_unread(mark) if mark is not None and mark.confidence < SURE else mark for mark in marks)


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
