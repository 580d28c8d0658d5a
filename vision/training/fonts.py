"""The fonts that numbers are drawn in, and which of them no network may learn from.

Three parts share no family: fonts for training, fonts for calibration (they choose thresholds) and fonts for tests
(they only judge). `fonts.toml` lists the latter two. Folders are those of the environment's `HOMOLOGUE_FONTS`,
separated by colons, or the system's.
"""

import os
import re
import tomllib
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Literal, get_args

from PIL import ImageFont

FOLDERS = tuple(Path(folder) for folder in os.environ.get("HOMOLOGUE_FONTS", "/usr/share/fonts").split(":"))
SIZE = 64  # pixels a glyph is drawn with; marks are smaller in every picture
LEGIBLE = 20  # pixels at which a font has to tell its signs apart
_NOT = re.compile(
    r"italic|oblique|cjk|symbol|math|hairline|outline|emoji|braille|linbiolinum_k|linlibertine_i|inverse|invert|sansbox|square|ferrite|ocrb[efx]\b",
    re.IGNORECASE,
)
_SERIFS = re.compile(r"serif", re.IGNORECASE)  # learnt, not among what judges print
_FINE = re.compile(r"thin|extralight|ultralight", re.IGNORECASE)  # for training alone: what judges stays as it was
FOREIGN = "ABCDEFGHJKLMNPQRSTUVWXYZÄÇÑß&#?+=%"  # signs that stand on backs and are no digits
_UNEVEN = 0.08  # share of the height by which digits of one font may differ: text figures do, and nobody engraves them

Part = Literal["calibration", "test"]
Look = Literal["print", "odd", "handwriting"]
Families = tuple[tuple[Path, ...], ...]


@cache
def kept_back() -> dict[Part, dict[Look, tuple[str, ...]]]:
    """Return the names with which families begin that training never draws, by what they are for."""
    parts = tomllib.loads(Path(__file__).with_name("fonts.toml").read_text(encoding="utf-8"))
    return {part: {look: tuple(parts[part][look]) for look in get_args(Look)} for part in get_args(Part)}


def is_kept_back(family: str) -> bool:
    """Return whether a family is for calibration or tests only."""
    return any(_is_one_of(family, names) for looks in kept_back().values() for names in looks.values())


def _is_one_of(family: str, names: tuple[str, ...]) -> bool:
    return any(family == name or family.startswith((f"{name} ", f"{name}-")) or family == f"{name}2" for name in names)


@cache
def font_files() -> tuple[Path, ...]:
    """Return all font files to train with, sorted: a draw by number is the same on all machines with the same fonts."""
    return tuple(path for path in _usable_files() if not is_kept_back(family_name(path)) and _draws_all(path))


def _draws_all(path: Path) -> bool:
    """Return whether a font leaves no sign out."""
    font = _one_sign_font(path, LEGIBLE)
    return all(font.getmask(sign).getbbox() for sign in FOREIGN)


@cache
def _usable_files() -> tuple[Path, ...]:
    return tuple(path for path in _all_files() if not _NOT.search(path.name) and _is_even(path))


def _all_files() -> list[Path]:
    return sorted(path for folder in FOLDERS for kind in ("*.ttf", "*.otf") for path in folder.rglob(kind))


@cache
def families() -> Families:
    """Return the files to train with by family, so that a family of thirty weights is not learnt for thirty."""
    files = sorted(font_files(), key=family_name)
    return tuple(tuple(members) for _, members in groupby(files, key=family_name))


@cache
def families_kept_back(part: Part, look: Look) -> Families:
    """Return the installed files that are kept back for a purpose, by the names of the list."""
    usable = [path for path in _usable_files() if not _FINE.search(path.name) and not _SERIFS.search(path.name)]
    files = usable if look == "print" else _all_files()
    groups = ([path for path in files if _is_one_of(family_name(path), (name,))] for name in kept_back()[part][look])
    legible = (tuple(path for path in group if _has_digits(path)) for group in groups)
    return tuple(group for group in legible if group)


@lru_cache(maxsize=4096)
def family_name(path: Path) -> str:
    """Return the name of a font's family."""
    try:
        return load_font(path).getname()[0] or path.stem
    except OSError:
        return path.stem


@lru_cache(maxsize=512)
def load_font(path: Path) -> ImageFont.FreeTypeFont:
    """Return a font, `SIZE` pixels high."""
    return ImageFont.truetype(str(path), SIZE)


def _one_sign_font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    """Return a font that lays out no text, which takes longer than to draw a sign."""
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def _tells_apart(path: Path, signs: str) -> bool:
    try:
        font = _one_sign_font(path, LEGIBLE)
        return len({bytes(font.getmask(sign)) for sign in signs}) == len(signs)
    except (OSError, ValueError):
        return False


def _has_digits(path: Path) -> bool:
    return _tells_apart(path, "0123456789")


def _is_even(path: Path) -> bool:
    """Return whether a font has all digits and letters, and digits of one height."""
    if not (_has_digits(path) and _tells_apart(path, "ABCDEFGHJKLMNPRSTUVWXYZ")):
        return False
    try:
        heights = [below - above for _, above, _, below in map(_one_sign_font(path, SIZE).getbbox, "0123456789")]
    except (OSError, ValueError):
        return False
    return max(heights) > 0 and max(heights) - min(heights) <= _UNEVEN * max(heights)
