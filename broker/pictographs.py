"""Emoji in names: a printed page and a table's screen have no letters for them, and leave them out."""

import unicodedata
from collections.abc import Callable
from typing import Final

ZWJ: Final = "\N{ZERO WIDTH JOINER}"
JOINING: Final = f"{ZWJ}\N{VARIATION SELECTOR-16}\N{COMBINING ENCLOSING KEYCAP}"
"""What makes one pictograph of several."""


def without_pictographs(text: str, is_drawn: Callable[[str], bool]) -> str:
    """Return a text as it is read aloud; one of pictographs alone by their names: somebody may be called so.

    `is_drawn`: whether a font has a letter; a sign that one has stays.
    """
    pairs = zip(f" {text}", text, strict=False)
    left = "".join(letter for before, letter in pairs if not _is_pictograph(letter, before, is_drawn))
    if left == text:
        return text
    said = (unicodedata.name(letter, "").lower() for letter in text if not _is_unseen(letter, is_drawn))
    return " ".join(left.split()) or ", ".join(filter(None, said))


def _is_pictograph(letter: str, before: str, is_drawn: Callable[[str], bool]) -> bool:
    """Return whether a letter is one, or a part of one, or cannot be seen. `before`: the letter before it."""
    if letter == ZWJ and before not in JOINING and unicodedata.category(before)[0] in "LM":
        return not is_drawn(letter)  # as between letters of Sinhala
    if _is_unseen(letter, is_drawn):
        return True
    return unicodedata.category(letter) in {"So", "Sk"} and not (is_drawn(letter) and before != ZWJ)


def _is_unseen(letter: str, is_drawn: Callable[[str], bool]) -> bool:
    return letter in JOINING or (unicodedata.category(letter) == "Cf" and not is_drawn(letter))
