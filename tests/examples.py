"""Fewer examples for property tests in which one example takes a tenth of a second or more."""

from typing import Final

from hypothesis import settings

COSTLY: Final = settings(max_examples=max(2, settings().max_examples // 5))
