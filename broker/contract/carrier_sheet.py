"""What the QR code of the sheet in a carrier says: which deal lies there, and nothing of it."""

import re
from dataclasses import dataclass
from typing import Final

SAID: Final = re.compile(
    r"(?<![a-z])homologue:deal:(?P<event>[a-z0-9][a-z0-9-]{0,31}):(?P<deal>[1-9][0-9]{0,3})(?![0-9])"
)
"""Anywhere in a text: a scanner may be set to send something before and after each code."""


@dataclass(frozen=True, slots=True)
class CarrierSheet:
    """Which event's, and which deal's carrier."""

    event: str
    deal: int


def as_text(sheet: CarrierSheet) -> str:
    """Write what the QR code holds."""
    return f"homologue:deal:{sheet.event}:{sheet.deal}"


def read_sheet(text: str) -> CarrierSheet | None:
    """Read what a QR code holds; None where it is none of a carrier's sheet."""
    found = SAID.search(text)
    return CarrierSheet(found["event"], int(found["deal"])) if found else None
