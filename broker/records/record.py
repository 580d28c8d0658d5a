"""One play on record, as PMN tells it."""

from collections.abc import Mapping

from msgspec import Struct, field

from broker.contract.words import SEATS, Seat, Wind
from broker.records.fans import Fan, hand_value
from broker.records.steps import Step

Tiles = Mapping[Seat, tuple[str, ...]]


class Record(Struct, frozen=True):
    """A play. Seats are those of PMN: named by their seat wind, so that `east` is the dealer.

    What is None is not told: deals under embargo have no hands, an event's plays no steps.
    """

    board: int
    """Number of the deal."""
    prevalent_wind: Wind
    points: Mapping[Seat, int]
    hands: Tiles | None = None
    """13 tiles each, sorted: in which order a hand lay means nothing."""
    walls: Tiles | None = None
    """21 tiles each, in the order of drawing."""
    steps: tuple[Step, ...] | None = None
    fans: Mapping[Seat, tuple[Fan, ...]] = field(default_factory=dict)
    """Of the winners."""
    fines: Mapping[Seat, int] = field(default_factory=dict)
    """IMPs taken off for a false hu."""
    event: str = "?"
    site: str = "?"
    date: str = "?"
    """YYYY.MM.DD; unknown parts are question marks."""
    players: Mapping[Seat, str] = field(default_factory=lambda: dict.fromkeys(SEATS, "?"))
    dealer: Seat | None = None
    """The chair at which `east` sat; those of the others follow in turn order."""
    table: int | None = None
    round: int | None = None
    profile: str | None = None

    @property
    def winners(self) -> dict[Seat, int]:
        """Hand values of those who won."""
        return {seat: hand_value(self.fans[seat]) for seat in SEATS if self.fans.get(seat)}
