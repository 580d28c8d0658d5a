"""Numbers that read as a serial both ways up (060 and 090): decided by what the rest of the picture shows, or left.

A bar and the odds of `vision.layout.upright` are weighed. Where both serials of such a pair are in the picture, each
vouches for the other: only one tile can be 060, so either both stand as their trays do or both are upside down.
"""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Picture
from vision.layout.upright import neighbour_odds, spot_odds
from vision.layout.values import Layout
from vision.marks.bars import bar_odds
from vision.marks.cut import cut_backs
from vision.marks.decide import Marks, stand
from vision.marks.digits_net import look_at
from vision.sight import Found, Mark

_ENOUGH = np.log(100)
_BARRED = {60, 90}  # the only pair whose numbers have a bar
_READ = np.log(1000)  # log-odds of a serial that its own mark tells: some are misread


@dataclass(frozen=True, slots=True, eq=False)
class _Claim:
    """What one tile says if it stands as it seems to lie, and the log-odds that it does."""

    serial: int
    odds: float
    strange: bool  # of another set


def decide_torn(picture: Picture, found: Found, marks: Marks, layout: Layout) -> Marks:
    """Give marks in which those that read both ways up have one serial, where the odds for it are 100 to 1."""
    settled, bars = list(marks), _bars(picture, found, marks)
    claims = {
        number: _claim(
            number, mark, marks, layout, turned=_lies_turned(number, found, layout), bar=bars.get(number, 0.0)
        )
        for number, mark in enumerate(marks)
        if mark is not None and (mark.either is not None or mark.serial is not None)
    }
    for number, mark in enumerate(marks):
        if mark is None or mark.either is None:
            continue
        odds = claims[number].odds + _vouched(number, mark.either, claims)
        if abs(odds) > _ENOUGH:
            lies_turned = _lies_turned(number, found, layout)
            settled[number] = stand(mark, turned=lies_turned if odds > 0 else not lies_turned)
    return tuple(settled)


def _bars(picture: Picture, found: Found, marks: Marks) -> dict[int, float]:
    """Give the log-odds of each 060 or 090 standing as its outline begins, by a bar."""
    numbers = [number for number, mark in enumerate(marks) if mark is not None and set(mark.either or ()) == _BARRED]
    crops = cut_backs(picture, [found.tiles[number].quad for number in numbers])
    looks = look_at(crops)
    return {number: bar_odds(crop, look.places) for number, crop, look in zip(numbers, crops, looks, strict=True)}


def _claim(number: int, mark: Mark, marks: Marks, layout: Layout, *, turned: bool, bar: float) -> _Claim:
    strange = layout.lies[number].strange
    if mark.either is None:
        return _Claim(mark.serial or 0, _READ, strange)
    trial = stand(mark, turned=turned)
    spots = spot_odds(number, (*marks[:number], trial, *marks[number + 1 :]))
    odds = neighbour_odds(number, layout, marks) + spots + (-bar if turned else bar)
    return _Claim(trial.serial or 0, odds, strange)


def _lies_turned(number: int, found: Found, layout: Layout) -> bool:
    """Tell whether a tile seems to lie upside down in the outline that the finder gave."""
    return bool((layout.lies[number].quad[0] != found.tiles[number].quad[0]).any())


def _vouched(number: int, pair: tuple[int, int], claims: dict[int, _Claim]) -> float:
    """Give what other tiles that say one of the same pair add to a claim: it cannot be the same one."""
    mine = claims[number]
    others = [one for at, one in claims.items() if at != number and one.serial in pair and one.strange == mine.strange]
    return sum(one.odds if one.serial != mine.serial else -one.odds for one in others)
