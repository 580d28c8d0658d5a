"""A play with its tiles: where everything lies."""

from msgspec import Struct

from broker.contract.words import SEATS, Seat
from broker.rules.deal import ROWS, TRAY, Deal
from broker.rules.profile import Payments
from broker.rules.referee import turns as referee
from broker.rules.referee.actions import AT
from broker.rules.referee.hand import Hand
from broker.rules.referee.judge import Hu
from broker.rules.referee.turns import WALL, Turns


class Win(Struct, frozen=True):
    """A hu that was found good."""

    hu: Hu
    hand_value: int


class Play(Struct, frozen=True):
    """Where a play stands, all tiles face up: a player may be shown the own hand, every river and every open meld."""

    deal: Deal
    turns: Turns
    hands: tuple[Hand, ...]
    """In the order of SEATS."""
    offered: str = ""
    """The tile that others may claim now: a discard, or one added to a pung. Empty where there is none."""
    wins: tuple[Win, ...] = ()

    def hand(self, seat: Seat) -> Hand:
        """Give what lies before a seat."""
        return self.hands[AT[seat]]

    def wall(self, seat: Seat) -> tuple[str, ...]:
        """Give the tiles left in a seat's wall, the next one first."""
        return self.deal.faces[seat][TRAY - self.turns.walls[AT[seat]] :]


def begin(deal: Deal, payments: Payments) -> Play:
    """Open a play: 13 tiles and a full wall each; the dealer draws first, then discards (MIL)."""
    nearest_only = payments.several_hu.value == "nearest"
    turns = referee.begin(dict.fromkeys(SEATS, WALL), deal.dealer, one_winner=nearest_only)
    return Play(deal, turns, tuple(Hand(deal.faces[seat][: ROWS[0]]) for seat in SEATS))
