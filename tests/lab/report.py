"""The checks of the laboratory: each has a name, holds or does not, and the last line counts them."""

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Report:
    """What was checked so far. `say` writes a line for people."""

    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    held: int = 0
    broken: list[str] = field(default_factory=list)

    @contextmanager
    def check(self, name: str) -> Iterator[None]:
        """Do one check in the block: it holds where the block comes to its end. What it raises goes no further."""
        begun = self.clock()
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are still worth their time
            self.broken.append(name)
            self.say(f"  BROKEN  {name} ({self.clock() - begun:.0f} s)\n{_said(error)}")
        else:
            self.held += 1
            self.say(f"  held    {name} ({self.clock() - begun:.0f} s)")

    @property
    def last_line(self) -> str:
        """Return how many checks there were, and how many held."""
        return f"lab: {self.held + len(self.broken)} checks, {self.held} held"


def _said(error: Exception) -> str:
    """Return what an error says, or the line that raised it where it says nothing."""
    return str(error) or "".join(traceback.format_exception(error)[-2:]).rstrip()
