"""Artificial awards: what a play gives that could not be played (default 0, +3 or -3 IMP a player, by fault)."""

from collections.abc import Mapping

from broker.contract.words import SEATS, Fault, Seat
from broker.rules.errors import RuleError
from broker.rules.profile import Awards


def awards(faults: Mapping[Seat, Fault], profile: Awards) -> dict[Seat, int]:
    """Give each seat's IMPs for an unplayed play. Raises RuleError `fault_missing`."""
    if set(faults) != set(SEATS):
        raise RuleError("fault_missing", "an unplayed play needs to be told for all four seats whose fault it was")
    each = {"nobody": profile.nobody.value, "others": profile.others.value, "own": profile.own.value}
    return {seat: each[faults[seat]] for seat in SEATS}
