"""The referee's judge: the fan counter, with a minimum."""

from functools import cache
from typing import Final

from broker.rules.fan.catalogue import Ruleset
from broker.rules.fan.count import at_least, count
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.profile import Payments
from broker.rules.referee import hand as table
from broker.rules.referee.judge import Hu, Judge

BOOK: Final[Ruleset] = "green-book"
"""By which international events count."""


def judge_of(payments: Payments, ruleset: Ruleset = BOOK) -> Judge:
    """Give the judge of a profile: the hand value of a hu, refused under the profile's minimum.

    The judge raises RuleError with the codes of `count`, or `below_minimum`.
    """
    minimum = payments.minimum.value

    def judge(hu: Hu) -> int:
        counted = count(hand_of(hu), situation_of(hu), ruleset)
        at_least(minimum, counted)
        return counted.fan

    return judge


def hand_of(hu: Hu) -> Hand:
    """Give the tiles of a hu as the fan counter takes them. Raises RuleError with the codes of `Hand`."""
    return Hand(hu.concealed, hu.winning_tile, tuple(meld_of(meld) for meld in hu.melds))


def situation_of(hu: Hu) -> Situation:
    """Give how a hu came about, as the fan counter takes it."""
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
    """Give a meld of the table's as the fan counter takes it."""
    return Meld(meld.kind, meld.tiles, concealed=meld.concealed)
