"""Simulated plays for tests."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Final

from broker.club.judge import judge_of
from broker.club.table import Played, Seated, play_deal
from broker.contract.words import SEATS, Seat
from broker.rules.deal import Deal, new_deal
from broker.rules.errors import RuleError
from broker.rules.referee.judge import Hu
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play, begin
from tests.broker.rules.variants import OEDMC

JUDGE: Final = judge_of(OEDMC)


def dealt(seed: int) -> Deal:
    return new_deal(seed, SEATS[seed // 4 % 4], SEATS[seed % 4], Random(f"deal {seed}"))


@cache
def played(seed: int, strengths: tuple[float, ...] = (1, 0.7, 0.3, 0)) -> Played:
    players = {
        seat: Seated(strength, Random(f"{seed} {seat}")) for seat, strength in zip(SEATS, strengths, strict=True)
    }
    return play_deal(dealt(seed), players, OEDMC, JUDGE)


def states(seed: int) -> Iterator[Play]:
    """Give a simulated play from before each action."""
    play = begin(dealt(seed), OEDMC)
    for action in played(seed).actions:
        yield play
        play = apply(play, action, JUDGE)


def refusal(hu: Hu) -> str | None:
    """Give the code with which a hu is refused."""
    try:
        JUDGE(hu)
    except RuleError as error:
        return error.code
    return None


def every(seats: Sequence[Seat], strength: float) -> tuple[float, ...]:
    """Give some seats a strength, the others none."""
    return tuple(strength if seat in seats else 0.0 for seat in SEATS)
