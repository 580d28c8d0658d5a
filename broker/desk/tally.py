"""Which of many alike refusals are written down: the first of an hour, then whenever their number has doubled. Pure.

Anybody who reaches the desk can be refused as often as they like; the audit log, which is never shortened, says how
often it was, in a few lines.
"""

from typing import Final

WINDOW_MS: Final = 60 * 60 * 1000
EACH: Final = 8
"""Of one kind in an hour, written down one by one."""


class Tally:
    """Counts what happens, by kind. Kinds are few: codes of refusals."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def count(self, kind: str, now: int) -> int:
        """Count one more; give how many there were in this hour where that is to be written down, else 0."""
        since, before = self._counts.get(kind, (now, 0))
        if not 0 <= now - since < WINDOW_MS:
            since, before = now, 0
        count = before + 1
        self._counts[kind] = since, count
        return count if count <= EACH or count & (count - 1) == 0 else 0
