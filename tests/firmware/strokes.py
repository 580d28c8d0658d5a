"""What a scanner presses that types."""

from collections.abc import Iterator

from firmware.keyboard_layouts import DOWN, KEYS_OF, UP

SHIFT = 42
ENTER = 28


def key_strokes(text: str, layout: str) -> Iterator[tuple[int, int]]:
    """Return each key with what it does; raises KeyError for what the layout has no key for."""
    for char in text:
        key, shifted = (ENTER, False) if char == "\r" else KEYS_OF[layout][char]
        if shifted:
            yield SHIFT, DOWN
        yield key, DOWN
        yield key, UP
        if shifted:
            yield SHIFT, UP
