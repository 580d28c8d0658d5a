"""A hand of riichi that is scored alone, as a value: what was said of its end, beside what every play has."""

from dataclasses import dataclass

from broker.contract.riichi import RiichiEvent
from broker.contract.words import Seat


@dataclass(frozen=True, slots=True)
class OneHand:
    """What a table knows of the present hand of a planned deal."""

    ending: RiichiEvent | None = None
    """What was said to break it off, while the claim window is waited for; None: nobody won."""
    asking: bool = False
    """The wall is empty, and each seat is asked whether it is tenpai."""
    tenpai: frozenset[Seat] = frozenset()
    told: RiichiEvent | None = None
    """How it ended, to be accepted by the four seats or recorded."""
