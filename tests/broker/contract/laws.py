"""How property tests run here: always the same examples, and few enough for one core."""

from typing import Final

from hypothesis import settings

LAW: Final = settings(max_examples=100, derandomize=True, deadline=None)
FEW: Final = settings(LAW, max_examples=25)
MANY: Final = settings(LAW, max_examples=400)
