"""A movement made for an order, and what is left of an event replanned when it was not played as planned.

A movement begins with the best start that is known for its size; then it is searched. With `MovementOrder.copies` = 4
(or four deals a round) 16 players in 5 rounds come out perfect and nothing is searched.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from broker.event.movement.algebra import (
    SeatedRound,
    affine,
    is_perfect,
    matching,
    mix_players,
    seat_teams,
    shuffle,
    transversal,
)
from broker.event.movement.plays import (
    SEATED,
    MovementOrder,
    MovementPlay,
    NumberedPlay,
    RandomSource,
    TableRound,
    check_movement,
    lay_out,
    name_players,
    numbered_plays,
    round_blocks,
    table_rounds,
)
from broker.event.movement.quality import usual_copies
from broker.event.movement.search import (
    COMPARE,
    MEET,
    SEAT,
    STEEP,
    KeepSearching,
    SearchFrame,
    Seating,
    least_cost,
    search,
)
from broker.i18n import N_
from broker.protocol import SEATS
from broker.rules import RuleError


def make_movement(
    order: MovementOrder, chance: RandomSource, go_on: KeepSearching, *, in_teams: bool = False
) -> tuple[NumberedPlay, ...]:
    """Return a movement that breaks no rule, as good as the time allows (`go_on`); players are numbered from 1.

    In teams players 1 to 4 are the first team, 5 to 8 the second, and so on. The same chance and the same number of
    "go on" give the same movement. Raises RuleError `teams_do_not_fit`.
    """
    seated = _start_of_teams(order, chance) if in_teams else affine(order, lay_out(order)) or _by_blocks(order, chance)
    frame, who = _frame_of_start(order, seated, in_teams=in_teams)
    best = (
        who
        if is_perfect(order) and not in_teams
        else search(frame, who, chance, go_on, enough=least_possible_cost(frame, who))
    )
    fours = ([player + 1 for player in best[at : at + SEATED]] for at in range(0, len(best), SEATED))
    return numbered_plays(zip(frame.sittings, fours, strict=False))


def least_possible_cost(frame: SearchFrame, who: Sequence[int]) -> int:
    """Return a cost below which no seating of the frame can be: each measure alone, spread as evenly as can be."""
    draft, players = Seating(frame, who), frame.players
    pairs = players * (players - 1) // 2
    seats = len(frame.sittings) * SEATED
    return (
        MEET * least_cost(sum(draft.meetings), pairs, STEEP)
        + COMPARE * least_cost(sum(draft.comparisons), pairs, 1)
        + SEAT * least_cost(seats, players * SEATED, STEEP)
    )


def _start_of_teams(order: MovementOrder, chance: RandomSource) -> list[SeatedRound]:
    if order.players != order.tables * SEATED:
        raise RuleError(
            "teams_do_not_fit",
            N_(
                "players: {players}, tables: {tables}; in teams nobody sits out",
                players=order.players,
                tables=order.tables,
            ),
        )
    if order.tables < 2 or order.rounds < order.pods:  # noqa: PLR2004 - a team needs another to be compared with
        raise RuleError(
            "teams_do_not_fit",
            f"a team plays each deal at all seats, so each deal comes to all {order.tables} tables: that takes two "
            f"teams, and {order.pods} rounds, or more deals a round, or more carriers of each",
        )
    return seat_teams(order, lay_out(order), chance)


def _by_blocks(order: MovementOrder, chance: RandomSource) -> list[SeatedRound]:
    """Seat each block by algebra where that is known, else by a fair mix, each with its players in another order.

    The last in the order sit out the block: those who have done so least.
    """
    sittings = lay_out(order)
    found: list[SeatedRound] = []
    sat_out = [0] * order.players
    first_set = 0
    for block in round_blocks(order):
        who = list(range(order.players))
        if block.start:
            shuffle(who, chance)
            who.sort(key=lambda player: -sat_out[player])
        for player in who[order.tables * SEATED :]:
            sat_out[player] += len(block)
        of_block = [sitting for sitting in sittings if sitting.round - 1 in block]
        found += transversal(order, block, first_set, who) or mix_players(order, block, of_block, who, chance)
        first_set += max(order.pods, len(block))
    return found


def _frame_of_start(
    order: MovementOrder, seated: Iterable[SeatedRound], *, in_teams: bool
) -> tuple[SearchFrame, list[int]]:
    """Return the frame of a start, and its players by slots; who has no seat in a round sits out."""
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


Player = int | str
Planned = tuple[TableRound, list[Player]]
"""A sitting and its four players in the order of the seats."""

Instead = Mapping[Player, Player | None]
"""Who is no longer there, each with the player who comes instead, or None."""


def repair_movement(
    plan: Sequence[MovementPlay],
    played: Sequence[MovementPlay],
    instead: Instead,
    chance: RandomSource,
    go_on: KeepSearching,
) -> tuple[MovementPlay, ...]:
    """What was played, as it was, and after it the rounds of the plan that are left, with no rule broken in them.

    Rounds up to the last one in `played` are over: what the plan has there and `played` has not was not played.
    With too few players tables are closed, those that lack most first. Where no rule is broken so far nobody is
    moved; otherwise the search moves as few as it can. What still breaks a rule is not played. Raises RuleError
    `nothing_left`, `unknown_player`, `substitute_plays`, `too_few_players`.
    """
    over = max((play.round for play in played), default=0)
    left = [play for play in plan if play.round > over]
    names = _names([*plan, *played], instead)
    if not left:
        raise RuleError("nothing_left", f"the plan has no round after round {over}")
    done = _planned(played)
    ahead, out = _fill(_tables(_planned(left), done), instead, [name for name in names if name not in instead])
    frame, who = _frame_of_repair([*done, *ahead], len(done), out, names)
    if Seating(frame, who).hard:
        who = search(frame, who, chance, go_on)
    start = len(done) * SEATED
    new = [
        (sitting, [player + 1 for player in who[at : at + SEATED]])
        for (sitting, _), at in zip(ahead, range(start, start + len(ahead) * SEATED, SEATED), strict=True)
    ]
    return _without_faults([*played, *name_players(numbered_plays(new), names)], len(played), usual_copies(plan))


def _without_faults(plays: Sequence[MovementPlay], settled: int, copies: int) -> tuple[MovementPlay, ...]:
    """Leave out plays after the settled ones until none of them breaks a rule."""
    left = list(plays)
    while wrong := [fault.at[-1] for fault in check_movement(left, copies) if fault.at[-1] >= settled]:
        del left[wrong[-1]]
    return tuple(left)


def _names(plays: Sequence[MovementPlay], instead: Instead) -> list[Player]:
    known = {player for play in plays for player in play.players.values()}
    for gone, substitute in instead.items():
        if gone not in known:
            raise RuleError("unknown_player", f"{gone} is not in the movement")
        if substitute is not None and (substitute in known or list(instead.values()).count(substitute) > 1):
            raise RuleError("substitute_plays", f"{substitute} has a place already")
    return sorted(known | {name for name in instead.values() if name is not None}, key=str)


def _planned(plays: Sequence[MovementPlay]) -> list[Planned]:
    return [(sitting, [players[seat] for seat in SEATS]) for sitting, players in table_rounds(plays).items()]


def _rounds(planned: Sequence[Planned]) -> dict[int, list[Planned]]:
    rounds: dict[int, list[Planned]] = {}
    for sitting, four in planned:
        rounds.setdefault(sitting.round, []).append((sitting, four))
    return rounds


def _tables(left: Sequence[Planned], done: Sequence[Planned]) -> list[Planned]:
    """Send foursomes with their deals to other tables in rounds where a table would have a deal again."""
    had: dict[int, set[int]] = {}
    for sitting, _ in done:
        had.setdefault(sitting.table, set()).update(sitting.deals)
    found: list[Planned] = []
    for round_, planned in _rounds(left).items():
        later: dict[int, set[int]] = {}
        for sitting, _ in left:
            if sitting.round > round_:
                later.setdefault(sitting.table, set()).update(sitting.deals)
        tables = _assigned(planned, [{t: had.get(t, set()) | later.get(t, set()) for t in had | later}, had])
        for (sitting, four), table in zip(planned, tables, strict=True):
            found.append((TableRound(round_, table, sitting.deals), four))
            had.setdefault(table, set()).update(sitting.deals)
    return sorted(found, key=lambda one: (one[0].round, one[0].table))


def _assigned(planned: Sequence[Planned], forbidden: Sequence[Mapping[int, set[int]]]) -> list[int]:
    """Return each sitting of a round a table that had none of its deals: its own if it can be."""
    own = [sitting.table for sitting, _ in planned]
    for had in forbidden:
        wishes = {
            at: [t for t in sorted(own, key=lambda t: t != sitting.table) if not had.get(t, set()) & {*sitting.deals}]
            for at, (sitting, _) in enumerate(planned)
        }
        taken = {at: table for table, at in matching(wishes).items()}
        if len(taken) == len(own):
            return [taken[at] for at in range(len(own))]
    return own


def _fill(
    left: Sequence[Planned], instead: Instead, present: Sequence[Player]
) -> tuple[list[Planned], dict[int, list[Player]]]:
    """Seat substitutes, close tables where there are too few players, and fill empty chairs with who sits out."""
    most = len(present) // SEATED
    if not most:
        raise RuleError("too_few_players", f"players there: {len(present)}; a table needs {SEATED}")
    found: list[Planned] = []
    out: dict[int, list[Player]] = {}
    for round_, planned in _rounds(left).items():
        chairs = [(sitting, [instead.get(player, player) for player in four]) for sitting, four in planned]
        kept = sorted(sorted(chairs, key=lambda one: one[1].count(None))[:most], key=lambda one: one[0].table)
        seated = {player for _, four in kept for player in four}
        spare = [player for player in present if player not in seated]
        found += [(sitting, [spare.pop() if player is None else player for player in four]) for sitting, four in kept]
        out[round_] = spare
    return found, out


def _frame_of_repair(
    planned: Sequence[Planned], done: int, out: Mapping[int, Sequence[Player]], names: Sequence[Player]
) -> tuple[SearchFrame, list[int]]:
    numbers = {name: number for number, name in enumerate(names)}
    who = [numbers[player] for _, four in planned for player in four]
    who += [numbers[player] for _, players in sorted(out.items()) for player in players]
    frame = SearchFrame(
        sittings=tuple(sitting for sitting, _ in planned),
        players=len(names),
        byes={round_: len(players) for round_, players in out.items()},
        settled=frozenset(range(done)),
        home=tuple(who),
    )
    return frame, who


def usual_order(players: int, tables: int | None, rounds: int, deals: int | None, copies: int | None) -> MovementOrder:
    """Order what the perfect movement needs by default: deals that go round, or carriers of one."""
    filled = players // SEATED if tables is None else tables
    order = MovementOrder(players, filled, rounds, 1 if deals is None else deals, 1 if copies is None else copies)
    at_once = replace(order, copies=-(-filled // order.deals_per_round))
    if copies is not None or not is_perfect(at_once):
        return order
    return replace(order, deals_per_round=filled) if deals is None else at_once
