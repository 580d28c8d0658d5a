"""Which tables have not been heard of for a while, though none has signed off and no last will has come.

A broker that was killed says no last wills: the state that it keeps of a table may be that of one long dead. So each
table says every few seconds that it is there. What is judged is time in which we listened, by a clock that counts on:
while the broker is away, or this process stands still, no table grows silent.
"""

from typing import Final

from broker.protocol import SILENT_S

LOOK_S: Final = 1.0
"""How often is looked."""

LONGEST_S: Final = 3 * LOOK_S
"""Of the time between two looks no more counts: in the rest we did not listen."""


class Liveness:
    """The tables that say every few seconds that they are there, and those of them that do so no more."""

    def __init__(self) -> None:
        self._listened, self._looked = 0.0, 0.0
        self._heard: dict[int, float] = {}
        self.silent: set[int] = set()

    def heard(self, table: int) -> bool:
        """Take in that a table has said something; return whether it had been silent."""
        self._heard[table] = self._listened
        was_silent = table in self.silent
        self.silent.discard(table)
        return was_silent

    def expect(self, table: int) -> None:
        """Take it that a table has something to say from now on, though it has not been heard."""
        self._heard.setdefault(table, self._listened)

    def forget(self, table: int) -> None:
        """Expect nothing of a table: it is known to be gone, or its program says nothing by itself."""
        self._heard.pop(table, None)
        self.silent.discard(table)

    def expected(self, table: int) -> bool:
        """Return whether a table is to say something."""
        return table in self._heard

    def look(self, now: float, *, listening: bool) -> set[int]:
        """Return the tables that have grown silent by now. `now` in s of a clock that counts on."""
        passed = now - self._looked
        if 0 <= passed < LOOK_S:
            return set()
        self._looked = now
        if listening:
            self._listened += min(max(passed, 0), LONGEST_S)
        silent = {table for table, heard in self._heard.items() if self._listened - heard >= SILENT_S}
        found, self.silent = silent - self.silent, silent
        return found
