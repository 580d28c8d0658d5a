"""What our reader makes of the pictures of one kind, and what that allows to promise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Final

import numpy as np

from tests.benchmarks.vision.held_out.kinds import Kind, draw
from tests.benchmarks.vision.judging import Told, judge
from vision.reader import read_picture
from vision.training.fonts import Part

_SURE: Final = 2.996  # -ln 0.05: none in n tries means, 95 % sure, fewer than this by n ("rule of three")


@dataclass(frozen=True, slots=True)
class KindCount:
    """Tiles of a kind that may be read, those read, wrong serials anywhere, tiles in all, and the time a picture."""

    kind: Kind
    pictures: int
    tiles: int
    readable: int
    read: int
    wrong: int
    ms: float


def count_kind(kind: Kind, seeds: range, part: Part) -> KindCount:
    """Draw and read pictures of a kind."""
    tiles = readable = read = wrong = 0
    spent = []
    for seed in seeds:
        scene = draw(kind, seed, part)
        began = perf_counter()
        reads = read_picture(scene.picture).reads
        spent.append(1000 * (perf_counter() - began))
        counts = judge(scene, [Told(one.serial, np.mean(one.quad, axis=0)) for one in reads if one.serial is not None])
        tiles += len(scene.tiles)
        readable += counts["readable"]
        read += counts["read"]
        wrong += counts["wrong"]
    return KindCount(kind, len(seeds), tiles, readable, read, wrong, median(spent))


def rows(counts: Sequence[KindCount]) -> Iterator[str]:
    """Return rows of a table in Markdown; its head where there are none."""
    if not counts:
        yield "| kind | pictures | tiles | readable | read | not read | wrong | ms a picture |"
        yield "|---|---|---|---|---|---|---|---|"
    for one in counts:
        share = f"{100 * one.read / one.readable:.1f} %" if one.readable else "-"
        left = one.readable - one.read
        tiles = f"{one.pictures} | {one.tiles} | {one.readable} | {one.read} ({share})"
        yield f"| {one.kind.name} | {tiles} | {left} | {one.wrong} | {one.ms:.0f} |"


def promised_bound(counts: Sequence[KindCount]) -> str:
    """Return one line: all that was wrong, and at most how many in a million that allows, 95 % sure."""
    tiles, wrong = sum(one.tiles for one in counts), sum(one.wrong for one in counts)
    chosen = [one for one in counts if one.kind.promised]
    share = 100 * sum(one.read for one in chosen) / max(sum(one.readable for one in chosen), 1)
    most = at_most_in_a_million(wrong, tiles)
    return f"{wrong} wrong of {tiles} tiles: at most {most} in a million, 95 % sure; promised kinds read {share:.2f} %"


def at_most_in_a_million(wrong: int, tried: int) -> int:
    """Return how many in a million are wrong at most, 95 % sure, where `wrong` of `tried` were (Poisson)."""
    most = _SURE if wrong == 0 else _poisson_most(wrong)
    return round(min(most / max(tried, 1), 1.0) * 1_000_000)


def _poisson_most(wrong: int) -> float:
    """Return the mean at which so few or fewer come in one of twenty tries."""
    low, high = float(wrong), 4.0 * wrong + 20
    for _ in range(60):
        middle = (low + high) / 2
        terms = np.cumsum([0.0, *np.log(middle / np.arange(1, wrong + 1))])
        low, high = (middle, high) if np.exp(terms - middle).sum() > 0.05 else (low, middle)
    return high
