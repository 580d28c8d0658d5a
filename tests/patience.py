"""How long tests wait for what must come; what does not come in that time is told with what was awaited."""

from typing import Final

PATIENCE_S: Final = 300.0
"""Beside thirty busy processes a program that starts within two seconds has taken two minutes."""
