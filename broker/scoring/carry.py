"""From one session to the next: the part of each total that counts there (`carry_over` of the profile)."""

from collections.abc import Iterable
from fractions import Fraction

from broker.rules.profile import Comparison
from broker.scoring.plays import Adjustment
from broker.scoring.ranking import Ranked
from broker.scoring.ties import Places


def carried(standings: Iterable[Ranked], profile: Comparison) -> tuple[Adjustment, ...]:
    """Give what everybody takes along.

    In whole IMPs, halves away from zero, but where the profile takes means of IMPs: there fractions stay as they are.
    """
    part = Fraction(profile.carry_over.percent.value, 100)
    exact = profile.imp.method.value == "cross"
    return tuple(Adjustment(one.name, one.imp * part if exact else _whole(one.imp * part)) for one in standings)


def places(standings: Iterable[Ranked]) -> Places:
    """Give the standing that may part ties in the next session."""
    return {one.name: one.place for one in standings}


def _whole(imps: Fraction) -> int:
    size = (2 * abs(imps) + 1) // 2
    return int(size) if imps > 0 else -int(size)
