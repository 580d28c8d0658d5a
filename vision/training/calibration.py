"""How far a confidence can be trusted: what was told, how sure it was, and what is true."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

NONE: Final = 0  # no serial: none was told, or none is there
DOUBTS: Final = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)
_Z: Final = 1.96  # standard deviations about the mean that hold 95 %


@dataclass(frozen=True, slots=True, eq=False)
class Reads:
    """Looks at marks, each array of shape (n,): the serial that is told, how surely (0..1), and the one that is there.

    `counted` tells whose serials should be read; traps must only not be.
    """

    told: NDArray[np.int64]
    confidence: NDArray[np.float64]
    true: NDArray[np.int64]
    counted: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Iterable[tuple[int | None, float, int, bool]]) -> "Reads":
        """Make it from rows of told, confidence, true, counted."""
        told, confidence, true, counted = zip(*rows, strict=True)
        return cls(
            np.array([NONE if one is None else one for one in told], dtype=np.int64),
            np.array(confidence, dtype=np.float64),
            np.array(true, dtype=np.int64),
            np.array(counted, dtype=np.bool_),
        )

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Where the serial that is told is not there."""
        return np.asarray((self.told != NONE) & (self.told != self.true))

    @property
    def doubt(self) -> NDArray[np.float64]:
        """What is missing to certainty."""
        return 1 - self.confidence


@dataclass(frozen=True, slots=True)
class Cut:
    """What a threshold makes of reads: marks to be read, those read, wrong serials, all looks."""

    threshold: float
    counted: int
    read: int
    wrong: int
    looks: int


@dataclass(frozen=True, slots=True)
class Bin:
    """Serials told with about one doubt: how many, how many wrong, and between what the share wrong lies (95 %)."""

    doubt: float  # their mean
    told: int
    wrong: int
    least: float
    most: float


def cut(reads: Reads, threshold: float) -> Cut:
    """Count what is told from a threshold on."""
    sure = (reads.told != NONE) & (reads.confidence >= threshold)
    read = sure & reads.counted & ~reads.wrong
    return Cut(threshold, int(reads.counted.sum()), int(read.sum()), int((sure & reads.wrong).sum()), len(reads.told))


def lowest_safe(reads: Reads) -> float | None:
    """Give the lowest threshold at which no wrong serial was told."""
    return next((1 - doubt for doubt in DOUBTS if not cut(reads, 1 - doubt).wrong), None)


def bins(reads: Reads) -> Iterator[Bin]:
    """Part the serials told by their doubt, ever more finely towards certainty; bins that hold none are left out."""
    for most, least in zip((1.0, *DOUBTS), (*DOUBTS, -1.0), strict=True):
        inside = (reads.told != NONE) & (reads.doubt <= most) & (reads.doubt > least)
        if told := int(inside.sum()):
            wrong = int(reads.wrong[inside].sum())
            mean = max(float(reads.doubt[inside].mean()), DOUBTS[-1] / 10)
            yield Bin(mean, told, wrong, *_between(wrong, told))


def _between(wrong: int, told: int) -> tuple[float, float]:
    """Give Wilson's interval for a share (Wilson 1927, doi:10.1080/01621459.1927.10502953)."""
    share = wrong / told
    middle = (share + _Z**2 / (2 * told)) / (1 + _Z**2 / told)
    half = _Z / (1 + _Z**2 / told) * float(np.sqrt(share * (1 - share) / told + _Z**2 / (4 * told**2)))
    return max(0.0, middle - half) if wrong else 0.0, min(1.0, middle + half)
