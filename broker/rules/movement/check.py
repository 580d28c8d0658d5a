"""Everything that is wrong with a movement, whoever wrote it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, TypeVar

from broker.contract.words import SEATS, Seat
from broker.rules.movement.booking import Play, moments

SEATED: Final = len(SEATS)
ALL: Final = frozenset(SEATS)

K = TypeVar("K", bound=Hashable)
L = TypeVar("L", bound=Hashable)

Teams = Mapping[str, Sequence[int | str]]
"""Team name to its four members."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong: a stable code (docs/codes.md), a text, and which plays it is about, by their place in the list."""

    code: str
    text: str
    at: tuple[int, ...]


def check(plays: Sequence[Play], copies: int = 1) -> list[Fault]:
    """Give all faults of a movement; none means that it can be played with so many carriers of each deal."""
    found = [
        *_four_a_table(plays),
        *_same_four_all_round(plays),
        *_carriers(plays, copies),
        *_tables_repeat(plays),
        *_players_in_two_places(plays),
        *_players_repeat(plays),
    ]
    return sorted(found, key=lambda fault: fault.at[-1])


def most_together(teams: int) -> int:
    """Give how many of one team have to share a table: one from four teams on, two of two teams and of three."""
    return ceil(SEATED / teams)


def check_teams(plays: Sequence[Play], teams: Teams) -> list[Fault]:
    """Give what breaks a team event: each team sits once at each seat of each deal, spread over the tables."""
    team_of = {player: team for team, members in teams.items() for player in members}
    found = [*_strangers(plays, team_of), *_team_seats(plays, team_of), *_team_crowds(plays, team_of, len(teams))]
    return sorted(found, key=lambda fault: fault.at[-1])


def _four_a_table(plays: Sequence[Play]) -> Iterator[Fault]:
    for at, play in enumerate(plays):
        if play.players.keys() != ALL or len(_once(play)) != SEATED:
            text = f"round {play.round} table {play.table}: four players are needed, one a seat"
            yield Fault("not_four_players", text, (at,))


def _same_four_all_round(plays: Sequence[Play]) -> Iterator[Fault]:
    first: dict[tuple[int, int], int] = {}
    for at, play in enumerate(plays):
        before = first.setdefault((play.round, play.table), at)
        if before != at and dict(plays[before].players) != dict(play.players):
            text = f"round {play.round} table {play.table}: the players change seats within the round"
            yield Fault("players_change", text, (before, at))


def _carriers(plays: Sequence[Play], copies: int) -> Iterator[Fault]:
    """Name what needs more carriers than there are: the deal at several tables in one moment (MIL)."""
    when = moments(plays)
    seen = ((when[at], (play.deal,), play.table) for at, play in enumerate(plays))
    for ((round_, _), deal), ats in _clashes(seen, copies):
        count = "two" if len(ats) == 2 else len(ats)  # noqa: PLR2004 - the word for 2
        yield Fault("deal_at_two_tables", f"deal {deal} is at {count} tables in round {round_}", ats)


def _tables_repeat(plays: Sequence[Play]) -> Iterator[Fault]:
    for (table, deal), ats in _clashes((play.table, (play.deal,), at) for at, play in enumerate(plays)):
        yield Fault("table_repeats_deal", f"table {table} has deal {deal} twice", ats)


def _players_in_two_places(plays: Sequence[Play]) -> Iterator[Fault]:
    for (round_, player), ats in _clashes((play.round, play.players.values(), play.table) for play in plays):
        yield Fault("player_at_two_tables", f"player {player} sits twice in round {round_}", ats)


def _players_repeat(plays: Sequence[Play]) -> Iterator[Fault]:
    for (deal, player), ats in _clashes((play.deal, play.players.values(), at) for at, play in enumerate(plays)):
        yield Fault("player_repeats_deal", f"player {player} plays deal {deal} twice", ats)


def _once(play: Play) -> set[int | str]:
    return set(play.players.values())


def _clashes(
    seen: Iterable[tuple[K, Collection[L], int]], most: int = 1
) -> Iterator[tuple[tuple[K, L], tuple[int, ...]]]:
    """Give what is seen at more than `most` places, with one play (the first) of each place.

    Of each play `seen` says when or with what, who or what was seen, and where.
    """
    listed = list(seen)
    if _all_differ(listed):
        return
    places: dict[tuple[K, L], dict[int, int]] = {}
    for at, (when, what, place) in enumerate(listed):
        for one in what:
            places.setdefault((when, one), {}).setdefault(place, at)
    yield from ((key, tuple(sorted(at.values()))) for key, at in places.items() if len(at) > most)


def _all_differ(seen: Iterable[tuple[K, Collection[L], int]]) -> bool:
    """Say whether nothing is there twice, as in nearly every movement: of many thousand plays that is soon said."""
    found: defaultdict[K, set[L]] = defaultdict(set)
    count = 0
    for when, what, _ in seen:
        found[when].update(what)
        count += len(what)
    return sum(map(len, found.values())) == count


def _strangers(plays: Sequence[Play], team_of: Mapping[int | str, str]) -> Iterator[Fault]:
    for at, play in enumerate(plays):
        for player in sorted(_once(play) - set(team_of), key=str):
            yield Fault("player_without_team", f"{player} is in no team", (at,))


def _team_seats(plays: Sequence[Play], team_of: Mapping[int | str, str]) -> Iterator[Fault]:
    sat: dict[tuple[int, str], list[tuple[Seat, int]]] = {}
    for at, play in enumerate(plays):
        for seat, player in play.players.items():
            if player in team_of:
                sat.setdefault((play.deal, team_of[player]), []).append((seat, at))
    for (deal, team), found in sat.items():
        if sorted(seat for seat, _ in found) != sorted(SEATS):
            text = f"deal {deal}: {team} does not sit once at each seat"
            yield Fault("team_incomplete", text, tuple(sorted({at for _, at in found})))


def _team_crowds(plays: Sequence[Play], team_of: Mapping[int | str, str], teams: int) -> Iterator[Fault]:
    for at, play in enumerate(plays):
        for team, count in Counter(team_of[p] for p in play.players.values() if p in team_of).items():
            if count > most_together(teams):
                text = f"round {play.round} table {play.table}: {count} players of {team} sit together"
                yield Fault("teammates_meet", text, (at,))
