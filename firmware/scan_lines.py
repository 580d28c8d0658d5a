"""Bytes to lines: what ends a line, what broke off, what is too long. Pure: time comes in with the bytes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

MS: Final = 1_000_000

CUT_NS: Final = 500 * MS
"""A line that stands still for so long has broken off; slow radio scanners pause for some 100 ms."""

LONGEST: Final = 64
"""Bytes of a line. Our longest code has 10 characters; the rest is for prefixes and for what is named."""

TERMINATOR: Final = re.compile(rb"[\r\n\t\x03]")
"""CR, LF, tabulator, ETX; a row of them makes empty lines, which say nothing."""

STX: Final = b"\x02"

End = Literal["whole", "cut", "long"]


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One line without what ended it; `end` says whether it was ended, stood still or grew too long.

    A line that grew too long and then stood still is told twice, the second time without content.
    """

    content: bytes
    end: End


@dataclass(slots=True)
class LineCutter:
    """Collects bytes to lines. Keeps LONGEST bytes at most."""

    heard: int = 0
    """When the last bytes came."""
    _begun: bytes = b""
    _skipping: bool = False
    """The line was too long and has been told; what comes before its end is left out."""

    def take(self, content: bytes, at: int) -> Iterator[ReadLine]:
        """Take what came at a time in ns, or nothing to say that time has passed."""
        if at - self.heard >= CUT_NS:
            yield from self.break_off()
        if content:
            self.heard = at
            *ended, rest = TERMINATOR.split(content)
            for piece in ended:
                yield from self._grow(piece)
                yield from self._end()
            yield from self._grow(rest)

    def break_off(self) -> Iterator[ReadLine]:
        """Give what has begun and will not be ended."""
        begun, skipping = self._begun.strip(b"\0"), self._skipping  # half a terminator in UTF-16 begins no line
        self._begun, self._skipping = b"", False
        if begun or skipping:
            yield ReadLine(begun.removeprefix(STX), "cut")

    def _grow(self, piece: bytes) -> Iterator[ReadLine]:
        if self._skipping:
            return
        self._begun += piece[: LONGEST + 1]
        if len(self._begun) > LONGEST:
            begun, self._begun, self._skipping = self._begun[:LONGEST], b"", True
            yield ReadLine(begun, "long")

    def _end(self) -> Iterator[ReadLine]:
        begun, skipping = self._begun.removeprefix(STX), self._skipping
        self._begun, self._skipping = b"", False
        if not skipping:
            yield ReadLine(begun, "whole")
