"""Results as tables for people."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import Final

from tests.benchmarks.vision.run import Outcome

_HEAD: Final = (
    f"{'':32} {'pictures':>8} {'readable':>8} {'read':>7} {'wrong':>12} {'ms a tile':>9} {'ms a picture':>12}  ours is"
)
_DIFFICULTIES: Final = ("easy", "medium", "hard")


def tables(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Return a table for whole pictures and one for crops: first all of each style, then by difficulty."""
    for title, on_crops in (("Whole pictures", False), ("Marks alone, by the tiles' true corners", True)):
        chosen = [one for one in outcomes if one.by.on_crops == on_crops]
        yield f"\n{title}\n{_HEAD}"
        for style in sorted({one.style for one in chosen}):
            of_style = [one for one in chosen if one.style == style]
            yield from _block(style, of_style)
            for difficulty in _DIFFICULTIES:
                yield from _block(f"{style}, {difficulty}", [one for one in of_style if one.difficulty == difficulty])


def _block(title: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    if not outcomes:
        return
    yield f"  {title}"
    by_name = _by_name(outcomes)
    ours = next(rows for rows in by_name.values() if rows[0].by.ours)
    for name, rows in by_name.items():
        yield _row(name, rows, _ratio(rows, ours) if rows is not ours else "")


def _by_name(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Return the results of each contestant, in order of first appearance."""
    names = list(dict.fromkeys(one.by.name for one in outcomes))
    parted = groupby(sorted(outcomes, key=lambda one: names.index(one.by.name)), key=lambda one: one.by.name)
    return {name: list(rows) for name, rows in parted}


def _row(name: str, rows: Sequence[Outcome], ratio: str) -> str:
    counts = sum((one.counts for one in rows), Counter[str]())
    readable, wrong, ms = counts["readable"], counts["wrong"], sum(one.ms for one in rows)
    cells = (
        f"    {name:28} {len(rows):8} {readable:8} {_share(counts['read'], readable):>7}",
        f"{wrong:4} {_share(wrong, readable):>7}",
        f"{ms / max(sum(one.tiles for one in rows), 1):9.2f} {median(one.ms for one in rows):12.1f}  {ratio}",
    )
    return " ".join(cells).rstrip()


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"


def _ratio(rows: Sequence[Outcome], ours: Sequence[Outcome]) -> str:
    """Return the ratio of a contestant's time to ours, over the same pictures."""
    return f"{sum(one.ms for one in rows) / sum(one.ms for one in ours):.2g} times as fast"


def times_by_kind(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Return the time for whole pictures of trays, carriers, heaps and single tiles, by picture width."""
    whole = [one for one in outcomes if not one.by.on_crops]
    ours = {one.scene: one.ms for one in whole if one.by.ours}
    yield "\nWhole pictures, by scene: median ms; how many times as long as ours on the same pictures, median"
    for kind, width in sorted({(one.kind, one.width) for one in whole}):
        yield f"  {kind}, {width} wide"
        for name, rows in _by_name([one for one in whole if (one.kind, one.width) == (kind, width)]).items():
            longer = median(one.ms / ours[one.scene] for one in rows)
            yield f"    {name:28} {len(rows):8} pictures {median(one.ms for one in rows):10.1f} ms {longer:8.2g}"
