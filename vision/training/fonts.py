"""The fonts for drawing numbers, and which of them are kept back from training.

Fonts are divided by family into three parts: for training, for calibration (choosing thresholds) and for tests only.
`fonts.toml` lists the latter two. Fonts are searched in the folders of the environment variable `HOMOLOGUE_FONTS`,
separated by colons, or in the system's.
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
SIZE = 64  # pixels: size at which glyphs are drawn; marks are smaller in every picture
LEGIBLE = 20  # pixels: size at which all signs of a font must be distinct
_NOT = re.compile(
    r"italic|oblique|cjk|symbol|math|hairline|outline|emoji|braille|linbiolinum_k|linlibertine_i|inverse|invert|sansbox|square|ferrite|ocrb[efx]\b",
    re.IGNORECASE,
)
_SERIFS = re.compile(r"serif", re.IGNORECASE)  # for training only, not in the fonts kept back
_FINE = re.compile(r"thin|extralight|ultralight", re.IGNORECASE)  # for training only, so that the tests did not change
FOREIGN = "ABCDEFGHJKLMNPQRSTUVWXYZÄÇÑß&#?+=%"  # signs other than digits that occur on backs
_UNEVEN = 0.08  # most by which digits may differ in height: excludes text figures, which nobody engraves

Part = Literal["calibration", "test"]
Look = Literal["print", "odd", "handwriting"]
Families = tuple[tuple[Path, ...], ...]


@cache
def kept_back() -> dict[Part, dict[Look, tuple[str, ...]]]:
    """Return the first words of the family names that are kept back from training, by purpose and look."""
    parts = tomllib.loads(Path(__file__).with_name("fonts.toml").read_text(encoding="utf-8"))
    return {part: {look: tuple(parts[part][look]) for look in get_args(Look)} for part in get_args(Part)}


def is_kept_back(family: str) -> bool:
    """Return whether a family is reserved for calibration or tests."""
    return any(_is_one_of(family, names) for looks in kept_back().values() for names in looks.values())


def _is_one_of(family: str, names: tuple[str, ...]) -> bool:
    return any(family == name or family.startswith((f"{name} ", f"{name}-")) or family == f"{name}2" for name in names)


@cache
def font_files() -> tuple[Path, ...]:
    """Return all font files to train with, sorted, so that seeds give the same fonts on all machines that have them."""
    return tuple(path for path in _usable_files() if not is_kept_back(family_name(path)) and _draws_all(path))


def _draws_all(path: Path) -> bool:
    """Return whether a font draws all of `FOREIGN`."""
    font = _one_sign_font(path, LEGIBLE)
    return all(font.getmask(sign).getbbox() for sign in FOREIGN)


@cache
def _usable_files() -> tuple[Path, ...]:
    return tuple(path for path in _all_files() if not _NOT.search(path.name) and _is_even(path))


def _all_files() -> list[Path]:
    return sorted(path for folder in FOLDERS for kind in ("*.ttf", "*.otf") for path in folder.rglob(kind))


@cache
def families() -> Families:
    """Return the files to train with by family, so that a family with thirty weights does not count thirty times."""
    files = sorted(font_files(), key=family_name)
    return tuple(tuple(members) for _, members in groupby(files, key=family_name))


@cache
def families_kept_back(part: Part, look: Look) -> Families:
    """Return the installed files that are kept back for a purpose, grouped by the names in `fonts.toml`."""
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
    """Return a font at `SIZE` pixels."""
    return ImageFont.truetype(str(path), SIZE)


def _one_sign_font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    """Return a font with basic layout: full text layout takes longer than drawing a single sign."""
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
    """Return whether a font has all digits and letters, with digits of equal height."""
    if not (_has_digits(path) and _tells_apart(path, "ABCDEFGHJKLMNPRSTUVWXYZ")):
        return False
    try:
        heights = [below - above for _, above, _, below in map(_one_sign_font(path, SIZE).getbbox, "0123456789")]
    except (OSError, ValueError):
        return False
    return max(heights) > 0 and max(heights) - min(heights) <= _UNEVEN * max(heights)
