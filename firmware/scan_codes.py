"""What a code says: a set and a serial, a serial alone, or nothing of ours. Pure."""

import re
from dataclasses import dataclass
from typing import Final, Literal

LAST_SERIAL: Final = 136

Plain = Literal["any", "three", "no"]
"""Which numbers without a set count: `7` and `007`, `007` alone, none."""

LABELS: Final = (
    re.compile(r"HM1-(?P<set>[0-9]{2})-(?P<tile>[0-9]{3})"),
    re.compile(r"HM(?P<set>[0-9]{2})(?P<tile>[0-9]{3})"),
)
"""Codes that chance does not make. ASCII digits only: `\\d` would let others in."""

MARKS: Final = (
    re.compile(r"(?P<set>[0-9]{2})(?P<tile>[0-9]{3})"),
    re.compile(r"(?P<set>[A-Z])(?P<tile>[0-9]{3})"),
)
"""Codes of four or five characters, of which noise may make one."""

PLAIN: Final = re.compile(r"(?P<tile>[0-9]{1,3})")

AIM: Final = re.compile(r"\][A-Za-z][0-9A-Za-z]")
"""What a scanner may send first to say which kind of code it read: `]d1` DataMatrix, `]C0` Code 128 (ISO/IEC 15424)."""

SET: Final = re.compile(r"[A-Z]|[0-9]{2}")


@dataclass(frozen=True, slots=True)
class CodeSettings:
    """What surrounds each code, which must then be there, and which plain numbers count."""

    prefix: str = ""
    suffix: str = ""
    plain: Plain = "any"


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of ours. `sure` is False where noise on the line could have made the code."""

    serial: int
    set_text: str | None
    sure: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something is no tile of ours: a stable code, and what was read. `sure` as with a tile."""

    code: str
    text: str
    sure: bool = False


def read_code(text: str, settings: CodeSettings, expected_set: str | None = None) -> Tile | Problem | None:
    """Read one code, None where it is nothing of ours; with `expected_set` a tile of any other set is foreign."""
    bare = _bare(text, settings)
    tile = _tile(bare)
    if tile is None:
        return None
    if not 1 <= tile.serial <= LAST_SERIAL:
        return Problem("scan_no_such_tile", text, tile.sure)
    if tile.set_text is None:
        return tile if _plain_counts(bare, settings.plain) else Problem("scan_without_set", text)
    if expected_set not in (None, tile.set_text):
        return Problem("scan_foreign_set", text, tile.sure)
    return tile


def _bare(text: str, settings: CodeSettings) -> str:
    """Take off what surrounds the code; nothing is left where it is not surrounded so."""
    if not (text.startswith(settings.prefix) and text.endswith(settings.suffix)):
        return ""
    text = text.removeprefix(settings.prefix).removesuffix(settings.suffix).strip(" ")
    return AIM.sub("", text, count=1) if AIM.match(text) else text


def _tile(bare: str) -> Tile | None:
    for forms, sure in ((LABELS, True), (MARKS, False)):
        for form in forms:
            if match := form.fullmatch(bare):
                return Tile(int(match["tile"]), match["set"], sure)
    return Tile(int(bare), None, sure=False) if PLAIN.fullmatch(bare) else None


def _plain_counts(bare: str, plain: Plain) -> bool:
    return plain == "any" or (plain == "three" and len(bare) == 3)  # noqa: PLR2004 - three is three
