"""The small event under riichi rules, and the hands that its tables report."""

from functools import cache
from typing import Final

import msgspec

from broker.event import Event, Plan
from broker.protocol import LogMessage, Result, RiichiEvent, RiichiWin
from broker.rules import load_riichi, score_riichi
from tests.broker.scorer.small import deals, five, plan, registry
from tests.broker.scorer.small import event as mcr

RULES: Final = load_riichi("riichi-montreal")

FU30: Final = RiichiWin(han=3, fu=30)

HANDS: Final = (
    RiichiEvent(kind="ron", wins={"south": FU30}, loser="west"),
    RiichiEvent(kind="tsumo", wins={"west": RiichiWin(han=3, fu=50)}),
    RiichiEvent(kind="draw", tenpai=("east",)),
    RiichiEvent(kind="ron", wins={"east": FU30, "north": RiichiWin(yakuman=1)}, loser="south"),
    RiichiEvent(kind="abort", reason="four_kans"),
)


def riichi_plan() -> Plan:
    """Return the movement for sixteen, played under riichi rules."""
    return msgspec.structs.replace(plan(), profile="riichi-montreal")


@cache
def riichi_event() -> Event:
    """Return the checked event."""
    return Event(riichi_plan(), deals(), registry())


def ended(table: int, round_: int, hand: RiichiEvent) -> Result:
    """Return the result of a planned play."""
    booking = mcr().bookings[table, round_]
    outcome, points = score_riichi(hand, riichi_event().winds(booking.deal)[1], RULES)
    return Result(
        round=round_,
        deal=booking.deal,
        profile="riichi-montreal",
        players=dict(booking.players),
        win=outcome.win,
        winners=dict(outcome.winners),
        discarder=outcome.discarder,
        points=points,
        fines={},
        hand=hand,
    )


def whole_riichi_event() -> list[LogMessage]:
    """Return everything that the tables report."""
    return [
        message
        for table in riichi_event().tables
        for round_ in range(1, 5)
        for message in five(table, ended(table, round_, HANDS[(table + round_) % len(HANDS)]))
    ]
