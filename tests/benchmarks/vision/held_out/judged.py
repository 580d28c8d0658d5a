"""Count how our reader reads the pictures of one kind, and derive the error rate that can be promised."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Final

import numpy as np

from tests.benchmarks.vision.held_out.enrolled import DrawnSet
from tests.benchmarks.vision.held_out.kinds import Kind, draw
from tests.benchmarks.vision.judging import Told, judge
from tests.benchmarks.vision.scenes import Scene
from vision.enrolled.check import agreed_mark
from vision.enrolled.enrolment import TRAYS, enrol_tray
from vision.enrolled.file import EnrolledSet
from vision.errors import EnrolError
from vision.geometry import Picture
from vision.marks.digits import cut_backs
from vision.marks.label import NO_MARK
from vision.reader import read_picture
from vision.reading import LAST_SERIAL
from vision.training.fonts import Part

_SURE: Final = 2.996  # -ln 0.05: with no errors in n tries, the rate is 95 % surely below this / n ("rule of three")


@dataclass(frozen=True, slots=True)
class KindCount:
    """Counts for a kind: readable tiles, those read, wrong serials, all tiles, and the time per picture."""

    kind: Kind
    pictures: int
    tiles: int
    readable: int
    read: int
    wrong: int
    ms: float


def count_kind(kind: Kind, seeds: range, part: Part) -> KindCount:
    """Draw and read pictures of a kind."""
    return _count(kind, [draw(kind, seed, part) for seed in seeds], None)


def _count(kind: Kind, scenes: Sequence[Scene], enrolled: EnrolledSet | None) -> KindCount:
    """Read pictures of a kind."""
    tiles = readable = read = wrong = 0
    spent = []
    for scene in scenes:
        began = perf_counter()
        reads = read_picture(scene.picture, enrolled=enrolled).reads
        spent.append(1000 * (perf_counter() - began))
        counts = judge(scene, [Told(one.serial, np.mean(one.quad, axis=0)) for one in reads if one.serial is not None])
        tiles += len(scene.tiles)
        readable += counts["readable"]
        read += counts["read"]
        wrong += counts["wrong"]
    return KindCount(kind, len(scenes), tiles, readable, read, wrong, median(spent))


@dataclass(frozen=True, slots=True)
class EnrolledCount:
    """A kind before and after its sets are enrolled, and how often "is this tile n?" was wrongly confirmed.

    Sets whose enrolment is refused are read unenrolled.
    """

    refused: int
    before: KindCount
    after: KindCount
    asked: int
    agreed: int


def count_enrolled(kind: Kind, seeds: range, part: Part, played: int = 2) -> EnrolledCount:
    """Draw a set for each seed, enrol it from four pictures, and read pictures of it unenrolled and enrolled.

    Each tile is also checked against serials that it does not have: those with the most similar pictures, some at
    random, and those that the previous set's tiles seem to have.
    """
    sums, asked, agreed = [], 0, 0
    stranger: tuple[Picture, list[int]] | None = None
    for seed in seeds:
        drawn = DrawnSet(kind, seed, part)
        enrolled = enrol(drawn)
        scenes = [drawn.played(number) for number in range(played)]
        alone = _count(kind, scenes, None)
        if enrolled is None:
            sums.append((alone, alone))
            continue
        sums.append((alone, _count(kind, scenes, enrolled)))
        for scene in scenes:
            backs, serials = _own_backs(scene), [tile.serial for tile in scene.tiles]
            answers = [_false_claims(enrolled, backs, serials, seed)]
            answers += [_false_claims(enrolled, *stranger, seed)] if stranger else []
            asked, agreed = asked + sum(one[0] for one in answers), agreed + sum(one[1] for one in answers)
        stranger = backs, serials
    before, after = (_sum(kind, [pair[at] for pair in sums]) for at in (0, 1))
    return EnrolledCount(sum(one is other for one, other in sums), before, after, asked, agreed)


def enrol(drawn: DrawnSet) -> EnrolledSet | None:
    """Enrol a drawn set as the command does, without repeating doubtful tiles.

    Return None if it is refused as too pale or misread.
    """
    enrolled = EnrolledSet(8, None, {})
    try:
        for tray in range(1, TRAYS + 1):
            enrolled, _ = enrol_tray(enrolled, drawn.enrolment(tray - 1).picture, tray)
    except EnrolError:
        return None
    return enrolled


def _own_backs(scene: Scene) -> Picture:
    return cut_backs(scene.picture, [tile.quad for tile in scene.tiles])


def _false_claims(enrolled: EnrolledSet, backs: Picture, serials: Sequence[int], seed: int) -> tuple[int, int]:
    """Check each back against serials that it does not have; return how many were tried, and how many confirmed."""
    chance = np.random.default_rng(seed)
    pairs: list[tuple[int, int]] = []
    for at, own in enumerate(enrolled.pictures.match(backs)):
        likest = {own.serial, *(rival.serial for rival in own.rivals)}
        likest |= {int(one) for one in chance.integers(1, LAST_SERIAL + 1, 4)}
        pairs += [(at, claim) for claim in likest if claim != serials[at]]
    seen = enrolled.pictures.match(backs[[at for at, _ in pairs]], [claim for _, claim in pairs])
    claimed = [replace(NO_MARK, serial=claim, confidence=1.0) for _, claim in pairs]
    told = [agreed_mark(mark, own, None) for mark, own in zip(claimed, seen, strict=True)]
    return len(pairs), sum(mark.serial is not None for mark in told)


def _sum(kind: Kind, counts: Sequence[KindCount]) -> KindCount:
    return KindCount(
        kind,
        sum(one.pictures for one in counts),
        sum(one.tiles for one in counts),
        sum(one.readable for one in counts),
        sum(one.read for one in counts),
        sum(one.wrong for one in counts),
        median(one.ms for one in counts),
    )


def enrolled_rows(counts: Sequence[EnrolledCount]) -> Iterator[str]:
    """Return rows of a table in Markdown, or its head if there is nothing to show."""
    if not counts:
        head = (
            "sets refused | read before | wrong | read enrolled | wrong | false claims | agreed to | ms before, after"
        )
        yield f"| kind | tiles | readable | {head} |"
        yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for one in counts:
        before, after = one.before, one.after
        shares = [f"{100 * count.read / max(count.readable, 1):.1f} % | {count.wrong}" for count in (before, after)]
        told = (
            f"{after.tiles} | {after.readable} | {one.refused} | {shares[0]} | {shares[1]} | {one.asked} | {one.agreed}"
        )
        yield f"| {before.kind.name} | {told} | {before.ms:.0f}, {after.ms:.0f} |"


def rows(counts: Sequence[KindCount]) -> Iterator[str]:
    """Return rows of a table in Markdown, or its head if there is nothing to show."""
    if not counts:
        yield "| kind | pictures | tiles | readable | read | not read | wrong | ms a picture |"
        yield "|---|---|---|---|---|---|---|---|"
    for one in counts:
        share = f"{100 * one.read / one.readable:.1f} %" if one.readable else "-"
        left = one.readable - one.read
        tiles = f"{one.pictures} | {one.tiles} | {one.readable} | {one.read} ({share})"
        yield f"| {one.kind.name} | {tiles} | {left} | {one.wrong} | {one.ms:.0f} |"


def promised_bound(counts: Sequence[KindCount]) -> str:
    """Return one line: all errors, and the most per million that they allow with 95 % certainty."""
    tiles, wrong = sum(one.tiles for one in counts), sum(one.wrong for one in counts)
    chosen = [one for one in counts if one.kind.promised]
    share = 100 * sum(one.read for one in chosen) / max(sum(one.readable for one in chosen), 1)
    most = at_most_in_a_million(wrong, tiles)
    return f"{wrong} wrong of {tiles} tiles: at most {most} in a million, 95 % sure; promised kinds read {share:.2f} %"


def at_most_in_a_million(wrong: int, tried: int) -> int:
    """Return the most errors per million, with 95 % certainty, if `wrong` of `tried` were wrong (Poisson)."""
    most = _SURE if wrong == 0 else _poisson_most(wrong)
    return round(min(most / max(tried, 1), 1.0) * 1_000_000)


def _poisson_most(wrong: int) -> float:
    """Return the mean at which so few or fewer occur in one of twenty tries."""
    low, high = float(wrong), 4.0 * wrong + 20
    for _ in range(60):
        middle = (low + high) / 2
        terms = np.cumsum([0.0, *np.log(middle / np.arange(1, wrong + 1))])
        low, high = (middle, high) if np.exp(terms - middle).sum() > 0.05 else (low, middle)
    return high
