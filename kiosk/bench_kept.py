"""What staff were at while walls are restored, written down for a power cut: scans so far, rows by hand. Pure."""

from dataclasses import dataclass, replace

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
