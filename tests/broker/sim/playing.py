"""Simulated plays for tests."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Final

from broker.protocol import SEATS, Seat
from broker.rules import Deal, RuleError, new_deal
from broker.rules.mcr import Hu, PlayState, apply_action, fan_judge, open_play
from broker.sim.play import SimulatedPlay, SimulatedPlayer, play_deal
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
    return play_deal(dealt(seed), players, OEDMC, JUDGE)


def states(seed: int) -> Iterator[PlayState]:
    """Return a simulated play from before each action."""
    play = open_play(dealt(seed), OEDMC)
    for action in played(seed).actions:
        yield play
        play = apply_action(play, action, JUDGE)


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
