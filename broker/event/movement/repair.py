"""Replanning the rest of an event after a player has come late, left or not come, or plays differed from the plan.

Plays that are over are not changed. The others are seated by a new search, as close to the plan as rules and fairness
allow: nobody plays a deal twice, and players take turns to sit out. If there are too few players, tables are closed,
spread over the deals; otherwise some deals would have more chairs than players who can still play them.

`replan` does this for the desk: each table keeps its deal in each round, and players take turns to sit out from now on.
`repair_movement` does it for a movement file: nobody moves as long as no rule is broken.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from broker.event.movement.algebra import matching
from broker.event.movement.plays import (
    SEATED,
    MovementPlay,
    NamedPlay,
    RandomSource,
    TableRound,
    check_movement,
    table_rounds,
)
from broker.event.movement.quality import usual_copies
from broker.event.movement.search import KeepSearching, SearchFrame, Seating, search
from broker.i18n import N_
from broker.protocol import SEATS, Seat
from broker.rules import RuleError

Player = int | str
Place = tuple[int, int]
"""Round and table."""


@dataclass(frozen=True, slots=True)
class Remainder:
    """The state of an event to be replanned.

    `layout`: the deal of every place; `plan`: the plays as planned so far; `settled`: the plays that stay, as they were
    played; `present`: the players from now on; `instead`: the substitute for each player replaced; `laid`: places whose
    carrier is already restored, so that they are closed last; `over`: deals that may no longer be played.
    """

    layout: Mapping[Place, int]
    plan: Sequence[MovementPlay]
    settled: Sequence[MovementPlay]
    present: Sequence[Player]
    instead: Mapping[str, Player] = field(default_factory=dict)
    laid: Collection[Place] = ()
    over: Collection[int] = ()
    first_round: int = 1


class _Stay(NamedTuple):
    """A table during consecutive rounds with unchanged seating, and its players in the previous plan (None: empty)."""

    sitting: TableRound
    rounds: tuple[int, ...]
    four: tuple[Player | None, ...]


def replan(rest: Remainder, chance: RandomSource, go_on: KeepSearching) -> tuple[MovementPlay, ...]:
    """Return the remaining plays, which break no rule. Raises RuleError `too_few_players`.

    If nobody is missing or sits out, and the plan breaks no rule, nobody moves except substitutes.
    """
    done = [_stay_of(play) for play in rest.settled]
    ahead, out = _fill_chairs(rest, _stays(rest))
    new = _seated(done, ahead, {**_sat_out_before(rest), **out}, _Search(chance, go_on, force=any(out.values())))
    plays = [*rest.settled, *sorted(new, key=lambda play: (play.round, play.table))]
    copies = max(usual_copies(plays), len({play.table for play in plays}))
    return _without_faults(plays, len(done), copies)[len(done) :]


class _Search(NamedTuple):
    """How a seating is searched: always (`force`), or only if it breaks a rule."""

    chance: RandomSource
    go_on: KeepSearching
    force: bool


def _seated(
    done: Sequence[_Stay], ahead: Sequence[_Stay], out: Mapping[int, Sequence[Player]], how: _Search
) -> list[NamedPlay]:
    """Return the plays of the stays `ahead`, given those that are done; `out` has the players who sit out, by round."""
    if not ahead:
        return []
    names = sorted(
        {player for stay in (*done, *ahead) for player in stay.four if player is not None}.union(*out.values()), key=str
    )
    numbers = {name: number for number, name in enumerate(names)}
    occupants = [numbers[player] for stay in (*done, *ahead) for player in stay.four if player is not None]
    occupants += [numbers[player] for _, players in sorted(out.items()) for player in players]
    frame = SearchFrame(
        sittings=tuple(stay.sitting for stay in (*done, *ahead)),
        players=len(names),
        byes={round_: len(players) for round_, players in out.items()},
        settled=frozenset(range(len(done))),
        home=tuple(occupants),
    )
    if how.force or Seating(frame, occupants).hard:
        occupants = search(frame, occupants, how.chance, how.go_on)
    return [
        NamedPlay(round_, stay.sitting.table, deal, dict(zip(SEATS, (names[player] for player in four), strict=True)))
        for at, stay in enumerate(ahead, len(done))
        for four in [occupants[at * SEATED : (at + 1) * SEATED]]
        for round_, deal in zip(stay.rounds, stay.sitting.deals, strict=True)
    ]


def _without_faults(plays: Sequence[MovementPlay], settled: int, copies: int) -> tuple[MovementPlay, ...]:
    """Drop plays after the first `settled` ones until none of them breaks a rule."""
    left = list(plays)
    while wrong := [fault.at[-1] for fault in check_movement(left, copies) if fault.at[-1] >= settled]:
        del left[wrong[-1]]
    return tuple(left)


def _four(players: Mapping[Seat, Player]) -> tuple[Player, ...]:
    return tuple(players[seat] for seat in SEATS)


def _stay_of(play: MovementPlay) -> _Stay:
    return _Stay(TableRound(play.round, play.table, (play.deal,)), (play.round,), _four(play.players))


def _stays(rest: Remainder) -> list[_Stay]:
    """Return the open places to be seated, merged over rounds in which everybody stays seated."""
    planned = {(play.round, play.table): _four(play.players) for play in rest.plan}
    settled = {(play.round, play.table) for play in rest.settled}
    rounds = sorted({round_ for round_, _ in rest.layout})
    seated = {
        round_: {table: planned.get((round_, table)) for at, table in rest.layout if at == round_} for round_ in rounds
    }
    open_in = {round_: {table for table in seated[round_] if (round_, table) not in settled} for round_ in rounds}
    blocks: list[list[int]] = []
    for round_ in rounds:
        if blocks and seated[last := blocks[-1][-1]] == seated[round_] and open_in[last] == open_in[round_]:
            blocks[-1].append(round_)
        else:
            blocks.append([round_])
    found: list[_Stay] = []
    for block in blocks:
        for table, four in sorted(seated[block[0]].items()):
            if (block[0], table) in settled or block[-1] < rest.first_round:
                continue
            deals = tuple(rest.layout[round_, table] for round_ in block)
            if rest.over and set(deals) & set(rest.over) and four is None:
                continue
            found.append(_Stay(TableRound(block[0], table, deals), tuple(block), four or (None,) * SEATED))
    return found


def _fill_chairs(rest: Remainder, stays: Sequence[_Stay]) -> tuple[list[_Stay], dict[int, list[Player]]]:
    """Fill empty chairs and close tables for which there are too few players; return the stays and who sits out.

    The tables of deals with the most spare chairs are closed first, then those that lack the most players.
    Raises RuleError `too_few_players`.
    """
    if len(rest.present) < SEATED:
        raise RuleError(
            "too_few_players",
            N_("players there: {count}; a table needs {least}", count=len(rest.present), least=SEATED),
        )
    busy: dict[int, set[Player]] = {}
    for play in rest.settled:
        busy.setdefault(play.round, set()).update(play.players.values())
    present = list(rest.present)
    spare_chairs = _spare_chairs(rest, stays)
    found: list[_Stay] = []
    out: dict[int, list[Player]] = {}
    for round_, group in groupby(stays, key=lambda stay: stay.sitting.round):
        of_round = list(group)
        taken = set[Player]().union(*(busy.get(at, set()) for at in of_round[0].rounds))
        free = [player for player in present if player not in taken]
        chairs = [stay._replace(four=tuple(_occupant(rest, player, free) for player in stay.four)) for stay in of_round]
        chairs.sort(key=lambda stay: (stay.four.count(None), (stay.rounds[0], stay.sitting.table) not in rest.laid))
        while len(chairs) > len(free) // SEATED:
            closed = max(
                reversed(chairs), key=lambda stay: max(max(0, spare_chairs[deal]) for deal in stay.sitting.deals)
            )
            chairs.remove(closed)
            spare_chairs.subtract(dict.fromkeys(closed.sitting.deals, SEATED))
        open_tables = sorted(chairs, key=lambda stay: stay.sitting.table)
        seated = {player for stay in open_tables for player in stay.four}
        spare = [player for player in free if player not in seated]
        played = {player: _deals_of(rest, player) for player in spare}
        for stay in open_tables:
            four = [player if player is not None else _take(spare, played, stay.sitting.deals) for player in stay.four]
            found.append(stay._replace(four=tuple(four)))
        out[round_] = spare
    return found, out


def _spare_chairs(rest: Remainder, stays: Iterable[_Stay]) -> Counter[int]:
    """Return how many more chairs each deal has than present players who have not played it yet."""
    chairs = Counter(deal for stay in stays for deal in stay.sitting.deals for _ in range(SEATED))
    played = [_deals_of(rest, player) for player in rest.present]
    for deal in chairs:
        chairs[deal] -= sum(deal not in deals for deals in played)
    return chairs


def _occupant(rest: Remainder, planned: Player | None, free: Collection[Player]) -> Player | None:
    """Return who takes a planned player's chair: the player or the substitute, if free; None if the chair is empty."""
    player = rest.instead.get(str(planned), planned) if planned is not None else None
    return player if player in free else None


def _deals_of(rest: Remainder, player: Player) -> set[int]:
    return {play.deal for play in rest.settled if player in play.players.values()}


def _take(spare: list[Player], played: Mapping[Player, set[int]], deals: Iterable[int]) -> Player:
    """Remove and return a spare player who has played none of these deals, or if all have, the first one."""
    at = next((at for at, player in enumerate(spare) if not played[player] & set(deals)), 0)
    return spare.pop(at)


def _sat_out_before(rest: Remainder) -> dict[int, list[Player]]:
    """Return the present players who were not seated in each finished round: others should sit out before them.

    Consecutive rounds in which everybody stayed seated count once.
    """
    counted = Counter(play.round for play in rest.settled)
    planned = Counter(play.round for play in rest.plan)
    over = [round_ for round_, count in counted.items() if count >= planned[round_]]
    found: dict[int, list[Player]] = {}
    last: dict[int, tuple[Player, ...]] = {}
    before = 0
    for round_ in sorted(over):
        seated = {play.table: _four(play.players) for play in rest.settled if play.round == round_}
        if seated == last:  # record it in the last of these rounds, which is adjacent to the next one
            if before in found:
                found[round_] = found.pop(before)
            before = round_
            continue
        before, last, playing = round_, seated, {player for four in seated.values() for player in four}
        if waited := [player for player in rest.present if player not in playing]:
            found[round_] = waited
    return found


Instead = Mapping[Player, Player | None]
"""The players who are no longer there, each with the substitute, or None."""


def repair_movement(
    plan: Sequence[MovementPlay],
    played: Sequence[MovementPlay],
    instead: Instead,
    chance: RandomSource,
    go_on: KeepSearching,
) -> tuple[MovementPlay, ...]:
    """Return what was played, unchanged, followed by the remaining rounds of the plan, in which no rule is broken.

    Rounds up to the last one in `played` are over; planned plays in them that are not in `played` count as not played.
    If there are too few players, tables are closed. If no rule is broken, nobody moves; otherwise the search moves as
    few players as possible. Plays that still break a rule are dropped. Raises RuleError `nothing_left`,
    `unknown_player`, `substitute_plays`, `too_few_players`.
    """
    over = max((play.round for play in played), default=0)
    left = [play for play in plan if play.round > over]
    present = [name for name in _names([*plan, *played], instead) if name not in instead]
    if not left:
        raise RuleError("nothing_left", f"the plan has no round after round {over}")
    done = _sittings(played)
    substitutes = {str(gone): substitute for gone, substitute in instead.items() if substitute is not None}
    rest = Remainder({}, left, played, present, substitutes)
    ahead, out = _fill_chairs(rest, _at_other_tables(_sittings(left), done))
    new = _seated(done, ahead, out, _Search(chance, go_on, force=False))
    return _without_faults([*played, *new], len(played), usual_copies(plan))


def _names(plays: Sequence[MovementPlay], instead: Instead) -> list[Player]:
    known = {player for play in plays for player in play.players.values()}
    for gone, substitute in instead.items():
        if gone not in known:
            raise RuleError("unknown_player", f"{gone} is not in the movement")
        if substitute is not None and (substitute in known or list(instead.values()).count(substitute) > 1):
            raise RuleError("substitute_plays", f"{substitute} has a place already")
    return sorted(known | {name for name in instead.values() if name is not None}, key=str)


def _sittings(plays: Sequence[MovementPlay]) -> list[_Stay]:
    return [
        _Stay(sitting, (sitting.round,) * len(sitting.deals), _four(players))
        for sitting, players in table_rounds(plays).items()
    ]


def _at_other_tables(left: Sequence[_Stay], done: Sequence[_Stay]) -> list[_Stay]:
    """Move foursomes, with their deals, to other tables in rounds in which a table would repeat a deal."""
    had: dict[int, set[int]] = {}
    for stay in done:
        had.setdefault(stay.sitting.table, set()).update(stay.sitting.deals)
    found: list[_Stay] = []
    for round_, group in groupby(left, key=lambda stay: stay.sitting.round):
        planned, later = list(group), dict[int, set[int]]()
        for stay in left:
            if stay.sitting.round > round_:
                later.setdefault(stay.sitting.table, set()).update(stay.sitting.deals)
        tables = _assigned(planned, [{t: had.get(t, set()) | later.get(t, set()) for t in had | later}, had])
        for stay, table in zip(planned, tables, strict=True):
            found.append(stay._replace(sitting=replace(stay.sitting, table=table)))
            had.setdefault(table, set()).update(stay.sitting.deals)
    return sorted(found, key=lambda stay: (stay.sitting.round, stay.sitting.table))


def _assigned(planned: Sequence[_Stay], forbidden: Sequence[Mapping[int, set[int]]]) -> list[int]:
    """Return, for each sitting of a round, a table that has none of its deals: its own table if possible.

    `forbidden` has the deals of each table, as a list of alternatives from strict to lenient. If none can be met, all
    sittings keep their tables.
    """
    own = [stay.sitting.table for stay in planned]
    for had in forbidden:
        choices = {
            at: [t for t in sorted(own, key=lambda t: t != own[at]) if not had.get(t, set()) & {*stay.sitting.deals}]
            for at, stay in enumerate(planned)
        }
        taken = {at: table for table, at in matching(choices).items()}
        if len(taken) == len(own):
            return [taken[at] for at in range(len(own))]
    return own
