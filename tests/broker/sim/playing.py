"""Simulated plays for tests."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Final

from broker.protocol import SEATS, Seat
from broker.rules import Deal, RuleError, new_deal, seat_wind
from broker.rules.mcr import Hu, PlayState, apply_action, fan_judge, open_play
from broker.sim.outlook import Winds
from broker.sim.plans import COLUMN, NONE, count_columns, set_of
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable, SimulatedPlay
from broker.sim.view import OpenSeat, PlayerView
from tests.broker.rules.variants import OEDMC

JUDGE: Final = fan_judge(OEDMC)


def dealt(seed: int) -> Deal:
    return new_deal(seed, SEATS[seed // 4 % 4], SEATS[seed % 4], Random(f"deal {seed}"))


@cache
def played(seed: int, strengths: tuple[float, ...] = (1, 0.7, 0.3, 0)) -> SimulatedPlay:
    players = {
        seat: SimulatedPlayer(strength, Random(f"{seed} {seat}"))
        for seat, strength in zip(SEATS, strengths, strict=True)
    }
    return DealTable(dealt(seed), OEDMC, JUDGE).play(players)


def states(seed: int) -> Iterator[PlayState]:
    """Return a simulated play from before each action."""
    play = open_play(dealt(seed), OEDMC)
    for action in played(seed).actions:
        yield play
        play = apply_action(play, action, JUDGE)


def view_from(play: PlayState, seat: Seat) -> PlayerView:
    """Return what a seat sees of a play of the referee's."""
    rivers = [tile for hand in play.hands for tile in hand.river]
    melded = [tile for hand in play.hands for meld in hand.melds if not meld.concealed for tile in meld.tiles]
    winds: Winds = SEATS.index(seat_wind(seat, play.deal.dealer)), SEATS.index(play.deal.prevalent_wind)
    return PlayerView(
        SEATS.index(seat),
        count_columns(play.hand(seat).concealed),
        play.hand(seat).melds,
        tuple(
            OpenSeat(
                wall,
                [COLUMN[tile] for tile in hand.river],
                tuple(NONE if meld.concealed else set_of(meld) for meld in hand.melds),
            )
            for wall, hand in zip(play.turns.walls, play.hands, strict=True)
        ),
        count_columns([*rivers, *melded]),
        SEATS.index(play.turns.turn),
        winds,
        COLUMN[play.offered] if play.offered else NONE,
    )


def refusal(hu: Hu) -> str | None:
    """Return the code with which a hu is refused."""
    try:
        JUDGE(hu)
    except RuleError as error:
        return error.code
    return None


def every(seats: Sequence[Seat], strength: float) -> tuple[float, ...]:
    """Return some seats a strength, the others none."""
    return tuple(strength if seat in seats else 0.0 for seat in SEATS)
