"""Simulated plays for tests."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Final

import numpy as np

from broker.protocol import SEATS, Seat
from broker.rules import Deal, RuleError, new_deal, seat_wind
from broker.rules.mcr import Hu, PlayState, apply_action, fan_judge, open_play
from broker.sim.near_plans import CLOSED, EXTRA_LACKING, OPEN, Winds
from broker.sim.outlook import IN_TIME, LIKELY, PAIR, Style
from broker.sim.plans import COLUMN, NONE, TILES_OF, Whole, all_pungs, count_columns, plans, set_of, seven_pairs
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable, SimulatedPlay
from broker.sim.view import OpenSeat, PlayerView, unseen
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
    """Yield the state before each action of a simulated play."""
    play = open_play(dealt(seed), OEDMC)
    for action in played(seed).actions:
        yield play
        play = apply_action(play, action, JUDGE)


def view_from(play: PlayState, seat: Seat) -> PlayerView:
    """Return the view of a seat from the referee's state."""
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


def plain_outlook(view: PlayerView, held: Whole, style: Style) -> tuple[float, Whole]:
    """Return a hand's outlook, and by kind without one tile of it, from a search through all plans without caches."""
    every, sets = plans(), [set_of(meld) for meld in view.melds]
    there = np.ones(every.value.size, dtype=np.bool_)
    for one in set(sets):
        there &= (every.sets == one).sum(axis=0) >= sets.count(one)
    own, of_round = view.winds
    bits = [(every.winds[there] >> wind) & 1 for wind in (own, of_round)]
    value = every.value[there] + bits[0] + bits[1] + (bits[0] if own == of_round else 0)
    counts = (CLOSED if all(meld.concealed for meld in view.melds) else OPEN)[value]
    several = [
        (every.tiles[there] - TILES_OF[sets].sum(axis=0, dtype=np.int8), counts),
        all_pungs(held.tobytes(), sets, most=99),
    ]
    several += [] if sets else [seven_pairs(held.tobytes())]
    wanted, counts = np.concatenate([one for one, _ in several]).T, np.concatenate([one for _, one in several])
    lacked = np.maximum(wanted - held[:, None], 0)
    lacks = lacked.sum(axis=0, dtype=np.int8)
    near = lacks <= lacks.min(initial=99) + EXTRA_LACKING
    wanted, lacked, left = wanted[:, near], lacked[:, near], unseen([view])[0]
    reach = IN_TIME * (view.own.wall + 0.5) / max(int(left.sum()), 1)
    chance = np.minimum(LIKELY, left * reach * np.where(held == PAIR, style.pung, 1))
    weight = np.prod(chance[:, None] ** lacked, axis=0) * counts[near] * np.where(lacks[near] <= 1, style.ready, 1)
    weight[(lacked > left[:, None]).any(axis=0)] = 0
    return weight.sum(), weight.sum() - ((wanted >= held[:, None]) @ weight) * (1 - chance)


def refusal(hu: Hu) -> str | None:
    """Return the code with which a hu is refused."""
    try:
        JUDGE(hu)
    except RuleError as error:
        return error.code
    return None


def every(seats: Sequence[Seat], strength: float) -> tuple[float, ...]:
    """Return strengths by seat: `strength` for `seats` and 0 for the others."""
    return tuple(strength if seat in seats else 0.0 for seat in SEATS)
