"""All plays of an event as rows: one a play and seat."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from broker.contract.words import SEATS, Seat, WinKind
from broker.scorer.cells import Cell, as_csv, decimal
from broker.scorer.origins import UNKNOWN, Origin
from broker.scorer.rulings.laying import Laid, table_of
from broker.scorer.stored import Stored
from broker.scoring.compare import Exact, Group
from broker.scoring.plays import ScoredPlay

HEADER: Final = (
    *("event", "round", "table", "deal", "form", "seat", "player", "name", "points", "hand_value", "win"),
    *("discarder", "datum", "imp", "fine", "award"),
    *("sat", "country", "club"),
)
"""New columns come last: programs count columns. `sat`: the substitute who really sat there."""

PlayKey = tuple[int, int]
"""Deal and table."""


class Told(Struct, frozen=True):
    """What the store knows of a play beyond its points."""

    round: int
    win: WinKind
    winners: Mapping[Seat, int]
    discarder: Seat | None


class Row(Struct, frozen=True):
    """One seat of one play. `imp` is what the comparison gave: fine and award stand beside it, as they are."""

    event: str
    play: ScoredPlay
    seat: Seat
    name: str
    datum: Fraction | None
    imp: Exact | None
    told: Told | None
    sat: str | None = None
    origin: Origin = UNKNOWN

    def cells(self) -> tuple[Cell, ...]:
        """Give the cells under HEADER."""
        play, told = self.play, self.told
        return (
            *(self.event, told.round if told else None, table_of(play), play.deal, play.form, self.seat),
            *(play.players[self.seat], self.name, play.points[self.seat] if play.points else None),
            *(told.winners.get(self.seat) if told else None, told.win if told else None),
            *(told.discarder if told else None, _decimal(self.datum), _decimal(self.imp)),
            *(play.fines.get(self.seat, 0), play.awards.get(self.seat, 0)),
            *(self.sat, *self.origin),
        )


def _decimal(number: Exact | None) -> Cell:
    return None if number is None else decimal(number)


def rows(
    groups: Iterable[Group],
    unplayed: Iterable[ScoredPlay] = (),
    *,
    event: str = "",
    name_of: Callable[[str], str] = str,
    told: Mapping[PlayKey, Told] | None = None,
) -> Iterator[Row]:
    """Give the rows of compared plays, then of those without points, by deal and table."""
    for group in groups:
        for one in group.plays:
            for seat in SEATS:
                known = (told or {}).get((one.play.deal, one.play.table))
                name = name_of(one.play.players[seat])
                yield Row(event, one.play, seat, name, group.datum[seat], one.imp[seat], known)
    for play in sorted(unplayed, key=lambda play: (play.deal, play.table)):
        for seat in SEATS:
            yield Row(event, play, seat, name_of(play.players[seat]), None, None, None)


def of_event(stored: Stored, *, embargoed: bool = False) -> list[Row]:
    """Give the rows of an event; those of deals that a table has still to play only if asked for."""
    told = {(laid.deal, laid.line): _told(laid) for _, laid in stored.played()}
    shown = [group for group in stored.room.groups() if embargoed or not stored.embargoed(group.deal)]
    listed = rows(shown, event=stored.event.name, name_of=_names(stored), told=told)
    return [_with_person(row, stored) for row in listed]


def _with_person(row: Row, stored: Stored) -> Row:
    """Add who sat there, and where the player comes from."""
    player = row.play.players[row.seat]
    sat = stored.sat(player, row.told.round) if row.told else None
    return replace(row, sat=sat, origin=stored.event.origin_of(player))


def _told(laid: Laid) -> Told:
    return Told(laid.round, laid.win or "draw", laid.winners, laid.discarder)


def _names(stored: Stored) -> Callable[[str], str]:
    players = stored.event.players
    return lambda player: players[player].name if player in players else player


def written(listed: Iterable[Row]) -> str:
    """Write the rows as CSV."""
    return as_csv(HEADER, (row.cells() for row in listed))
