"""Where a session stands between two hands."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from broker.rules.errors import RuleError

Player = int
"""0 to 3 in turn order; player 0 deals the first hand."""

PLAYERS: Final = range(4)

RoundWind = Literal["E", "S", "W", "N"]

ROUNDS: Final[tuple[RoundWind, ...]] = get_args(RoundWind)

Points = tuple[int, int, int, int]

NOTHING: Final[Points] = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class State:
    """Round, dealer, counters (honba), deposits (sticks of 1000 on the table), the four scores."""

    round_wind: RoundWind
    dealer: Player
    counters: int
    deposits: int
    scores: Points
    over: bool = False

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such state."""
        known(self.dealer)
        if self.counters < 0:
            raise RuleError("negative_counters", f"{self.counters} counters")
        if self.deposits < 0:
            raise RuleError("negative_deposits", f"{self.deposits} deposits")

    @property
    def round(self) -> int:
        """Rounds played before this one."""
        return ROUNDS.index(self.round_wind)


def known(player: Player) -> Player:
    """Give a player back. Raises RuleError `no_such_player`."""
    if player not in PLAYERS:
        raise RuleError("no_such_player", f"player {player}: there are 0, 1, 2 and 3, in turn order")
    return player


def distance(player: Player, other: Player) -> int:
    """Count the turns from one player to another, 0 to 3."""
    return (other - player) % len(PLAYERS)


def added(*parts: Points) -> Points:
    """Add points player by player."""
    east, south, west, north = (sum(of_player) for of_player in zip(*parts, strict=True))
    return east, south, west, north


def paid(amounts: dict[Player, int], receiver: Player) -> Points:
    """Give who wins and loses what where players pay one of them; what the receiver would pay is not paid."""
    owed = [0 if player == receiver else amounts.get(player, 0) for player in PLAYERS]
    east, south, west, north = (sum(owed) if player == receiver else -owed[player] for player in PLAYERS)
    return east, south, west, north
