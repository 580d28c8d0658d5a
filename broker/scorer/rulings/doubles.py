"""Plays of one deal that counts twice for somebody, as another deal was played than planned, or by others. Pure.

Such a play is never left out by itself. Until an arbiter has ruled on it, nothing is final.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from broker.contract.messages import LogMessage
from broker.contract.words import Seat
from broker.scorer.event import Event
from broker.scorer.rulings.entry import PlayKey
from broker.scorer.rulings.laying import Laid, result_of


class Double(Struct, frozen=True):
    """A play that counts although some of its players have played its deal in an earlier round."""

    table: int
    round: int
    deal: int
    seats: Mapping[Seat, str]
    again: tuple[str, ...]
    """The players who had played it."""


def doubles(event: Event, results: Mapping[PlayKey, LogMessage], ruled: Mapping[PlayKey, Laid]) -> tuple[Double, ...]:
    """Name every such play, by rounds. `ruled`: plays on which something was ruled, as they count.

    Void or adjusted it counts no longer; with an award, be it of nothing, for each of those who had played the deal,
    an arbiter has ruled that it stands.
    """
    deals = {laid.deal for key, laid in ruled.items() if out_of_place(event, key, laid)}
    found = [one for deal in deals for one in _of_deal(event, deal, results, ruled)]
    return tuple(sorted(found, key=lambda one: (one.round, one.table)))


def out_of_place(event: Event, key: PlayKey, laid: Laid) -> bool:
    """Say whether another deal was played than planned, or by other players."""
    return laid.deal != laid.planned or set(laid.players.values()) != set(event.bookings[key].players.values())


def _of_deal(
    event: Event, deal: int, results: Mapping[PlayKey, LogMessage], ruled: Mapping[PlayKey, Laid]
) -> Iterator[Double]:
    plays: dict[PlayKey, Mapping[Seat, str]] = {
        key: laid.players for key, laid in ruled.items() if laid.deal == deal and laid.was_played
    }
    unruled = (key for key in event.plays_with(deal) if key in results and key not in ruled)
    plays |= {key: result_of(results[key]).players for key in unruled}
    played: set[str] = set()
    for table, round_ in sorted(plays, key=lambda key: (key[1], key[0])):
        seats = plays[table, round_]
        again = played & set(seats.values())
        laid = ruled.get((table, round_))
        counts = laid is None or (laid.points is not None and not again <= laid.awards.keys())
        if again and counts:
            yield Double(table, round_, deal, seats, tuple(sorted(again)))
        played |= set(seats.values())
