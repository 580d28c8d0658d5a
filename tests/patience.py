"""How long tests wait before they fail, with a message that names what did not happen."""

import time
from collections.abc import Iterator
from typing import Final

PATIENCE_S: Final = 300.0
"""Beside thirty busy processes, a program that usually starts within two seconds took two minutes."""


def tries() -> Iterator[None]:
    """Repeat an attempt for as long as tests wait, however quickly it fails."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        yield
