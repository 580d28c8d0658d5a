"""The table's window with a strip under it, on which are the things that lie on a real table: buttons and trays."""

from collections.abc import Callable, Iterator
from typing import Final

import pygame

from broker.contract.words import SEATS
from kiosk.config import Screen
from kiosk.practice.hands import KEYS, LAY, LAY_WRONG, Hands
from kiosk.screens.layout import FINGER
from kiosk.screens.pen import Pen
from kiosk.screens.targets import Buttons, Target
from kiosk.screens.window import TOUCHES, Window
from kiosk.screens.words import Words

CODES: Final = {getattr(pygame, f"K_{key.upper()}"): key for key in (*KEYS, LAY, LAY_WRONG)}

TRAY_WIDER: Final = 1.6
"""What staff's buttons are wider than a seat's: more is written on them."""


class PracticeWindow(Window):
    """A table's window, and the strip. What `hands` does is theirs; the table's program sees real buttons pressed."""

    def __init__(self, settings: Screen, words: Words, clock: Callable[[], int]) -> None:
        """Raise ScreenMissing, and BadConfiguration where the language has no font here."""
        self._strip_height = round(settings.height * (FINGER + 0.03))
        super().__init__(settings, words, clock, below=self._strip_height)
        self._hands: Hands | None = None
        self._strip: tuple[Target, ...] = ()
        self._words = words
        self._buttons = Buttons(words, Pen(words.language, (settings.width, settings.height)), settings.height)
        self._held: str | None = None

    def give(self, hands: Hands) -> None:
        """Put buttons and trays on the strip."""
        self._hands = hands
        self._strip = (*self._targets(hands),)
        for target in self._strip:
            self._buttons.draw(self._whole, target, pressed=False)
        pygame.display.flip()

    def _targets(self, hands: Hands) -> Iterator[Target]:
        labels = [self._words.seat(seat) for seat in SEATS] + [self._words("do_lay"), self._words("do_lay_wrong")]
        width, height = self._whole.get_size()
        gap, left = height // 60, height // 60
        shares = [1.0 if key in KEYS else TRAY_WIDER for key in hands.keys]
        for key, label, share in zip(hands.keys, labels, shares, strict=False):
            top, wide = height - self._strip_height + gap, int((width - gap) * share / sum(shares))
            yield Target(key, label, pygame.Rect(left, top, wide - gap, height - gap - top))
            left += wide

    def _key(self, event: pygame.event.Event) -> str | None:
        """Let hands do what is theirs; everything else is the table's."""
        if self._hands is None:
            return super()._key(event)
        if event.type in (pygame.KEYDOWN, pygame.KEYUP) and event.key in CODES:
            self._move(CODES[event.key], down=event.type == pygame.KEYDOWN)
            return None
        if event.type in TOUCHES and event.button == pygame.BUTTON_LEFT and self._on_strip(event):
            return None
        return super()._key(event)

    def _on_strip(self, event: pygame.event.Event) -> bool:
        """Press what the mouse is on, or let go what it was on; say whether that was the strip's."""
        if event.type == pygame.MOUSEBUTTONDOWN:
            self._held = next((one.key for one in self._strip if one.box.collidepoint(event.pos)), None)
            if self._held:
                self._move(self._held, down=True)
            return self._held is not None
        held, self._held = self._held, None
        if held:
            self._move(held, down=False)
        return held is not None

    def _move(self, key: str, *, down: bool) -> None:
        if self._hands is None or key not in self._hands.keys:
            return
        (self._hands.down if down else self._hands.up)(key)
