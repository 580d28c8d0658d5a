"""Turn the bytes of a scanner into reports: lines, codes, repeats and noise. Pure: time comes in with the bytes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from firmware.keyboard_layouts import other_layouts
from firmware.presses import MS
from firmware.reports import NotScanned, Scanned

LAST_SERIAL: Final = 136

PlainNumbers = Literal["any", "three", "no"]
"""Which numbers without a set are accepted: `7` and `007`, only `007`, or none."""

_LABELS: Final = (
    re.compile(r"HM1-(?P<set>[0-9]{2})-(?P<tile>[0-9]{3})"),
    re.compile(r"HM(?P<set>[0-9]{2})(?P<tile>[0-9]{3})"),
)
"""Codes that noise cannot produce. ASCII digits only: `\\d` would accept others."""

_MARKS: Final = (
    re.compile(r"(?P<set>[0-9]{2})(?P<tile>[0-9]{3})"),
    re.compile(r"(?P<set>[A-Z])(?P<tile>[0-9]{3})"),
)
"""Codes of four or five characters, which noise may produce."""

_PLAIN: Final = re.compile(r"(?P<tile>[0-9]{1,3})")

_AIM_IDENTIFIER: Final = re.compile(r"\][A-Za-z][0-9A-Za-z]")
"""Optional prefix that identifies the kind of code: `]d1` DataMatrix, `]C0` Code 128 (ISO/IEC 15424)."""


@dataclass(frozen=True, slots=True)
class CodeSettings:
    """Required text before and after each code, and which plain numbers are accepted."""

    prefix: str = ""
    suffix: str = ""
    plain: PlainNumbers = "any"


@dataclass(frozen=True, slots=True)
class ScannedTile:
    """A tile of ours. `sure` is False if noise on the line could have produced the code."""

    serial: int
    set_text: str | None
    sure: bool


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """The reason why something is not one of our tiles: a stable code, and what was read. `sure` as with a tile."""

    code: str
    text: str
    sure: bool = False


def parse_tile_code(text: str, settings: CodeSettings) -> ScannedTile | CodeProblem | None:
    """Parse one code; return None if it is not one of ours."""
    bare = _without_surroundings(text, settings)
    tile = _tile(bare)
    if tile is None:
        return None
    if not 1 <= tile.serial <= LAST_SERIAL:
        return CodeProblem("scan_no_such_tile", text, tile.sure)
    if tile.set_text is None and not _plain_counts(bare, settings.plain):
        return CodeProblem("scan_without_set", text)
    return tile


def _without_surroundings(text: str, settings: CodeSettings) -> str:
    """Return the code without prefix and suffix; empty if they are missing."""
    if not (text.startswith(settings.prefix) and text.endswith(settings.suffix)):
        return ""
    text = text.removeprefix(settings.prefix).removesuffix(settings.suffix).strip(" ")
    return _AIM_IDENTIFIER.sub("", text, count=1) if _AIM_IDENTIFIER.match(text) else text


def _tile(bare: str) -> ScannedTile | None:
    for forms, sure in ((_LABELS, True), (_MARKS, False)):
        for form in forms:
            if match := form.fullmatch(bare):
                return ScannedTile(int(match["tile"]), match["set"], sure)
    return ScannedTile(int(bare), None, sure=False) if _PLAIN.fullmatch(bare) else None


def _plain_counts(bare: str, plain: PlainNumbers) -> bool:
    return plain == "any" or (plain == "three" and len(bare) == 3)  # noqa: PLR2004 - the digits of "three"


CUT_NS: Final = 500 * MS
"""An incomplete line that pauses for this long has broken off; slow radio scanners pause for about 100 ms."""

LONGEST_LINE: Final = 64
"""Bytes of a line. Our longest code has 10 characters; the rest leaves room for prefixes and for showing what was
read."""

TERMINATOR: Final = re.compile(rb"[\r\n\t\x03]")
"""CR, LF, tab, ETX. Several in a row produce empty lines, which are ignored."""

STX: Final = b"\x02"

LineEnd = Literal["whole", "cut", "long"]


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One line without its terminator; `end` tells whether it was terminated, broke off or grew too long.

    A line that grows too long and then breaks off is returned twice, the second time without content.
    """

    content: bytes
    end: LineEnd


@dataclass(slots=True)
class LineCutter:
    """Splits received bytes into lines. Buffers at most LONGEST_LINE bytes."""

    received_at: int = 0
    """When bytes were last received."""
    _partial: bytes = b""
    _skipping: bool = False
    """The line was too long and has been returned; the rest of it is skipped."""

    def take(self, content: bytes, at: int) -> Iterator[ReadLine]:
        """Process bytes received at a time in ns; empty bytes mean that time has passed."""
        if at - self.received_at >= CUT_NS:
            yield from self.break_off()
        if content:
            self.received_at = at
            *ended, rest = TERMINATOR.split(content)
            for piece in ended:
                yield from self._append(piece)
                yield from self._finish()
            yield from self._append(rest)

    def break_off(self) -> Iterator[ReadLine]:
        """Yield the incomplete line, which will not be completed."""
        partial, skipping = self._partial.strip(b"\0"), self._skipping  # half a UTF-16 terminator starts no line
        self._partial, self._skipping = b"", False
        if partial or skipping:
            yield ReadLine(partial.removeprefix(STX), "cut")

    def _append(self, piece: bytes) -> Iterator[ReadLine]:
        if self._skipping:
            return
        self._partial += piece[: LONGEST_LINE + 1]
        if len(self._partial) > LONGEST_LINE:
            partial, self._partial, self._skipping = self._partial[:LONGEST_LINE], b"", True
            yield ReadLine(partial, "long")

    def _finish(self) -> Iterator[ReadLine]:
        partial, skipping = self._partial.removeprefix(STX), self._skipping
        self._partial, self._skipping = b"", False
        if not skipping:
            yield ReadLine(partial, "whole")


IsCode = Callable[[str], bool]


def misconfiguration(line: bytes, is_code: IsCode) -> CodeProblem | None:
    """Return which setting of the scanner is wrong; None if no other interpretation makes sense either."""
    if reading := _first(_encodings(line), is_code):
        return CodeProblem("scan_wrong_encoding", reading)
    if reading := _first(_parities(line), is_code):
        return CodeProblem("scan_wrong_parity", reading)
    if reading := _first(other_layouts(line.decode("latin-1")), is_code):
        return CodeProblem("scan_wrong_layout", reading)
    return None


def _first(readings: Iterator[tuple[str, str]], is_code: IsCode) -> str | None:
    return next((f"{why}: {text}" for why, text in readings if is_code(text)), None)


def _encodings(line: bytes) -> Iterator[tuple[str, str]]:
    """Yield the line in other encodings. In UTF-16, half of a terminator that was split remains in it."""
    if b"\0" in line:
        bare = line.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").replace(b"\0", b"")
        yield "UTF-16", bare.decode("latin-1")
    if line.startswith(b"\xef\xbb\xbf"):
        yield "UTF-8 with a byte order mark", line[3:].decode("latin-1")
    yield "EBCDIC", line.decode("cp037").strip("\r\n\x85")


def _parities(line: bytes) -> Iterator[tuple[str, str]]:
    """Yield the line read as 7 bits with parity: the top bit of characters, and of terminators, may be a parity bit."""
    if any(byte & 0x80 for byte in line):
        yield "7 bits and parity", bytes(byte & 0x7F for byte in line).decode("ascii").strip("\r\n\t\x02\x03")


PRINTABLE: Final = range(0x20, 0x7F)

LINE_QUIET_NS: Final = 100 * MS
"""Manual scans are further apart than this; within a line, a byte takes 8 ms even at 1200 baud."""

_EMPTY_LINE: Final = ReadLine(b"", "whole")

SHOWN_CHARACTERS: Final = LONGEST_LINE
"""Characters shown of an unreadable code: all of them, as it may be a code of another kind (for pairing)."""

_SHORTEST: Final = 3
"""Shortest code, in characters, that can prove a wrong setting."""


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How codes are written, and for how many ms a repeated code is part of the same scan."""

    codes: CodeSettings = field(default_factory=CodeSettings)
    double_ms: int = 1000


@dataclass(slots=True)
class ScanReader:
    """Reads the line of one scanner."""

    settings: ReaderSettings = field(default_factory=ReaderSettings)
    noisy: bool = False
    """Whether this burst contained something that is not a code, or the line was opened during it."""
    _cutter: LineCutter = field(default_factory=LineCutter)
    _noise_reported: bool = False
    """Whether noise in this burst has been reported: a flood causes one report."""
    _after_cut: bool = False
    """Whether the next line may be the rest of one that broke off."""
    _last: dict[type, tuple[object, int]] = field(default_factory=dict)
    """The last tile and the last problem, each with the time it was last seen."""

    def opened(self, at: int) -> None:
        """Start over on a line that was just opened, possibly in the middle of a scan."""
        self._cutter = LineCutter(received_at=at)
        self.noisy, self._noise_reported, self._after_cut = True, False, False

    def lost(self, at: int) -> list[Scanned | NotScanned]:
        """Process the loss of the line, possibly in the middle of a scan."""
        return [report for line in self._cutter.break_off() for report in self._line(line, at)]

    def take(self, content: bytes, at: int) -> list[Scanned | NotScanned]:
        """Process bytes received at a time in ns; empty bytes mean that time has passed."""
        reports: list[Scanned | NotScanned] = []
        if at - self._cutter.received_at >= LINE_QUIET_NS:
            self.noisy = self._noise_reported = False
        for line in self._cutter.take(content, at):
            reports += self._line(line, at)
        return reports

    def _line(self, line: ReadLine, at: int) -> Iterator[Scanned | NotScanned]:
        """Report one line. A code that noise could have produced is accepted only if there was no sign of noise."""
        doubtful = self.noisy or self._after_cut
        self._after_cut = line.end == "cut"
        if line == _EMPTY_LINE:
            return
        read = self._read(line)
        if read is None or (doubtful and not read.sure):
            yield from self._noise(line, at)
        elif isinstance(read, CodeProblem):
            yield from self._refuse(read, at)
        elif self._is_new(read, at):
            yield Scanned(read.serial, read.set_text, at)

    def _read(self, line: ReadLine) -> ScannedTile | CodeProblem | None:
        if line.end != "whole" or not _is_text(line.content):
            return None
        return parse_tile_code(line.content.decode("ascii"), self.settings.codes)

    def _noise(self, line: ReadLine, at: int) -> Iterator[NotScanned]:
        """Report noise, once in a burst, with its likely cause."""
        reported, self.noisy, self._noise_reported = self._noise_reported, True, True
        alone = line.end == "cut" and len(line.content) <= 1  # half a terminator, from a misconfigured scanner
        if not (reported or alone):
            yield from self._refuse(
                misconfiguration(line.content, self._is_code) or _problem(line, self._read(line)), at
            )

    def _refuse(self, problem: CodeProblem, at: int) -> Iterator[NotScanned]:
        if self._is_new(problem, at):
            yield NotScanned(problem.code, problem.text, at)

    def _is_code(self, text: str) -> bool:
        """Return whether a guess is a tile's code. One or two digits are not enough evidence."""
        return len(text) >= _SHORTEST and isinstance(parse_tile_code(text, self.settings.codes), ScannedTile)

    def _is_new(self, what: ScannedTile | CodeProblem, at: int) -> bool:
        """Return whether this is not a repetition. A code that is read continuously remains one scan."""
        last, when = self._last.get(type(what), (None, at))
        self._last[type(what)] = what, at
        return last != what or at - when >= self.settings.double_ms * MS


def _problem(line: ReadLine, read: ScannedTile | CodeProblem | None) -> CodeProblem:
    """Return the problem with a line that is unreadable, or was readable but came after noise."""
    shown = "".join(chr(byte) if byte in PRINTABLE else f"\\x{byte:02x}" for byte in line.content)[:SHOWN_CHARACTERS]
    if line.end == "long":
        return CodeProblem("scan_too_long", shown)
    if line.end == "cut" or read is not None:
        return CodeProblem("scan_cut", shown)
    if _is_text(line.content):
        return CodeProblem("scan_unknown", shown)
    return CodeProblem("scan_garbled", shown)


def _is_text(content: bytes) -> bool:
    """Return whether these are printable ASCII characters and nothing else."""
    return all(byte in PRINTABLE for byte in content)
