"""The table's window with a strip under it, on which are the things that lie on a real table: buttons and trays."""

from collections.abc import Callable, Iterator
from typing import Final

import pygame

from kiosk.config import Screen
from kiosk.practice.hands import KEYS, LAY, LAY_WRONG, SCAN, SCAN_NEXT, TURN_OUT, Hands, Strip
from kiosk.screens.layout import FINGER
from kiosk.screens.pen import Pen
from kiosk.screens.targets import Buttons, Target
from kiosk.screens.window import TOUCHES, Window
from kiosk.screens.words import Words

LABELS: Final = {
    LAY: "do_lay",
    LAY_WRONG: "do_lay_wrong",
    TURN_OUT: "do_turn_out",
    SCAN: "do_scan",
    SCAN_NEXT: "do_scan_next",
}

CODES: Final = {getattr(pygame, f"K_{key.upper()}"): key for key in (*KEYS, *LABELS)}


class PracticeWindow(Window):
    """A table's window, and the strip. What `hands` does is theirs; the table's program sees real buttons pressed."""

    def __init__(self, settings: Screen, words: Words, clock: Callable[[], int], rows: Strip = ((*KEYS,),)) -> None:
        """Take the keys on the strip. Raise ScreenMissing, and BadConfiguration where the language has no font here."""
        self._rows, self._row_height = rows, round(settings.height * (FINGER + 0.03))
        super().__init__(settings, words, clock, below=len(rows) * self._row_height)
        self._hands: Hands | None = None
        self._strip: tuple[Target, ...] = ()
        self._words = words
        self._buttons = Buttons(words, Pen(words.language, (settings.width, settings.height)), settings.height)
        self._held: str | None = None

    def give(self, hands: Hands) -> None:
        """Put buttons and trays on the strip."""
        self._hands = hands
        self._strip = (*self._targets(),)
        for target in self._strip:
            self._buttons.draw(self._whole, target, pressed=False)
        pygame.display.flip()

    def _targets(self) -> Iterator[Target]:
        width, height = self._whole.get_size()
        gap = height // 60
        for number, row in enumerate(self._rows):
            top, wide = height - (len(self._rows) - number) * self._row_height + gap, (width - gap) // len(row)
            for at, key in enumerate(row):
                label = self._words.seat(KEYS[key]) if key in KEYS else self._words(LABELS[key])
                box = pygame.Rect(gap + at * wide, top, wide - gap, self._row_height - gap)
                yield Target(key, label, box)

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
        if self._hands is None:
            return
        (self._hands.down if down else self._hands.up)(key)
