"""What is left of an event planned anew, when it was not played as it was planned."""

from collections.abc import Mapping, Sequence

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.movement.booking import Play, Sitting, bookings, named, sittings
from broker.rules.movement.check import SEATED, check
from broker.rules.movement.draft import Draft, Frame
from broker.rules.movement.matching import matching
from broker.rules.movement.quality import usual_copies
from broker.rules.movement.search import GoOn, search
from broker.rules.movement.steps import Chance

Player = int | str
Planned = tuple[Sitting, list[Player]]
"""A sitting and its four players in the order of the seats."""

Instead = Mapping[Player, Player | None]
"""Who is not there any more, each with the player who comes instead, or None."""


def repair(
    plan: Sequence[Play], played: Sequence[Play], instead: Instead, chance: Chance, go_on: GoOn
) -> tuple[Play, ...]:
    """Give what was played, as it was, and after it the rounds of the plan that are left, with no rule broken in them.

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
    frame, who = _framed([*done, *ahead], len(done), out, names)
    if Draft(frame, who).hard:
        who = search(frame, who, chance, go_on)
    start = len(done) * SEATED
    new = [
        (sitting, [player + 1 for player in who[at : at + SEATED]])
        for (sitting, _), at in zip(ahead, range(start, start + len(ahead) * SEATED, SEATED), strict=True)
    ]
    return _without_faults([*played, *named(bookings(new), names)], len(played), usual_copies(plan))


def _without_faults(plays: Sequence[Play], settled: int, copies: int) -> tuple[Play, ...]:
    """Leave out plays after the settled ones until none of them breaks a rule."""
    left = list(plays)
    while wrong := [fault.at[-1] for fault in check(left, copies) if fault.at[-1] >= settled]:
        del left[wrong[-1]]
    return tuple(left)


def _names(plays: Sequence[Play], instead: Instead) -> list[Player]:
    known = {player for play in plays for player in play.players.values()}
    for gone, substitute in instead.items():
        if gone not in known:
            raise RuleError("unknown_player", f"{gone} is not in the movement")
        if substitute is not None and (substitute in known or list(instead.values()).count(substitute) > 1):
            raise RuleError("substitute_plays", f"{substitute} has a place already")
    return sorted(known | {name for name in instead.values() if name is not None}, key=str)


def _planned(plays: Sequence[Play]) -> list[Planned]:
    return [(sitting, [players[seat] for seat in SEATS]) for sitting, players in sittings(plays).items()]


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
            found.append((Sitting(round_, table, sitting.deals), four))
            had.setdefault(table, set()).update(sitting.deals)
    return sorted(found, key=lambda one: (one[0].round, one[0].table))


def _assigned(planned: Sequence[Planned], forbidden: Sequence[Mapping[int, set[int]]]) -> list[int]:
    """Give each sitting of a round a table that had none of its deals: its own if it can be."""
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
        raise RuleError("too_few_players", f"{len(present)} players are there; a table needs {SEATED}")
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


def _framed(
    planned: Sequence[Planned], done: int, out: Mapping[int, Sequence[Player]], names: Sequence[Player]
) -> tuple[Frame, list[int]]:
    numbers = {name: number for number, name in enumerate(names)}
    who = [numbers[player] for _, four in planned for player in four]
    who += [numbers[player] for _, players in sorted(out.items()) for player in players]
    frame = Frame(
        sittings=tuple(sitting for sitting, _ in planned),
        players=len(names),
        byes={round_: len(players) for round_, players in out.items()},
        settled=frozenset(range(done)),
        home=tuple(who),
    )
    return frame, who
