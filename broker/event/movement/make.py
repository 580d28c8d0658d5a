"""Generating a movement for an order.

The search begins with the best known start for the size. For 16 players in 5 rounds with `MovementOrder.copies` = 4 (or
four deals a round) the start is perfect, and there is no search.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from broker.event.movement.algebra import (
    SeatedRound,
    affine,
    is_perfect,
    mix_players,
    seat_teams,
    shuffle,
    transversal,
)
from broker.event.movement.plays import (
    SEATED,
    MovementOrder,
    NumberedPlay,
    RandomSource,
    TableRound,
    numbered_plays,
    round_blocks,
    sittings_of,
)
from broker.event.movement.search import (
    COMPARISON_COST,
    MEETING_COST,
    REPEAT_POWER,
    SEAT_COST,
    KeepSearching,
    SearchFrame,
    Seating,
    least_cost,
    search,
)
from broker.i18n import N_
from broker.rules import RuleError


def make_movement(
    order: MovementOrder, chance: RandomSource, go_on: KeepSearching, *, in_teams: bool = False
) -> tuple[NumberedPlay, ...]:
    """Return a movement that breaks no rule, as good as the time allows (`go_on`). Players are numbered from 1.

    With `in_teams`, players 1 to 4 are the first team, 5 to 8 the second, and so on. The same random source and the
    same number of true results of `go_on` give the same movement. Raises RuleError `teams_do_not_fit`.
    """
    seated = _team_start(order, chance) if in_teams else affine(order, sittings_of(order)) or _by_blocks(order, chance)
    frame, occupants = _frame_of_start(order, seated, in_teams=in_teams)
    best = (
        occupants
        if is_perfect(order) and not in_teams
        else search(frame, occupants, chance, go_on, enough=least_possible_cost(frame, occupants))
    )
    fours = ([player + 1 for player in best[at : at + SEATED]] for at in range(0, len(best), SEATED))
    return numbered_plays(zip(frame.sittings, fours, strict=False))


def least_possible_cost(frame: SearchFrame, occupants: Sequence[int]) -> int:
    """Return a lower bound on the cost of any seating of the frame: each measure by itself, spread evenly."""
    draft, players = Seating(frame, occupants), frame.players
    pairs = players * (players - 1) // 2
    seats = len(frame.sittings) * SEATED
    return (
        MEETING_COST * least_cost(sum(draft.meetings), pairs, REPEAT_POWER)
        + COMPARISON_COST * least_cost(sum(draft.comparisons), pairs, 1)
        + SEAT_COST * least_cost(seats, players * SEATED, REPEAT_POWER)
    )


def _team_start(order: MovementOrder, chance: RandomSource) -> list[SeatedRound]:
    if order.players != order.tables * SEATED:
        text = N_(
            "players: {players}, tables: {tables}; in teams nobody sits out", players=order.players, tables=order.tables
        )
        raise RuleError("teams_do_not_fit", text)
    if order.tables < 2 or order.rounds < order.pods:  # noqa: PLR2004 - a team needs an opponent
        raise RuleError(
            "teams_do_not_fit",
            f"in a team event each deal is played at all {order.tables} tables: that takes at least two "
            f"teams, and {order.pods} rounds, or more deals a round, or more carriers of each",
        )
    return seat_teams(order, sittings_of(order), chance)


def _by_blocks(order: MovementOrder, chance: RandomSource) -> list[SeatedRound]:
    """Seat each block by algebra if possible, else randomly, each with its players in a different order.

    The last players in the order sit out the block; these are the ones who have sat out least.
    """
    sittings = sittings_of(order)
    found: list[SeatedRound] = []
    sat_out = [0] * order.players
    first_set = 0
    for block in round_blocks(order):
        players = list(range(order.players))
        if block.start:
            shuffle(players, chance)
            players.sort(key=lambda player: -sat_out[player])
        for player in players[order.tables * SEATED :]:
            sat_out[player] += len(block)
        of_block = [sitting for sitting in sittings if sitting.round - 1 in block]
        found += transversal(order, block, first_set, players) or mix_players(order, block, of_block, players, chance)
        first_set += max(order.pods, len(block))
    return found


def _frame_of_start(
    order: MovementOrder, seated: Iterable[SeatedRound], *, in_teams: bool
) -> tuple[SearchFrame, list[int]]:
    """Return the search frame of a start and the player in each slot. Players without a seat in a round sit it out."""
    listed = list(seated)
    out = order.players - SEATED * order.tables
    rounds = range(1, order.rounds + 1)
    frame = SearchFrame(
        sittings=tuple(sitting for sitting, _ in listed),
        players=order.players,
        byes=dict.fromkeys(rounds, out) if out else {},
        team_of=tuple(player // SEATED for player in range(order.players)) if in_teams else (),
    )
    return frame, [*chain.from_iterable(four for _, four in listed), *_sitting_out(listed, order.players, rounds)]


def _sitting_out(
    listed: Sequence[tuple[TableRound, Sequence[int]]], players: int, rounds: Iterable[int]
) -> Iterable[int]:
    for round_ in rounds:
        seated = {player for sitting, four in listed if sitting.round == round_ for player in four}
        yield from (player for player in range(players) if player not in seated)


def usual_order(players: int, tables: int | None, rounds: int, deals: int | None, copies: int | None) -> MovementOrder:
    """Return the order for these numbers, with usual values for those that are None.

    Where a perfect movement is possible, the defaults make it so: several deals a round, or several carriers a deal.
    """
    filled = players // SEATED if tables is None else tables
    order = MovementOrder(players, filled, rounds, 1 if deals is None else deals, 1 if copies is None else copies)
    at_once = replace(order, copies=-(-filled // order.deals_per_round))
    if copies is not None or not is_perfect(at_once):
        return order
    return replace(order, deals_per_round=filled) if deals is None else at_once
