"""Consequences for later rounds when a table played another deal than planned, or other players played it.

None of them is applied automatically. Players who have played a deal know it. So every play to come in which somebody
would meet a deal again is listed, with what an arbiter may do: let the table play a deal that nobody there knows, give
an award instead, or leave it out. If it was played nevertheless it counts, and stays listed until an arbiter has ruled
on it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from broker.event import Event
from broker.protocol import Adjusted, Award, DealPlayed, Fault, Seat, Void
from broker.rulings.model import CountedPlay
from broker.scorer import EventState, RepeatedDeal

Proposal = DealPlayed | Adjusted | Award | Void


class FollowUp(Struct, frozen=True):
    """A play in which somebody meets a deal again: still to come and not playable as planned, or already played."""

    table: int
    round: int
    deal: int
    seats: Mapping[Seat, str]
    again: tuple[str, ...]
    """Players who have played this deal before."""
    proposals: tuple[Proposal, ...]
    """The best first."""
    played: bool = False


class MissedDeal(Struct, frozen=True):
    """A deal that some players will not play, because another was played instead."""

    table: int
    round: int
    deal: int
    players: tuple[str, ...]


class SeatedTwice(Struct, frozen=True):
    """A play whose players, by a ruling, sat at another table in that round, so an arbiter must rule who sat here."""

    table: int
    round: int
    elsewhere: int
    players: tuple[str, ...]


def seated_twice(state: EventState) -> tuple[SeatedTwice, ...]:
    """Return the plays whose players are ruled to have sat elsewhere in that round, as when two tables were swapped."""
    moved = {(play.table, play.round): play for play in state.out_of_place() if not play.settled or play.was_played}
    found = {}
    for key in state.planned.bookings if moved else ():
        if key in moved:
            continue
        here = state.play(key)
        for play in moved.values():
            shared = {*here.players.values()} & {*play.players.values()}
            if play.round == here.round and shared:
                found[key] = SeatedTwice(here.table, here.round, play.table, tuple(sorted(shared)))
    return tuple(found.values())


def missed_deals(state: EventState) -> tuple[MissedDeal, ...]:
    """Return the deals that were not played where they were planned, and who has not played them."""
    return tuple(
        MissedDeal(play.table, play.round, play.planned, tuple(sorted(play.players.values())))
        for play in state.out_of_place()
        if play.deal != play.planned
    )


def follow_ups(event: Event, state: EventState) -> tuple[FollowUp, ...]:
    """Return every play in which somebody meets a deal again and that is not ruled on, by rounds."""
    out_of_place = state.out_of_place()
    unplayed = sorted({play.planned for play in out_of_place if play.deal != play.planned})
    known = _players_of(state, {play.deal for play in out_of_place} | set(unplayed))
    found = [_played_again(one) for one in state.snapshot().doubles]
    for deal in sorted({play.deal for play in out_of_place}):
        for key in state.plays_with(deal):
            play = state.play(key)
            repeating = sorted(known[deal].played & set(play.players.values()))
            if not play.settled and repeating:
                found.append(_follow_up(event, play, repeating, [one for one in unplayed if known[one].free(play)]))
    return tuple(sorted(found, key=lambda one: (one.round, one.table)))


class _DealKnowledge:
    """The players who have played a deal, and those who are to play it, with their tables and rounds."""

    def __init__(self, plays: Iterable[CountedPlay]) -> None:
        self.played: set[str] = set()
        self._to_come: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
        for play in plays:
            for player in play.players.values():
                if play.was_played:
                    self.played.add(player)
                elif not play.settled:
                    self._to_come[player].add((play.table, play.round))

    def free(self, play: CountedPlay) -> bool:
        """Return whether no player of a play knows the deal or is to play it elsewhere."""
        here = (play.table, play.round)
        return all(one not in self.played and self._to_come[one] <= {here} for one in play.players.values())


def _players_of(state: EventState, deals: Iterable[int]) -> dict[int, _DealKnowledge]:
    return {deal: _DealKnowledge(state.play(key) for key in state.plays_with(deal)) for deal in deals}


def _played_again(one: RepeatedDeal) -> FollowUp:
    faults: dict[str, Fault] = {player: "own" if player in one.again else "others" for player in one.seats.values()}
    proposals: tuple[Proposal, ...] = (
        Adjusted(gives=dict(faults)),
        Adjusted(gives=dict.fromkeys(faults, "nobody")),
        Void(),
        Award(gives=dict.fromkeys(faults, 0)),
    )
    return FollowUp(one.table, one.round, one.deal, one.seats, one.again, proposals, played=True)


def _follow_up(event: Event, play: CountedPlay, repeating: list[str], unplayed: list[int]) -> FollowUp:
    faults: dict[str, Fault] = {one: "own" if one in repeating else "others" for one in play.players.values()}
    other_deals = [DealPlayed(played=deal, result=None) for deal in unplayed if deal in event.expected]
    proposals: tuple[Proposal, ...] = (
        *other_deals,
        Adjusted(gives=dict(faults)),
        Adjusted(gives=dict.fromkeys(faults, "nobody")),
        Void(),
    )
    return FollowUp(play.table, play.round, play.deal, play.players, tuple(repeating), proposals)
