"""Blind double keying, what it is: two people read a sheet, neither sees the other's reading. Pure.

A reading is of a play as it stood (`after`): once a result or a ruling is there, earlier readings are spent, so that
after an undo the sheet is read anew. Of one person the last reading counts, until another's is there: from then on
only an arbiter decides between two that differ, or nobody would be blind.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from broker.contract.words import SEATS
from broker.organiser.paper.keyed import Keyed, Sheet
from broker.people.keyings import Keying
from broker.rules.errors import RuleError

Verdict = Literal["first", "agrees", "differs"]

TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of one play that count now: none, one, or two that differ."""

    kept: tuple[Keying, ...]

    @property
    def differ(self) -> bool:
        """Whether an arbiter has to settle."""
        return len(self.kept) == TWO

    def of(self, account: str) -> Keying | None:
        """Give a person's own reading."""
        return next((one for one in self.kept if one.whose == account), None)

    def judge(self, account: str, body: bytes) -> Verdict:
        """Say what a further reading is. Raises RuleError `keyings_differ`."""
        if self.differ:
            raise RuleError("keyings_differ", "two people have keyed this sheet differently: an arbiter settles it")
        others = [one for one in self.kept if one.whose != account]
        if not others:
            return "first"
        return "agrees" if others[0].body == body else "differs"


def readings(keyings: Iterable[Keying], play: tuple[int, int], after: str | None) -> Readings:
    """Give the readings of a play (table and round) on which `after` was said last."""
    here = (one for one in keyings if (one.table, one.round) == play and one.after == (after or ""))
    latest: dict[str, Keying] = {}
    for one in sorted(here, key=lambda one: one.number):
        latest.pop(one.whose, None)
        latest[one.whose] = one
    return Readings(tuple(one for one in latest.values() if one.body))


def body_of(sheet: Sheet) -> bytes:
    """Write a sheet so that two readings are equal where they say the same, points keyed or not."""
    right = sheet.decision.points
    return msgspec.json.encode(replace(sheet.keyed, points={seat: right[seat] for seat in SEATS}))


def keyed_in(body: bytes) -> Keyed:
    """Read what `body_of` wrote."""
    return msgspec.json.decode(body, type=Keyed)


def differences(one: Keyed, other: Keyed) -> Sequence[str]:
    """Name what two readings of a sheet say differently: `win`, `discarder`, or `seat what`."""
    plain = [name for name in ("win", "discarder") if getattr(one, name) != getattr(other, name)]
    of_seats = [
        f"{seat} {name}"
        for name in ("winners", "points", "fines")
        for seat in SEATS
        if getattr(one, name).get(seat) != getattr(other, name).get(seat)
    ]
    return plain + of_seats
