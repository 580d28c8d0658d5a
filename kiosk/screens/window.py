"""The window: pygame's screen, keyboard and touch, and nothing that makes a sound."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pygame

from kiosk.config import Screen
from kiosk.errors import ScreenMissing
from kiosk.screens.backlight import Backlight
from kiosk.screens.dimming import Dimming
from kiosk.screens.finger import Finger
from kiosk.screens.pace import Pace
from kiosk.screens.shown import Shown
from kiosk.screens.table import Look, TableScreen
from kiosk.screens.targets import Target
from kiosk.screens.words import Words

KEYS: Final = {
    pygame.K_RETURN: "enter",
    pygame.K_KP_ENTER: "enter",
    pygame.K_BACKSPACE: "back",
    pygame.K_ESCAPE: "back",
    pygame.K_DELETE: "clear",
    **{getattr(pygame, f"K_KP{digit}"): str(digit) for digit in range(10)},
}

SIGNS: Final = (".", "-", ":")
"""What an address is written with besides letters and digits."""

QUIT: Final = "quit"

DARKER: Final = (150, 150, 150)
"""Share of 255 that is left of each colour on a dimmed screen: it can still be read from a chair."""

LARGER: Final = {"normal": 1.0, "large": 1.2, "largest": 1.4}


class Window:
    """One window for one table. Context-managed; `close` may be called twice."""

    def __init__(
        self, settings: Screen, words: Words, clock: Callable[[], int] = time.monotonic_ns, *, below: int = 0
    ) -> None:
        """Leave so many pixels `below` the table's screen to others.

        Raise ScreenMissing, and BadConfiguration where the language has no font here.
        """
        if settings.driver:
            os.environ["SDL_VIDEODRIVER"] = settings.driver
        size = (settings.width, settings.height)
        whole = (settings.width, settings.height + below)
        try:
            pygame.display.init()
            self._whole = pygame.display.set_mode(whole, pygame.FULLSCREEN if settings.fullscreen else 0)
        except pygame.error as error:
            raise ScreenMissing(str(error)) from None
        self._surface = self._whole.subsurface((0, 0), size) if below else self._whole
        pygame.font.init()
        pygame.display.set_caption("Homologue")
        pygame.mouse.set_visible(not settings.fullscreen)
        self._screen = TableScreen(words, size, Look(settings.hand, LARGER[settings.text]))
        self._clock, self._finger, self._dimming = clock, Finger(), Dimming(settings.dim_after_s)
        self._light = Backlight(Path(settings.backlight)) if settings.backlight else None
        self._pace = Pace()
        self._drawn: tuple[Shown, Target | None, bool] | None = None

    def show(self, shown: Shown) -> bool:
        """Draw what is to be seen, and say whether it is new; where nothing is, not a pixel is touched."""
        known, now = self._drawn is not None and self._drawn[0] == shown, self._clock()
        if not known:
            self._finger.offer(self._screen.targets(shown), now)
            self._dimming.shown(shown, now)
        # In a play not even a finger on the screen shows: a picture there is the play's, and the play's alone.
        finger = None if shown.state == "playing" else self._finger.on
        drawn = shown, finger, self._darker(dark=self._dimming.dark(now))
        if drawn != self._drawn:
            self._draw(*drawn)
            self._drawn = drawn
        return not known

    def _darker(self, *, dark: bool) -> bool:
        """Lower the light behind the screen; say whether the picture has to be darker instead."""
        lowered = self._light is not None and self._light.lower(dark=dark)
        return dark and not lowered

    def _draw(self, shown: Shown, finger: Target | None, dark: bool) -> None:  # noqa: FBT001 - one of three that make a picture
        self._screen.draw(self._surface, shown, finger)
        if dark:
            self._surface.fill(DARKER, special_flags=pygame.BLEND_MULT)
        pygame.display.flip()

    @property
    def pause(self) -> float:
        """The seconds until it is to be asked for touches again."""
        return self._pace.pause(self._clock())

    def picture(self, path: str) -> None:
        """Save what is on the screen."""
        pygame.image.save(self._surface, path)

    def pressed(self) -> Iterator[str]:
        """Give the keys that were pressed or touched: `a`..`z`, `0`..`9`, SIGNS, `enter`, `back`, `clear`, `quit`."""
        for event in pygame.event.get():
            if event.type in WAKING:
                self._dimming.woken(self._clock())
                self._pace.touched(self._clock())
            if key := self._key(event):
                yield key

    def _key(self, event: pygame.event.Event) -> str | None:
        return self._touched(event) if event.type in TOUCHES else _typed(event)

    def _touched(self, event: pygame.event.Event) -> str | None:
        """Take a finger in; SDL tells of one on a touch screen as of a mouse."""
        if event.button != pygame.BUTTON_LEFT:
            return None
        if event.type == pygame.MOUSEBUTTONUP:
            return self._finger.up(event.pos)
        self._finger.down(event.pos, self._clock())
        return None

    def close(self) -> None:
        """Close it."""
        if self._light is not None:
            self._light.close()
        pygame.display.quit()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


WAKING: Final = (pygame.KEYDOWN, pygame.MOUSEMOTION, pygame.MOUSEBUTTONDOWN)

TOUCHES: Final = (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP)


def _typed(event: pygame.event.Event) -> str | None:
    """Give the key of an event, if it is one."""
    if event.type == pygame.QUIT:
        return QUIT
    if event.type != pygame.KEYDOWN:
        return None
    letter = event.unicode.lower()
    plain = len(letter) == 1 and letter.isascii() and (letter.isalnum() or letter in SIGNS)
    return KEYS.get(event.key) or (letter if plain else None)


def type_key(key: str) -> None:
    """Put a key into the window's own queue, as a keyboard would. From any thread."""
    codes = {"enter": pygame.K_RETURN, "back": pygame.K_BACKSPACE}
    code = codes.get(key) or pygame.key.key_code(key)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=code, unicode="" if key in codes else key, mod=0))
