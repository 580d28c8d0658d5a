"""What a scanner sends, to reports: lines, codes, doubles, noise. Pure: time comes in with the bytes.

A scan is a burst with silence around it. Noise may hold a short code by chance, so once something in a burst was no
code, only what chance does not make counts until the line has been quiet.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from firmware.reports import NotScanned, Scanned
from firmware.scan_codes import CodeSettings, Problem, Tile, read_code
from firmware.scan_lines import LONGEST, MS, LineCutter, ReadLine
from firmware.scan_pages import mistaken

PRINTABLE: Final = range(0x20, 0x7F)

QUIET_NS: Final = 100 * MS
"""Between two scans by hand there is more; within a line at 1200 baud a byte takes 8 ms."""

EMPTY: Final = ReadLine(b"", "whole")

SHOWN: Final = LONGEST
"""Characters of what could not be read: all of them, for it may be a code of another kind (that of a pairing)."""

SHORTEST: Final = 3
"""Characters of a code that says what is set up wrongly."""


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How codes are written, and for how many ms the same one again is the same scan."""

    codes: CodeSettings = field(default_factory=CodeSettings)
    double_ms: int = 1000


@dataclass(slots=True)
class ScanReader:
    """One scanner's line. `expected_set` is the set on the table, None where any will do."""

    settings: ReaderSettings = field(default_factory=ReaderSettings)
    expected_set: str | None = None
    noisy: bool = False
    """Something in this burst was no code, or the line was opened in it."""
    _cutter: LineCutter = field(default_factory=LineCutter)
    _told: bool = False
    """What was no code in this burst has been told: a flood is one report."""
    _after_cut: bool = False
    """The next line may be the rest of one that broke off."""
    _last: dict[type, tuple[object, int]] = field(default_factory=dict)
    """The tile that was scanned last and what was none, each with when it was seen last."""

    def opened(self, at: int) -> None:
        """Begin anew on a line that was opened just now, maybe in the middle of a scan."""
        self._cutter = LineCutter(heard=at)
        self.noisy, self._told, self._after_cut = True, False, False

    def lost(self, at: int) -> list[Scanned | NotScanned]:
        """Take in that the line is gone, maybe in the middle of a scan."""
        return [report for line in self._cutter.break_off() for report in self._line(line, at)]

    def take(self, content: bytes, at: int) -> list[Scanned | NotScanned]:
        """Take bytes and when they came, in ns; no bytes to say that time has passed."""
        reports: list[Scanned | NotScanned] = []
        if at - self._cutter.heard >= QUIET_NS:
            self.noisy = self._told = False
        for line in self._cutter.take(content, at):
            reports += self._line(line, at)
        return reports

    def _line(self, line: ReadLine, at: int) -> Iterator[Scanned | NotScanned]:
        """Report one line; what chance may have made counts only where nothing speaks for chance."""
        doubtful = self.noisy or self._after_cut
        self._after_cut = line.end == "cut"
        if line == EMPTY:
            return
        read = self._read(line)
        if read is None or (doubtful and not read.sure):
            yield from self._noise(line, at)
        elif isinstance(read, Problem):
            yield from self._refuse(read, at)
        elif self._is_new(read, at):
            yield Scanned(read.serial, read.set_text, at)

    def _read(self, line: ReadLine) -> Tile | Problem | None:
        if line.end != "whole" or not _is_text(line.content):
            return None
        return read_code(line.content.decode("ascii"), self.settings.codes, self.expected_set)

    def _noise(self, line: ReadLine, at: int) -> Iterator[NotScanned]:
        """Say once in a burst what it may be."""
        told, self.noisy, self._told = self._told, True, True
        alone = line.end == "cut" and len(line.content) <= 1  # half a terminator, of a scanner that is set up wrongly
        if not (told or alone):
            yield from self._refuse(mistaken(line.content, self._is_code) or _problem(line, self._read(line)), at)

    def _refuse(self, problem: Problem, at: int) -> Iterator[NotScanned]:
        if self._is_new(problem, at):
            yield NotScanned(problem.code, problem.text, at)

    def _is_code(self, text: str) -> bool:
        """Say whether a guess at what was meant is a tile; one or two digits are no evidence for a guess."""
        return len(text) >= SHORTEST and isinstance(read_code(text, self.settings.codes), Tile)

    def _is_new(self, what: Tile | Problem, at: int) -> bool:
        """Say whether this is no repetition; a scanner that goes on reading the same goes on being the same scan."""
        last, when = self._last.get(type(what), (None, at))
        self._last[type(what)] = what, at
        return last != what or at - when >= self.settings.double_ms * MS


def _problem(line: ReadLine, read: Tile | Problem | None) -> Problem:
    """Name a line that makes no sense, or made sense where noise was before it."""
    shown = "".join(chr(byte) if byte in PRINTABLE else f"\\x{byte:02x}" for byte in line.content)[:SHOWN]
    if line.end == "long":
        return Problem("scan_too_long", shown)
    if line.end == "cut" or read is not None:
        return Problem("scan_cut", shown)
    if _is_text(line.content):
        return Problem("scan_unknown", shown)
    return Problem("scan_garbled", shown)


def _is_text(content: bytes) -> bool:
    """Say whether these are printable ASCII characters and nothing else."""
    return all(byte in PRINTABLE for byte in content)
