"""A movement for an order: the best start that is known for its size, then the search.

With `Order.copies` = 4 (or four deals a round) 16 players in 5 rounds come out perfect and nothing is searched.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from broker.rules.errors import RuleError
from broker.rules.movement.affine import affine, is_perfect
from broker.rules.movement.booking import Booking, Sitting, bookings
from broker.rules.movement.check import SEATED
from broker.rules.movement.draft import BYE, COMPARE, MEET, SEAT, STEEP, Draft, Frame, least_cost
from broker.rules.movement.layout import blocks, layout
from broker.rules.movement.order import Order
from broker.rules.movement.search import GoOn, search
from broker.rules.movement.starts import Seated, shuffle, stay, teams, transversal
from broker.rules.movement.steps import Chance


def make(order: Order, chance: Chance, go_on: GoOn, *, in_teams: bool = False) -> tuple[Booking, ...]:
    """Give a movement that breaks no rule, as good as the time allows (`go_on`); players are numbered from 1.

    In teams players 1 to 4 are the first team, 5 to 8 the second, and so on. The same chance and the same number of
    "go on" give the same movement. Raises RuleError `teams_do_not_fit`.
    """
    seated = _teams(order, chance) if in_teams else affine(order, layout(order)) or _by_blocks(order, chance)
    frame, who = _framed(order, seated, in_teams=in_teams)
    best = who if is_perfect(order) and not in_teams else search(frame, who, chance, go_on, enough=floor(frame, who))
    fours = ([player + 1 for player in best[at : at + SEATED]] for at in range(0, len(best), SEATED))
    return bookings(zip(frame.sittings, fours, strict=False))


def floor(frame: Frame, who: Sequence[int]) -> int:
    """Give a cost below which no seating of the frame can be: each measure alone, spread as evenly as can be."""
    draft, players = Draft(frame, who), frame.players
    pairs = players * (players - 1) // 2
    seats = len(frame.sittings) * SEATED
    return (
        MEET * least_cost(sum(draft.meetings), pairs, STEEP)
        + COMPARE * least_cost(sum(draft.comparisons), pairs, 1)
        + SEAT * least_cost(seats, players * SEATED, STEEP)
        + BYE * least_cost(sum(frame.byes.values()), players, 1)
    )


def _teams(order: Order, chance: Chance) -> list[Seated]:
    if order.players != order.tables * SEATED:
        raise RuleError(
            "teams_do_not_fit", f"{order.players} players at {order.tables} tables: in teams nobody sits out"
        )
    if order.tables < 2 or order.rounds < order.pods:  # noqa: PLR2004 - a team needs another to be compared with
        raise RuleError(
            "teams_do_not_fit",
            f"a team plays each deal at all seats, so each deal comes to all {order.tables} tables: that takes two "
            f"teams, and {order.pods} rounds, or more deals a round, or more carriers of each",
        )
    return teams(order, layout(order), chance)


def _by_blocks(order: Order, chance: Chance) -> list[Seated]:
    """Seat each block by algebra where that is known, else by a fair mix, each with its players in another order.

    The last in the order sit out the block: those who have done so least.
    """
    sittings = layout(order)
    found: list[Seated] = []
    sat_out = [0] * order.players
    first_set = 0
    for block in blocks(order):
        who = list(range(order.players))
        if block.start:
            shuffle(who, chance)
            who.sort(key=lambda player: -sat_out[player])
        for player in who[order.tables * SEATED :]:
            sat_out[player] += len(block)
        of_block = [sitting for sitting in sittings if sitting.round - 1 in block]
        found += transversal(order, block, first_set, who) or stay(order, block, of_block, who, chance)
        first_set += max(order.pods, len(block))
    return found


def _framed(order: Order, seated: Iterable[Seated], *, in_teams: bool) -> tuple[Frame, list[int]]:
    """Give the frame of a start, and its players by slots; who has no seat in a round sits out."""
    listed = list(seated)
    out = order.players - SEATED * order.tables
    rounds = range(1, order.rounds + 1)
    frame = Frame(
        sittings=tuple(sitting for sitting, _ in listed),
        players=order.players,
        byes=dict.fromkeys(rounds, out) if out else {},
        team_of=tuple(player // SEATED for player in range(order.players)) if in_teams else (),
    )
    return frame, [*chain.from_iterable(four for _, four in listed), *_sitting_out(listed, order.players, rounds)]


def _sitting_out(listed: Sequence[tuple[Sitting, Sequence[int]]], players: int, rounds: Iterable[int]) -> Iterable[int]:
    for round_ in rounds:
        seated = {player for sitting, four in listed if sitting.round == round_ for player in four}
        yield from (player for player in range(players) if player not in seated)
