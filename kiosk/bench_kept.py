"""What staff were at while walls are restored, written down for a power cut: scans so far, rows by hand."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from broker.contract.plans import PlannedPlay
from kiosk.bench import Bench, Showing
from kiosk.table.restoring.heap import Heap
from kiosk.table.restoring.scans import Scans


@dataclass(frozen=True, slots=True)
class Kept:
    """Of which play, and what: the camera sees the rest again."""

    round: int
    deal: int
    showing: Showing
    scans: Scans


def kept(bench: Bench, play: PlannedPlay | None) -> str:
    """Write it down; "" where there is nothing that staff would have to do again."""
    if play is None or (bench.showing == "camera" and bench.scans == Scans()):
        return ""
    return msgspec.json.encode(Kept(play.round, play.deal, bench.showing, bench.scans)).decode()


def reopened(text: str, play: PlannedPlay | None) -> Bench:
    """Give the bench of before a power cut, where it is of this play; else an empty one."""
    try:
        left = msgspec.json.decode(text or "null", type=Kept | None)
    except (msgspec.DecodeError, UnicodeError):
        left = None
    if left is None or play is None or (left.round, left.deal) != (play.round, play.deal):
        return Bench()
    return replace(Bench(), showing=left.showing, scans=left.scans, heap=Heap(seen=left.scans.seen))


class Drafts(Protocol):
    """Where it is written."""

    bench: str

    def beside(self, **drafts: str) -> AbstractContextManager[None]:
        """Write these with the event that is recorded meanwhile, as one."""


class KeptBench:
    """Writes down how the bench stands, where that has changed: with an event, or alone."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts, self._written = drafts, drafts.bench

    def reopened(self, play: PlannedPlay | None) -> Bench:
        """Give the bench of before."""
        return reopened(self._written, play)

    def beside(self, bench: Bench, play: PlannedPlay | None) -> AbstractContextManager[None]:
        """Write it with the event that is recorded meanwhile."""
        text = kept(bench, play)
        return nullcontext() if text == self._written else self._drafts.beside(bench=text)

    def follow(self, bench: Bench, play: PlannedPlay | None) -> None:
        """Write it where no event has."""
        text = kept(bench, play)
        if text == self._written:
            return
        self._written = text
        if self._drafts.bench != text:
            self._drafts.bench = text
