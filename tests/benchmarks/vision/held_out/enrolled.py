"""Enrolled sets: 136 backs with one appearance, photographed tray by tray in order, and later in play."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from tests.benchmarks.vision.held_out.backs import TILE_MM, Back, Chance, Look, serials_for, worn_since
from tests.benchmarks.vision.held_out.kinds import KINDS, ROWS, Kind, back_of, look_of, scene_of, truth_of
from tests.benchmarks.vision.held_out.table import GROUNDS, Camera, Shot, Standing, ground, picture_of
from tests.benchmarks.vision.scenes import Scene
from vision.training.fonts import Part

ENROLLED: Final = (
    "padded",
    "padded, hard",
    "unpadded",
    "number and logo",
    "pale",
    "worn a little",
    "worn",
    "worn away",
    "odd fonts",
    "handwriting",
    "handwriting, unpadded",
    "night",
    "motion",
    "640 x 480",
    "labels, inverted",
)
"""Kinds of `KINDS` that are also read as enrolled sets."""

_SINCE: Final = 0.03  # share of a back's ink that is worn off between enrolment and play


@dataclass(frozen=True, eq=False)
class DrawnSet:
    """A set of a kind: one appearance, and 136 backs that stay the same."""

    kind: Kind
    seed: int
    part: Part = "test"

    @cached_property
    def look(self) -> Look:
        """The common appearance of its marks."""
        return look_of(self.kind, self._chance("look"), self.part)

    def back(self, serial: int, surface: Chance) -> tuple[Back, str]:
        """Return a tile's back, and its text: the ink is the same each time, clouds and scratches differ."""
        return back_of(self.kind, serial, self.look, self._chance("back", serial), surface)

    def enrolment(self, tray: int) -> Scene:
        """Return the picture of tray 0 to 3 for enrolment: in order, with the camera almost straight above."""
        chance = self._chance("enrolment", tray)
        shot = Shot(tilt=float(chance.uniform(0, 12)), turn=float(chance.normal(0, 2)), blur=0.5)
        serials = list(range(tray * sum(ROWS) + 1, (tray + 1) * sum(ROWS) + 1))
        return self._scene(serials, shot, chance, f"enrolment {tray}", since=0.0)

    def played(self, number: int) -> Scene:
        """Return a picture of 34 tiles of the set on another table, with another camera, slightly more worn."""
        chance = self._chance("played", number)
        shot = Shot(
            tilt=float(chance.uniform(0, 22)), turn=float(chance.normal(0, 4)), blur=float(chance.uniform(0.3, 0.9))
        )
        return self._scene(
            list(serials_for(sum(ROWS), chance)), self.kind.shot(shot, chance), chance, f"played {number}", since=_SINCE
        )

    def _scene(self, serials: list[int], shot: Shot, chance: Chance, name: str, *, since: float) -> Scene:
        camera = Camera.over(shot, 400.0)
        pitch = np.array([TILE_MM[0] + chance.uniform(0.3, 1.5), TILE_MM[1] + chance.uniform(2, 7)])
        spots = [np.array([col - 6.0, row - 1.0]) * pitch for row, count in enumerate(ROWS) for col in range(count)]
        tiles, texts = [], []
        for serial, spot in zip(serials, spots, strict=True):
            back, text = self.back(serial, chance)
            lying = replace(back, art=worn_since(back, self.look, since, chance)) if since else back
            tiles.append(Standing(spot + chance.normal(0, 0.25, 2), float(chance.normal(0, 0.8)), lying))
            texts.append(text)
        floor = ground(GROUNDS[chance.integers(len(GROUNDS))], chance)
        picture = picture_of(camera, floor, [], tiles, chance)
        truth = tuple(truth_of(camera, tile, text, self.kind.style) for tile, text in zip(tiles, texts, strict=True))
        return scene_of(self.kind, f"{self.kind.name} {self.seed} {name}", picture, truth)

    def _chance(self, what: str, number: int = 0) -> Chance:
        return np.random.default_rng([*self.kind.name.encode(), self.seed, len(self.part), *what.encode(), number])


def enrolled_kinds() -> list[Kind]:
    """Return the kinds that are also read as enrolled sets."""
    return [KINDS[name] for name in ENROLLED]
