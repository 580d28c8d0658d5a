"""A contestant: its name, the styles it is meant for, whether it gets crops, and how it reads a scene."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.benchmarks.vision.judging import Told
from tests.benchmarks.vision.scenes import Scene
from vision.reading import LAST_SERIAL

PRINTED: Final = frozenset({"digits", "prefixed"})
LABELS: Final = frozenset({"label"})
ALL: Final = PRINTED | LABELS
_NUMBER: Final = re.compile(r"[A-Z]?([0-9]{3})")


class NotHereError(Exception):
    """An alternative is not installed; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A reader and a way to use it. Only `look` is timed."""

    name: str
    styles: frozenset[str]
    look: Callable[[Scene], Sequence[Told]] = field(repr=False)
    on_crops: bool = False
    ours: bool = False


def serial_of(text: str) -> int | None:
    """Return the serial that a word contains, with or without a set's letter; None if there is none."""
    found = _NUMBER.fullmatch(text.strip().upper())
    serial = int(found[1]) if found else 0
    return serial if 1 <= serial <= LAST_SERIAL else None
