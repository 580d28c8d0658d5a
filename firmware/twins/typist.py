"""A scanner that types: a text as the key events that its keyboard sends."""

from collections.abc import Iterator

from firmware.scan_keys import DOWN, KEYS_OF, UP

SHIFT = 42
ENTER = 28


def strokes(text: str, layout: str) -> Iterator[tuple[int, int]]:
    """Give each key with what it does; raises KeyError for what the layout has no key for."""
    for char in text:
        key, shifted = (ENTER, False) if char == "\r" else KEYS_OF[layout][char]
        if shifted:
            yield SHIFT, DOWN
        yield key, DOWN
        yield key, UP
        if shifted:
            yield SHIFT, UP
