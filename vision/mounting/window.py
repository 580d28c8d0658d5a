"""The live window of `homologue camera`: the picture with its tiles outlined, the figures, and what to change."""

import os
from collections.abc import Sequence
from typing import Final

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # keeps pygame's greeting out of our output

import cv2
import numpy as np
import pygame

from vision.errors import WindowMissingError
from vision.geometry import Picture
from vision.overlay import READ, ROW_HEIGHT, OutlinePen, list_serials
from vision.reader import tile_outlines
from vision.reading import PictureReading

SIZE: Final = (800, 480)
_GROUND, _TEXT, _CHANGE = (16, 24, 22), (240, 243, 238), (250, 190, 88)
_LINE = 22  # pixels
_LEAST = 180  # pixels: least height of the picture if tiles are listed below it
_CHINESE = ("wqymicrohei", "wenquanyimicrohei", "notosanscjksc", "notosanscjk", "droidsansfallback")


class MountingWindow:
    """The window; `show` draws one picture. Escape, q or the close button ends it. `close` may be called twice."""

    def __init__(self, language: str) -> None:
        """Open the window. Raises WindowMissingError if there is no display."""
        try:
            pygame.display.init()
            self._surface = pygame.display.set_mode(SIZE)
        except pygame.error as error:
            raise WindowMissingError(str(error)) from None
        pygame.font.init()
        pygame.display.set_caption("Homologue")
        path = pygame.font.match_font(_CHINESE) if language == "zh" else None
        self._font = pygame.font.Font(path, 18)

    def closed(self, within: float = 0.0) -> bool:
        """Wait up to this many seconds, and return whether the window was closed; call it often."""
        events = [pygame.event.wait(max(1, round(1000 * within))), *pygame.event.get()]
        return any(
            event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key in {pygame.K_ESCAPE, pygame.K_q})
            for event in events
        )

    def show(self, seen: tuple[Picture, PictureReading] | None, figures: str, hints: Sequence[str]) -> None:
        """Draw a picture with its tiles, a list of the most doubtful ones, the figures, and what to change."""
        self._surface.fill(_GROUND)
        lines = [(line, _TEXT) for line in self._wrapped(figures)]
        lines += [(line, _CHANGE) for hint in hints for line in self._wrapped(hint)]
        height = SIZE[1] - _LINE * len(lines) - 8
        if seen is not None and height > _LINE:
            self._surface.blit(_surface(shown(*seen, height)), (0, 0))
        for number, (line, colour) in enumerate(lines):
            self._surface.blit(self._font.render(line, True, colour), (8, height + 4 + _LINE * number))  # noqa: FBT003 -- pygame has no name for it
        pygame.display.flip()

    def _wrapped(self, text: str) -> list[str]:
        """Break a text into lines that fit; a text without spaces may break anywhere."""
        lines, line = [], ""
        for word in text.split(" ") if " " in text else list(text):
            longer = f"{line} {word}" if line and " " in text else line + word
            if line and self._font.size(longer)[0] > SIZE[0] - 16:
                lines.append(line)
                longer = word
            line = longer
        return [*lines, line]

    def close(self) -> None:
        """Close the window."""
        pygame.display.quit()


def shown(picture: Picture, reading: PictureReading, height: int) -> Picture:
    """Return a shrunk picture with its tiles outlined, and below it the first row of the list of tiles."""
    row = list_serials(picture, reading, SIZE[0])[: max(0, min(ROW_HEIGHT, height - _LEAST))]
    room = height - len(row)
    scale = min(room / picture.shape[0], SIZE[0] / picture.shape[1])
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    small = np.ascontiguousarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    pen = OutlinePen(small, 2)
    for quad in tile_outlines(reading):
        pen.outline(quad * scale, READ)
    left = (SIZE[0] - size[0]) // 2
    sides = ((0, 0), (left, SIZE[0] - size[0] - left), (0, 0))
    return np.vstack([np.pad(small, sides), row])


def _surface(picture: Picture) -> pygame.Surface:
    rgb = cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
    return pygame.image.frombuffer(rgb.tobytes(), (picture.shape[1], picture.shape[0]), "RGB")
