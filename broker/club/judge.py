"""The referee's judge: the fan counter, with a minimum."""

from typing import Final

from broker.rules.fan.catalogue import Ruleset
from broker.rules.fan.count import at_least
from broker.rules.fan.declared import count_hu
from broker.rules.profile import Payments
from broker.rules.referee.judge import Hu, Judge

BOOK: Final[Ruleset] = "green-book"
"""By which international events count."""


def judge_of(payments: Payments, ruleset: Ruleset = BOOK) -> Judge:
    """Give the judge of a profile: the hand value of a hu, refused under the profile's minimum.

    The judge raises RuleError with the codes of `count_hu`, or `below_minimum`.
    """
    minimum = payments.minimum.value

    def judge(hu: Hu) -> int:
        counted = count_hu(hu, ruleset)
        at_least(minimum, counted)
        return counted.fan

    return judge
