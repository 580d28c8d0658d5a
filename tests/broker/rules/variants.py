"""The shipped rules, and what their settings can be turned to."""

from typing import Final, Literal

from msgspec.structs import replace

from broker.protocol import SEATS, Seat
from broker.rules import McrPaymentRules, Setting, load_mcr

OEDMC: Final = load_mcr("oedmc-2020").payments

TURNED: Final = "assumption: turned for a test"


def payments(
    *,
    self_drawn: Literal["third_rounded_up", "full"] = "third_rounded_up",
    several_hu: Literal["base_once", "base_each", "nearest"] = "base_once",
) -> McrPaymentRules:
    """Return OEDMC's payments with settings turned."""
    return replace(OEDMC, self_drawn=Setting(self_drawn, TURNED), several_hu=Setting(several_hu, TURNED))


ZERO_SUM: Final = load_mcr("zero-sum").payments
"""Winners also pay each other."""

MCR: Final = load_mcr("mcr").payments
"""One winner, and a self-drawn win is paid in full by each."""


def seats(east: int, south: int, west: int, north: int) -> dict[Seat, int]:
    """Return four numbers by seat, in turn order."""
    return dict(zip(SEATS, (east, south, west, north), strict=True))
