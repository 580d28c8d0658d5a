"""The small event with four teams: at each table sits one player of each team, once at each wind of a deal."""

from functools import cache

from msgspec.structs import replace

from broker.event import BookedPlay, Event
from broker.protocol import SEATS, LogMessage, Seat
from broker.rules import Outcome
from tests.broker.scorer.small import OUTCOMES, deals, five, plan, registry, result

TEAMS = {f"Team {letter}": tuple(f"p{4 * at + one:02}" for one in range(1, 5)) for at, letter in enumerate("ABCD")}


def seated(table: int, round_: int) -> dict[Seat, str]:
    """Return who sits at a table in a round."""
    teams = list(TEAMS.values())
    return {seat: teams[(at + table) % 4][(table + 2 * round_) % 4] for at, seat in enumerate(SEATS)}


@cache
def team_event() -> Event:
    """Return the checked event."""
    plays = tuple(
        BookedPlay(round_, table, (table + round_) % 4 + 1, seated(table, round_))
        for round_ in range(1, 5)
        for table in range(1, 5)
    )
    return Event(replace(plan(), plays=plays, teams=TEAMS), deals(), registry())


def said(table: int, round_: int, hand_value: int | None = None) -> list[LogMessage]:
    """Return a fact about a play of this event: with a hand value, the result of a win by East on North's discard."""
    booking = team_event().bookings[table, round_]
    outcome = Outcome("discard", {"east": hand_value}, "north") if hand_value else None
    one = result(table, round_, outcome or OUTCOMES[(table * round_) % len(OUTCOMES)])
    return five(table, replace(one, deal=booking.deal, players=dict(booking.players)))
