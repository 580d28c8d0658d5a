"""How long tests wait for what must come; what does not come in that time is told with what was awaited."""

import time
from collections.abc import Iterator
from typing import Final

PATIENCE_S: Final = 300.0
"""Beside thirty busy processes a program that starts within two seconds has taken two minutes."""


def tries() -> Iterator[None]:
    """Let something be tried again for as long as tests wait, however quickly it fails."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        yield
