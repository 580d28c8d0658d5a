"""Keys to text, for scanners that type like a keyboard. Pure: key codes of the Linux kernel in, characters out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

UP, DOWN = 0, 1
"""What a key event says; 2 is a key that repeats, which means nothing here."""

SHIFT: Final = frozenset({42, 54})
CONTROL: Final = frozenset({29, 97})
ALT: Final = 56
ALT_GR: Final = 100
_LOCK_KEYS: Final = frozenset({58, 69, 70, 125, 126})
"""Caps lock, number lock, scroll lock, and the two keys with a logo: they type nothing."""

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
"""Enter, tabulator, space, Backspace, Escape, Delete, the keypad's point."""

UNREADABLE: Final = "\x1a"
"""For a key that a code cannot have in it: the line is then no code."""

_KEY_ROWS: Final = ((2, 13), (16, 27), (30, 40), (41, 41), (43, 53), (86, 86))
"""Codes of the keys that type: digits, QWERTY, ASDF, the one below Escape, ZXCV with the one before, the 102nd."""


@dataclass(frozen=True, slots=True)
class KeyboardLayout:
    """What each key types alone, with shift, and with the right Alt key."""

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
"""French is AZERTY as in France: digits with shift, M beside L. All of it is in Latin-1."""


@dataclass(slots=True)
class KeyTranslator:
    """What is typed on one keyboard."""

    layout: KeyboardLayout
    _held: set[int] = field(default_factory=set)
    _number: str = ""
    """Digits of the keypad while Alt is held: the character's number, whatever the layout."""

    def take(self, key: int, value: int) -> str:
        """Take one key event and give what it types, which is mostly one character or none."""
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
        return _numbered(number) if number else ""

    def _character(self, key: int) -> str:
        if self._held & CONTROL:  # Ctrl+B is STX, Ctrl+M is CR
            letter = self.layout.plain.get(key, "").upper()
            return chr(ord(letter) & 0x1F) if letter.isascii() and letter.isalpha() else UNREADABLE
        level = self.layout.shifted if self._held & SHIFT else self.layout.plain
        level = self.layout.alt_gr if ALT_GR in self._held else level
        return _ALWAYS.get(key) or level.get(key, UNREADABLE)


def _numbered(number: str) -> str:
    code = int(number) if number.isdecimal() else 0
    return chr(code) if 0 < code <= 0xFF else UNREADABLE  # noqa: PLR2004 - Latin-1 ends there


KEYS_OF: Final[Mapping[str, Mapping[str, tuple[int, bool]]]] = {
    name: {
        **{char: (key, True) for key, char in layout.shifted.items()},
        **{char: (key, False) for key, char in layout.plain.items()},
        " ": (57, False),
    }
    for name, layout in LAYOUTS.items()
}
"""In each layout, by character: the key, and whether shift is held."""


def other_layouts(text: str) -> Iterator[tuple[str, str]]:
    """Return what was meant if scanner and reader have different layouts, each with its explanation."""
    if text.swapcase() != text:
        yield "capitals and small letters exchanged", text.swapcase()
    for read, typed in permutations(LAYOUTS, 2):
        keys = [KEYS_OF[read].get(char) for char in text]
        if None not in keys:
            yield f"typed for {typed}, read as {read}", "".join(_typed(typed, *key) for key in keys if key)


def _typed(name: str, key: int, shifted: bool) -> str:  # noqa: FBT001 - a key with its shift, as the table has it
    layout = LAYOUTS[name]
    return _ALWAYS.get(key) or (layout.shifted if shifted else layout.plain)[key]
