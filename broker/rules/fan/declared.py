"""A hu that the referee puts to its judge, as the fan counter takes it."""

from functools import cache

from broker.rules.fan.catalogue import Ruleset
from broker.rules.fan.count import Count, count
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.referee import hand as table
from broker.rules.referee.judge import Hu


def count_hu(hu: Hu, ruleset: Ruleset = "green-book") -> Count:
    """Count a declared hu; no minimum is asked for. Raises RuleError with the codes of `Hand`, `Situation`, `count`."""
    return count(hand_of(hu), situation_of(hu), ruleset)


def hand_of(hu: Hu) -> Hand:
    """Give the tiles of a hu. Raises RuleError with the codes of `Hand`."""
    return Hand(hu.concealed, hu.winning_tile, tuple(meld_of(meld) for meld in hu.melds))


def situation_of(hu: Hu) -> Situation:
    """Give how a hu came about. Raises RuleError with the codes of `Situation`."""
    return Situation(
        self_drawn=hu.self_drawn,
        seat_wind=hu.seat_wind,
        prevalent_wind=hu.prevalent_wind,
        last_of_kind=hu.last_of_kind,
        last_tile=hu.last_tile,
        kong=hu.kong,
    )


@cache
def meld_of(meld: table.Meld) -> Meld:
    """Give a meld of the table's."""
    return Meld(meld.kind, meld.tiles, concealed=meld.concealed)
