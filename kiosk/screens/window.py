"""The window: pygame's screen and keyboard, and nothing that makes a sound."""

import os
from collections.abc import Iterator
from typing import Final

import pygame

from kiosk.config import Screen
from kiosk.errors import ScreenMissing
from kiosk.screens.shown import Shown
from kiosk.screens.table import TableScreen
from kiosk.screens.words import Words

KEYS: Final = {
    pygame.K_RETURN: "enter",
    pygame.K_KP_ENTER: "enter",
    pygame.K_BACKSPACE: "back",
    pygame.K_ESCAPE: "back",
    **{getattr(pygame, f"K_KP{digit}"): str(digit) for digit in range(10)},
}

QUIT: Final = "quit"


class Window:
    """One window for one table. Context-managed; `close` may be called twice."""

    def __init__(self, settings: Screen, words: Words) -> None:
        """Raise ScreenMissing, and BadConfiguration where the language has no font here."""
        if settings.driver:
            os.environ["SDL_VIDEODRIVER"] = settings.driver
        size = (settings.width, settings.height)
        try:
            pygame.display.init()
            self._surface = pygame.display.set_mode(size, pygame.FULLSCREEN if settings.fullscreen else 0)
        except pygame.error as error:
            raise ScreenMissing(str(error)) from None
        pygame.font.init()
        pygame.display.set_caption("Homologue")
        pygame.mouse.set_visible(not settings.fullscreen)
        self._screen = TableScreen(words, size)
        self._drawn: Shown | None = None

    def show(self, shown: Shown) -> bool:
        """Draw what is to be seen, and say whether it is new; where nothing is, not a pixel is touched."""
        if shown == self._drawn:
            return False
        self._screen.draw(self._surface, shown)
        pygame.display.flip()
        self._drawn = shown
        return True

    def picture(self, path: str) -> None:
        """Save what is on the screen."""
        pygame.image.save(self._surface, path)

    def pressed(self) -> Iterator[str]:
        """Give the keys that were pressed: `a`..`z`, `0`..`9`, `enter`, `back`, `quit`."""
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                yield QUIT
            elif event.type == pygame.KEYDOWN:
                named = KEYS.get(event.key)
                letter = event.unicode.lower()
                if named:
                    yield named
                elif len(letter) == 1 and letter.isascii() and letter.isalnum():
                    yield letter

    def close(self) -> None:
        """Close it."""
        pygame.display.quit()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def type_key(key: str) -> None:
    """Put a key into the window's own queue, as a keyboard would. From any thread."""
    codes = {"enter": pygame.K_RETURN, "back": pygame.K_BACKSPACE}
    code = codes.get(key) or pygame.key.key_code(key)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=code, unicode="" if key in codes else key, mod=0))
