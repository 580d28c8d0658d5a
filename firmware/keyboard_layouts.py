"""Translate keys to text, for scanners that type like a keyboard. Pure: Linux key codes in, characters out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

UP, DOWN = 0, 1
"""Values of a key event; 2 is a repeat, which is ignored here."""

SHIFT: Final = frozenset({42, 54})
CONTROL: Final = frozenset({29, 97})
ALT: Final = 56
ALT_GR: Final = 100
_LOCK_KEYS: Final = frozenset({58, 69, 70, 125, 126})
"""Caps lock, number lock, scroll lock, and the two logo keys: they type nothing."""

KEYPAD: Final[Mapping[int, str]] = {
    **dict(zip((82, 79, 80, 81, 75, 76, 77, 71, 72, 73), "0123456789", strict=True)),
    74: "-",
    96: "\r",
}
_ALWAYS: Final[Mapping[int, str]] = {
    **KEYPAD,
    28: "\r",
    15: "\t",
    57: " ",
    14: "\b",
    1: "\x1b",
    111: "\x7f",
    83: ".",
}
"""Enter, tab, space, Backspace, Escape, Delete, the keypad's point."""

UNREADABLE: Final = "\x1a"
"""Stands for a key that no code contains, so that the line is rejected."""

_KEY_ROWS: Final = ((2, 13), (16, 27), (30, 40), (41, 41), (43, 53), (86, 86))
"""Ranges of key codes that type: digits, QWERTY, ASDF, the key below Escape, ZXCV with the key before it, the 102nd
key."""


@dataclass(frozen=True, slots=True)
class KeyboardLayout:
    """The character of each key alone, with Shift, and with AltGr."""

    plain: Mapping[int, str]
    shifted: Mapping[int, str]
    alt_gr: Mapping[int, str]


def _keys(*rows: str) -> dict[int, str]:
    codes = [code for first, last in _KEY_ROWS for code in range(first, last + 1)]
    return dict(zip(codes, "".join(rows), strict=True))


LAYOUTS: Final[Mapping[str, KeyboardLayout]] = {
    "us": KeyboardLayout(
        _keys("1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "`", "\\zxcvbnm,./", "<"),
        _keys("!@#$%^&*()_+", "QWERTYUIOP{}", 'ASDFGHJKL:"', "~", "|ZXCVBNM<>?", ">"),
        {},
    ),
    "fr": KeyboardLayout(
        _keys("&é\"'(-è_çà)=", "azertyuiop^$", "qsdfghjklmù", "²", "*wxcvbn,;:!", "<"),
        _keys("1234567890°+", "AZERTYUIOP¨£", "QSDFGHJKLM%", "²", "µWXCVBN?./§", ">"),
        {6: "[", 12: "]"},
    ),
}
"""French is AZERTY as used in France: digits with Shift, M beside L. All characters are in Latin-1."""


@dataclass(slots=True)
class KeyTranslator:
    """The state of one keyboard's keys, which turns key events into text."""

    layout: KeyboardLayout
    _held: set[int] = field(default_factory=set)
    _number: str = ""
    """Digits typed on the keypad while Alt is held: a character's number, in any layout."""

    def take(self, key: int, value: int) -> str:
        """Process one key event and return the text it types, usually one character or none."""
        if key in SHIFT or key in CONTROL or key in (ALT, ALT_GR):
            return self._modifier(key, value)
        if value != DOWN or key in _LOCK_KEYS:
            return ""
        if ALT in self._held and key in KEYPAD:
            self._number = (self._number + KEYPAD[key])[-4:]
            return ""
        return self._character(key)

    def _modifier(self, key: int, value: int) -> str:
        if value != UP:
            self._held.add(key)
            return ""
        self._held.discard(key)
        if key != ALT:
            return ""
        number, self._number = self._number, ""
        return _character_by_number(number) if number else ""

    def _character(self, key: int) -> str:
        if self._held & CONTROL:  # Ctrl+B is STX, Ctrl+M is CR
            letter = self.layout.plain.get(key, "").upper()
            return chr(ord(letter) & 0x1F) if letter.isascii() and letter.isalpha() else UNREADABLE
        level = self.layout.shifted if self._held & SHIFT else self.layout.plain
        level = self.layout.alt_gr if ALT_GR in self._held else level
        return _ALWAYS.get(key) or level.get(key, UNREADABLE)


def _character_by_number(number: str) -> str:
    code = int(number) if number.isdecimal() else 0
    return chr(code) if 0 < code <= 0xFF else UNREADABLE  # noqa: PLR2004 - the end of Latin-1


KEYS_OF: Final[Mapping[str, Mapping[str, tuple[int, bool]]]] = {
    name: {
        **{char: (key, True) for key, char in layout.shifted.items()},
        **{char: (key, False) for key, char in layout.plain.items()},
        " ": (57, False),
    }
    for name, layout in LAYOUTS.items()
}
"""For each layout, the key of each character and whether Shift is held."""


def other_layouts(text: str) -> Iterator[tuple[str, str]]:
    """Yield what may have been meant if scanner and reader use different layouts, each with an explanation."""
    if text.swapcase() != text:
        yield "capitals and small letters exchanged", text.swapcase()
    for read, typed in permutations(LAYOUTS, 2):
        keys = [KEYS_OF[read].get(char) for char in text]
        if None not in keys:
            yield f"typed for {typed}, read as {read}", "".join(_typed(typed, *key) for key in keys if key)


def _typed(name: str, key: int, shifted: bool) -> str:  # noqa: FBT001 - unpacked from KEYS_OF
    layout = LAYOUTS[name]
    return _ALWAYS.get(key) or (layout.shifted if shifted else layout.plain)[key]
