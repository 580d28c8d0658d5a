"""A scanner: a line that stays open, and what comes over it told as reports."""

import time
from collections.abc import Callable
from typing import Final, Self

from firmware.errors import FirmwareError
from firmware.hot_plug import HotPlugged, OnBytes, OnLine
from firmware.reports import Health, Scanned, Tell
from firmware.scan_codes import SET
from firmware.scan_reader import ReaderSettings, ScanReader

PART: Final = "scanner"

OpenLine = Callable[[OnBytes, OnLine], HotPlugged]


class Scanner:
    """Tells what is scanned and how the scanner is, from the line's thread, until closed."""

    def __init__(
        self,
        open_line: OpenLine,
        tell: Tell,
        settings: ReaderSettings,
        *,
        set_text: str | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """`set_text` as in `expect`. Raises ValueError, and what `open_line` raises."""
        self._tell, self._clock_ns = tell, clock_ns
        self._reader = ScanReader(settings)
        self._ready = False
        """The line is open and has been quiet since: what comes now is a scan from its beginning."""
        self.expect(set_text)
        self._line = open_line(self._on_bytes, self._on_line)

    def expect(self, set_text: str | None) -> None:
        """Say which set lies on the table, by its letter or two digits; None: any. Raises ValueError."""
        if set_text is not None and not SET.fullmatch(set_text):
            raise ValueError(f"{set_text!r} is no set: a capital letter or two digits")
        self._reader.expected_set = set_text

    def _on_bytes(self, content: bytes, at: int) -> None:
        reports = self._reader.take(content, at)
        if not self._ready and (not self._reader.noisy or any(isinstance(report, Scanned) for report in reports)):
            self._ready = True
            self._tell(Health(PART, None))
        for report in reports:
            self._tell(report)

    def _on_line(self, error: FirmwareError | None) -> None:
        now = self._clock_ns()
        for report in self._reader.lost(now):
            self._tell(report)
        self._reader.opened(now)
        self._ready = False
        if error:
            self._tell(Health(PART, error.code, str(error)))

    def close(self) -> None:
        """Let the device go; may be called twice."""
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
