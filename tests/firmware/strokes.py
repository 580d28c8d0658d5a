"""The key strokes of a scanner that types like a keyboard."""

from collections.abc import Iterator

from firmware.keyboard_layouts import DOWN, KEYS_OF, UP

SHIFT = 42
ENTER = 28


def key_strokes(text: str, layout: str) -> Iterator[tuple[int, int]]:
    """Yield each key code with its value. Raises KeyError for a character that the layout lacks."""
    for char in text:
        key, shifted = (ENTER, False) if char == "\r" else KEYS_OF[layout][char]
        if shifted:
            yield SHIFT, DOWN
        yield key, DOWN
        yield key, UP
        if shifted:
            yield SHIFT, UP
