"""A declared hu, as it is put to who counts hands. Nothing of the referee counts fan."""

from typing import Protocol

from msgspec import Struct

from broker.contract.words import Seat, Wind
from broker.rules.referee.hand import Meld
from broker.rules.referee.turns import SituationFan


class Hu(Struct, frozen=True):
    """A hand and how it wins."""

    seat: Seat
    concealed: tuple[str, ...]
    """Without the winning tile."""
    melds: tuple[Meld, ...]
    winning_tile: str
    self_drawn: bool
    seat_wind: Wind
    prevalent_wind: Wind
    last_of_kind: bool
    """Whether everybody saw the other three of the winning tile, in rivers and melds, before it came."""
    situation_fans: tuple[SituationFan, ...]

    @property
    def last_tile(self) -> bool:
        """Whether the last tile of the wall was reached."""
        return "Last Tile Draw" in self.situation_fans or "Last Tile Claim" in self.situation_fans

    @property
    def kong(self) -> bool:
        """Whether the tile replaced one of a kong, or robbed it."""
        return "Out with Replacement Tile" in self.situation_fans or "Robbing the Kong" in self.situation_fans


class Judge(Protocol):
    """Who counts hands."""

    def __call__(self, hu: Hu, /) -> int:
        """Give the hand value. Raises RuleError where this is no win."""
