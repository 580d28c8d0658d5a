"""The laboratory's checks: each has a name and holds or fails, and the last line counts them."""

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Report:
    """The results so far. `say` prints a line."""

    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    held: int = 0
    broken: list[str] = field(default_factory=list)

    @contextmanager
    def check(self, name: str) -> Iterator[None]:
        """Run one check in the block: it holds if the block ends normally. Errors are recorded, not raised."""
        begun = self.clock()
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the other checks are useful whatever the error is
            self.broken.append(name)
            self.say(f"  BROKEN  {name} ({self.clock() - begun:.0f} s)\n{_said(error)}")
        else:
            self.held += 1
            self.say(f"  held    {name} ({self.clock() - begun:.0f} s)")

    @property
    def last_line(self) -> str:
        """Return the number of checks, and of those that held."""
        return f"lab: {self.held + len(self.broken)} checks, {self.held} held"


def _said(error: Exception) -> str:
    """Return an error's message, or the line that raised it if there is none."""
    return str(error) or "".join(traceback.format_exception(error)[-2:]).rstrip()
