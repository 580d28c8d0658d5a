"""Columns of text for a screen of even letters, where a Chinese or Japanese one is as wide as two others."""

import unicodedata
from typing import Final

TWO_WIDE: Final = frozenset("WF")


def left(text: str, wide: int) -> str:
    """Give a text with blanks after it, so many places wide at least."""
    return text + " " * (wide - places(text))


def right(text: str, wide: int) -> str:
    """Give a text with blanks before it."""
    return " " * (wide - places(text)) + text


def places(text: str) -> int:
    """Count the places that a text takes."""
    return sum(2 if unicodedata.east_asian_width(letter) in TWO_WIDE else 1 for letter in text)
