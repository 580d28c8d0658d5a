"""Where each player sits in each round, as the plan has it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from broker.event.plan import BookedPlay, Plan, RiichiBooking
from broker.protocol import PlayerId, Seat, Session


class SeatingPlace(NamedTuple):
    """One player's seat in one round. `session`: the one that the round is in, if the plan has sessions."""

    round: int
    table: int
    seat: Seat
    session: Session | None


class TableOfRound(NamedTuple):
    """Who sits at one table in one round."""

    round: int
    table: int
    players: Mapping[Seat, PlayerId]


def seating_of(plan: Plan) -> Mapping[PlayerId, tuple[SeatingPlace, ...]]:
    """Return each player's places by round, riichi sessions included; who sits nowhere has none."""
    found: dict[PlayerId, list[SeatingPlace]] = {player.id: [] for player in plan.players}
    sessions = _sessions_by_round(plan)
    for one in tables_of_rounds(plan):
        for seat, player in one.players.items():
            found[player].append(SeatingPlace(one.round, one.table, seat, sessions.get(one.round)))
    return {player: tuple(places) for player, places in found.items()}


def places_of(plan: Plan, player: PlayerId) -> tuple[SeatingPlace, ...]:
    """Return one player's places by round, without those of all others being made for it."""
    sessions = _sessions_by_round(plan)
    return tuple(
        sorted(
            SeatingPlace(one.round, one.table, seat, sessions.get(one.round))
            for one in _booked(plan)
            for seat, sitting in one.players.items()
            if sitting == player
        )
    )


def _booked(plan: Plan) -> tuple[BookedPlay | RiichiBooking, ...]:
    return (*plan.plays, *plan.riichi)


def _sessions_by_round(plan: Plan) -> Mapping[int, Session]:
    return {
        round_: session for session in plan.sessions for round_ in range(session.first_round, session.last_round + 1)
    }


def tables_of_rounds(plan: Plan) -> list[TableOfRound]:
    """Return all tables of all rounds, in order, riichi sessions included."""
    listed = [TableOfRound(one.round, one.table, one.players) for one in _booked(plan)]
    return sorted(listed, key=lambda one: (one.round, one.table))


def seating_rounds(plan: Plan) -> tuple[int, ...]:
    """Return the rounds in which somebody sits somewhere."""
    return tuple(sorted({one.round for one in tables_of_rounds(plan)}))


def by_round(places: Iterable[SeatingPlace]) -> Mapping[int, SeatingPlace]:
    """Return places by their round."""
    return {one.round: one for one in places}
