"""How much of what was scored came with the deal: plain numbers for the demo's closing words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, pstdev

from broker.contract.words import SEATS
from broker.demo.audit import Fact


def told(results: Iterable[Fact], imps: Mapping[tuple[int, int, str], int]) -> Iterator[str]:
    """Give the spread of points, of points against the same seat elsewhere, and of IMPs; nothing without results."""
    of_seat: dict[tuple[int, str], list[int]] = {}
    for result in results:
        for seat in SEATS:
            of_seat.setdefault((result["deal"], seat), []).append(result["points"][seat])
    if not of_seat:
        return
    points = [value for scored in of_seat.values() for value in scored]
    compared = [value - fmean(scored) for scored in of_seat.values() for value in scored]
    means = [fmean(scored) for scored in of_seat.values()]
    yield f"Luck of the deal: a seat was worth from {min(means):+.0f} to {max(means):+.0f} points on average."
    yield f"  {_range('points as scored', points)}"
    yield f"  {_range('points against the same seat at the other tables', compared)}"
    yield f"  {_range('IMP', [*imps.values()])}"


def _range(name: str, values: Sequence[float]) -> str:
    return f"{name}: from {min(values):+.0f} to {max(values):+.0f}, spread {pstdev(values):.1f}"
