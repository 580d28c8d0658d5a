"""The camera's picture with what was read drawn into it: anew only where something moves."""

from collections.abc import Callable

from kiosk.heap_view import in_place
from kiosk.sight import View
from vision.geometry import Picture
from vision.live.feed import Frame
from vision.live.motion import Sketch, sketch
from vision.live.watcher import Stir, Watched
from vision.reading import Reading

Draw = Callable[[Picture, Reading], Picture]
"""Gives a part of a picture for the screen, with signs on the tiles."""


class Drawing:
    """What was drawn last, and of what."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._drawn: tuple[Reading, Sketch] | None = None
        """The reading that is drawn, and what its frame looked like."""
        self._view: View | None = None
        self._key: object = None
        """What the view was drawn of."""

    def view(self, watched: Watched, shown: Reading, frame: Frame) -> View:
        """Draw on the tiles that still lie where they were read; nothing anew while nothing moves."""
        now = sketch(frame.picture)
        if self._drawn is None or self._drawn[0] is not shown:
            self._drawn = shown, now
        reads = in_place(shown.reads, self._drawn[1], now, frame.picture.shape[1])
        key = (id(shown), len(reads)) if watched.stir is Stir.SETTLED else frame.number
        if self._view is None or key != self._key:
            number = self._view.number + 1 if self._view else 1
            self._view = View(number, self._draw(frame.picture, Reading(reads, ())))
            self._key = key
        return self._view
