"""Hands laid face down, for tests: faces are turned into serials and the registry that knows their faces."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from broker.protocol import AnyWinDetails, CountRequest, Seat
from broker.rules import FULL_SET, has_red
from broker.rules.deal import RED_SET


@dataclass(frozen=True, slots=True)
class LaidDown:
    """A hand as serials, with the face of each serial of its set."""

    groups: tuple[tuple[int, ...], ...]
    under: tuple[tuple[int, ...], ...]
    """Other tiles of the set, such as indicators."""
    faces: dict[int, str]

    def request(self, details: AnyWinDetails, seat: Seat = "east") -> CountRequest:
        """Return the request to count the hand."""
        return CountRequest(
            id="request-1", event="cup", table=1, round=1, deal=1, seat=seat, groups=self.groups, said=details
        )


def lay_down(
    concealed: Sequence[str],
    melds: Sequence[Sequence[str]],
    winning: str,
    rng: Random,
    under: Sequence[Sequence[str]] = (),
) -> LaidDown:
    """Lay a hand down from a set with random faces, which has red fives if the hand has any."""
    tiles = RED_SET if has_red((*concealed, winning, *(tile for meld in melds for tile in meld))) else FULL_SET
    faces = dict(enumerate(rng.sample(tiles, len(tiles)), 1))
    free = {face: [serial for serial, one in faces.items() if one == face] for face in tiles}
    groups = tuple(tuple(free[face].pop() for face in group) for group in (concealed, *melds, (winning,)))
    return LaidDown(groups, tuple(tuple(free[face].pop() for face in group) for group in under), faces)
