"""The shipped rules, and variants of their settings."""

from typing import Final, Literal

from msgspec.structs import replace

from broker.protocol import SEATS, Seat
from broker.rules import McrPaymentRules, Setting, load_mcr

OEDMC: Final = load_mcr("oedmc-2020").payments

FOR_TEST: Final = "assumption: changed for a test"


def payments(
    *,
    self_drawn: Literal["third_rounded_up", "full"] = "third_rounded_up",
    several_hu: Literal["base_once", "base_each", "nearest"] = "base_once",
) -> McrPaymentRules:
    """Return OEDMC's payments with other settings."""
    return replace(OEDMC, self_drawn=Setting(self_drawn, FOR_TEST), several_hu=Setting(several_hu, FOR_TEST))


ZERO_SUM: Final = load_mcr("zero-sum").payments
"""Payments under which winners also pay each other."""

MCR: Final = load_mcr("mcr").payments
"""Payments under which only one player wins and each loser pays a self-drawn win in full."""


def seats(east: int, south: int, west: int, north: int) -> dict[Seat, int]:
    """Return four numbers by seat, in turn order."""
    return dict(zip(SEATS, (east, south, west, north), strict=True))
