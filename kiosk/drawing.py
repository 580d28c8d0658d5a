"""The camera's picture with what was read drawn into it: anew only where something moves."""

from collections.abc import Callable, Iterable
from typing import Protocol

from kiosk.heap_view import in_place
from kiosk.sight import View
from vision.geometry import Picture
from vision.live.feed import Frame
from vision.live.motion import Sketch, sketch
from vision.live.watcher import Stir, Watched
from vision.reading import Reading


class Signs(Protocol):
    """What is drawn for one reading, onto each later picture."""

    def on(self, picture: Picture, lying: Iterable[bool]) -> Picture:
        """Give the part of a picture that is shown; signs are on the tiles that still lie where they were read."""


class Drawing:
    """What was drawn last, and of what."""

    def __init__(self, signs: Callable[[Picture, Reading], Signs]) -> None:
        self._signs = signs
        self._drawn: tuple[Reading, Sketch, Signs] | None = None
        """The reading that is drawn, what its frame looked like, and its signs."""
        self._view: View | None = None
        self._key: object = None
        """What the view was drawn of."""

    def view(self, watched: Watched, shown: Reading, frame: Frame) -> View:
        """Draw on the tiles that still lie where they were read; nothing anew while nothing moves."""
        now = sketch(frame.picture)
        if self._drawn is None or self._drawn[0] is not shown:
            self._drawn = shown, now, self._signs(frame.picture, shown)
        _, then, signs = self._drawn
        lying = in_place(shown.reads, then, now, frame.picture.shape[1])
        key = (id(shown), lying) if watched.stir is Stir.SETTLED else frame.number
        if self._view is None or key != self._key:
            number = self._view.number + 1 if self._view else 1
            self._view = View(number, signs.on(frame.picture, lying))
            self._key = key
        return self._view
