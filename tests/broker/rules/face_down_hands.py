"""Hands laid face down, for tests: faces in, serials and the registry that knows them out."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from broker.protocol import AnyWinDetails, CountRequest, Seat
from broker.rules import FULL_SET, has_red
from broker.rules.deal import RED_SET


@dataclass(frozen=True, slots=True)
class LaidDown:
    """A hand as it lies, and what the registry says of each serial of its set."""

    groups: tuple[tuple[int, ...], ...]
    under: tuple[tuple[int, ...], ...]
    """Other tiles of the set, such as indicators."""
    faces: dict[int, str]

    def asked(self, said: AnyWinDetails, seat: Seat = "east") -> CountRequest:
        """Ask what it is worth."""
        return CountRequest(
            id="request-1", event="cup", table=1, round=1, deal=1, seat=seat, groups=self.groups, said=said
        )


def lay_down(
    concealed: Sequence[str],
    melds: Sequence[Sequence[str]],
    winning: str,
    chance: Random,
    under: Sequence[Sequence[str]] = (),
) -> LaidDown:
    """Lay a hand down, of a set whose serials lie under whichever face by chance; with red fives where the hand has."""
    tiles = RED_SET if has_red((*concealed, winning, *(tile for meld in melds for tile in meld))) else FULL_SET
    faces = dict(enumerate(chance.sample(tiles, len(tiles)), 1))
    free = {face: [serial for serial, one in faces.items() if one == face] for face in tiles}
    groups = tuple(tuple(free[face].pop() for face in group) for group in (concealed, *melds, (winning,)))
    return LaidDown(groups, tuple(tuple(free[face].pop() for face in group) for group in under), faces)
