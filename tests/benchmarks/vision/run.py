"""One run: every contestant reads every scene of its styles, in turns, so that all have the same load."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Final

from tests.benchmarks.vision.contest import Contestant
from tests.benchmarks.vision.judging import Told, judge
from tests.benchmarks.vision.scenes import Scene

_TIMES: Final = 3
_LONG: Final = 1.0  # seconds; longer readings are timed once


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one contestant on one scene; `tiles` is the number of tiles, readable or not."""

    by: Contestant
    scene: str
    style: str
    difficulty: str
    kind: str
    width: int
    tiles: int
    counts: Counter[str]
    ms: float


def run(contestants: Sequence[Contestant], scenes: Iterable[Scene], number: int) -> list[Outcome]:
    """Let all read `number` scenes; print progress and the remaining time."""
    outcomes: list[Outcome] = []
    warm: set[str] = set()
    began = perf_counter()
    for at, scene in enumerate(scenes, start=1):
        able = [one for one in contestants if scene.style in one.styles]
        for one in able:
            if one.name not in warm:
                one.look(scene)
            warm.add(one.name)
        outcomes += [_look(one, scene) for one in able]
        left = (perf_counter() - began) / at * (number - at)
        print(f"{at} of {number}: {scene.name}; about {left:.0f} s left", file=sys.stderr, flush=True)
    return outcomes


def _look(one: Contestant, scene: Scene) -> Outcome:
    told, ms = _timed(one, scene)
    width, tiles = scene.picture.shape[1], len(scene.tiles)
    counts = judge(scene, told)
    return Outcome(one, scene.name, scene.style, scene.difficulty, scene.kind, width, tiles, counts, ms)


def _timed(one: Contestant, scene: Scene) -> tuple[Sequence[Told], float]:
    """Return the output, and the median time in milliseconds."""
    spent: list[float] = []
    while len(spent) < _TIMES and sum(spent) < _LONG:
        began = perf_counter()
        told = one.look(scene)
        spent.append(perf_counter() - began)
    return told, 1000 * median(spent)
