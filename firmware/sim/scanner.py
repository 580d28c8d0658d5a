"""A simulated scanner on a pseudo-terminal, read through the real serial code."""

import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from firmware.sim.cable import Plug

TERMINATORS: Final = {"crlf": b"\r\n", "cr": b"\r", "lf": b"\n", "tab": b"\t", "etx": b"\x03", "none": b""}

ENCODINGS: Final = ("ascii", "utf-16-le", "utf-16-be", "cp037")
"""cp037 is EBCDIC."""

_NOISE_BYTES: Final = 12
"""Bytes of noise, which contain neither a terminator nor a code."""


@dataclass(frozen=True, slots=True)
class ScannerHabits:
    """The settings and faults of a simulated scanner."""

    terminator: Annotated[str, "`crlf`, `cr`, `lf`, `tab`, `etx` or `none`."] = "crlf"
    before: Annotated[str, "Text before each code, an AIM identifier for example."] = ""
    stx: Annotated[int, "1: each code begins with STX."] = 0
    encoding: Annotated[str, "`ascii`, `utf-16-le`, `utf-16-be` or `cp037` (EBCDIC)."] = "ascii"
    repeats: Annotated[int, "How many more times each code is sent."] = 0
    garbage: Annotated[int, "Scans in a hundred that are preceded by noise."] = 0
    piece: Annotated[int, "Bytes of each piece in which a code arrives; 0: all at once."] = 0
    delay_ms: Annotated[int, "Delay before each piece, in ms."] = 0
    away_every: Annotated[int, "Scans after which it is unplugged; 0: never."] = 0
    away_ms: Annotated[int, "How long it stays unplugged, in ms."] = 3000
    seed: Annotated[int, "Seed of the random noise."] = 0


class SimulatedScanner:
    """A scanner in a person's hand, and its plug. For one thread."""

    def __init__(self, habits: ScannerHabits) -> None:
        self._habits = habits
        self._random = random.Random(habits.seed)  # noqa: S311 - simulated noise, no secret
        self._scans = 0
        self._folder = tempfile.TemporaryDirectory(prefix="homologue-scanner-")
        self.plug = Plug(Path(self._folder.name) / "scanner")
        self.plug.put_in()

    def scan(self, text: str) -> None:
        """Scan one code."""
        self._scans += 1
        for _ in range(1 + self._habits.repeats):
            self.send(self._noise() + self.frame(text))
        if self._habits.away_every and self._scans % self._habits.away_every == 0:
            self._unplug_for_a_while()

    def frame(self, text: str) -> bytes:
        """Return the bytes that are sent for a code."""
        habits = self._habits
        code = (b"\x02" * habits.stx).decode() + habits.before + text + TERMINATORS[habits.terminator].decode()
        return code.encode(habits.encoding)

    def send(self, content: bytes) -> None:
        """Send raw bytes, in pieces."""
        size = self._habits.piece or len(content) or 1
        for start in range(0, len(content), size):
            time.sleep(self._habits.delay_ms / 1000)
            self.plug.send(content[start : start + size])

    def _noise(self) -> bytes:
        noisy = self._random.randrange(100) < self._habits.garbage
        return bytes(self._random.randrange(0x80, 0x100) for _ in range(_NOISE_BYTES)) if noisy else b""

    def _unplug_for_a_while(self) -> None:
        self.plug.pull()
        time.sleep(self._habits.away_ms / 1000)
        self.plug.put_in()

    def close(self) -> None:
        """Remove the scanner. May be called twice."""
        self.plug.close()
        self._folder.cleanup()
