"""What a label's DataMatrix says: a set and a serial, or nothing of ours."""

import re
from dataclasses import dataclass

LAST_SERIAL = 136
LAST_SET = 99

# 14, 12 and 10 modules: `HM1-08-117`, `HM08117`, `08117`. ASCII digits only: `\d` would let others in.
_FORMATS = (
    re.compile(r"HM1-(?P<set>[0-9]{2})-(?P<tile>[0-9]{3})"),
    re.compile(r"HM(?P<set>[0-9]{2})(?P<tile>[0-9]{3})"),
    re.compile(r"(?P<set>[0-9]{2})(?P<tile>[0-9]{3})"),
)


@dataclass(frozen=True, slots=True, order=True)
class Payload:
    """One tile's identity: the set's number 0..99 and the tile's serial 1..136."""

    set: int
    serial: int

    @property
    def set_text(self) -> str:
        """The set as labels print it: two digits."""
        return f"{self.set:02d}"


def parse_payload(text: str) -> Payload | None:
    """Return what the text of a DataMatrix names; None if it is not a label of ours."""
    for form in _FORMATS:
        if match := form.fullmatch(text):
            serial = int(match["tile"])
            return Payload(int(match["set"]), serial) if 1 <= serial <= LAST_SERIAL else None
    return None


def payload_text(payload: Payload) -> str:
    """Return the text of a label of 14 modules: the longest format, the safest against chance."""
    return f"HM1-{payload.set:02d}-{payload.serial:03d}"


def module_count(text: str) -> int:
    """Return how many modules wide the label with this text is: the smallest that holds it."""
    return {10: 14, 7: 12}.get(len(text), 10)
