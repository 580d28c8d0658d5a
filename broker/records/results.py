"""All plays of an event as rows, one a play and seat; and one for each player who has IMPs of no play."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from broker.contract.words import SEATS, Seat, WinKind
from broker.scorer.cells import Cell, as_csv, decimal
from broker.scorer.origins import UNKNOWN, Origin
from broker.scorer.rulings.laying import Laid
from broker.scorer.stored import Stored
from broker.scoring.compare import Exact, Group
from broker.scoring.plays import Adjustment, ScoredPlay, table_of

HEADER: Final = (
    *("event", "round", "table", "deal", "form", "seat", "player", "name", "points", "hand_value", "win"),
    *("discarder", "datum", "imp", "fine", "award"),
    *("sat", "country", "club"),
    *("instead",),
)
"""New columns come last: programs count columns.

`sat`: the substitute who really sat there. `instead`: what was ruled in the place of a result.
"""

PlayKey = tuple[int, int]
"""Deal and table."""


class Told(Struct, frozen=True):
    """What the store knows of a play beyond its points."""

    round: int
    win: WinKind | None
    winners: Mapping[Seat, int]
    discarder: Seat | None
    instead: str = ""
    """The word for what was ruled in the place of a result."""


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
            told.instead if told else None,
        )


class OfNoPlay(Struct, frozen=True):
    """What a player was given and fined of no play."""

    event: str
    name: str
    of: Adjustment
    origin: Origin = UNKNOWN

    def cells(self) -> tuple[Cell, ...]:
        """Give the cells under HEADER: those of a play are empty."""
        known = {"event": self.event, "player": self.of.name, "name": self.name}
        given = {"fine": self.of.fine, "award": decimal(self.of.imp)}
        origin = dict(zip(Origin._fields, self.origin, strict=True))
        return tuple({**known, **given, **origin}.get(column) for column in HEADER)


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
    known = told or {}
    for group in groups:
        for one in group.plays:
            for seat in SEATS:
                name, of = name_of(one.play.players[seat]), known.get((one.play.deal, one.play.table))
                yield Row(event, one.play, seat, name, group.datum[seat], one.imp[seat], of)
    for play in sorted(unplayed, key=lambda play: (play.deal, play.table)):
        for seat in SEATS:
            of = known.get((play.deal, play.table))
            yield Row(event, play, seat, name_of(play.players[seat]), None, None, of)


def of_no_play(
    beside: Iterable[Adjustment], *, event: str = "", name_of: Callable[[str], str] = str
) -> Iterator[OfNoPlay]:
    """Give a row for each who was given or fined something of no play."""
    return (OfNoPlay(event, name_of(one.name), one) for one in beside if one.imp or one.fine)


def of_event(stored: Stored, *, embargoed: bool = False) -> list[Row | OfNoPlay]:
    """Give the rows of an event; those of deals that a table has still to play only if asked for.

    All that a player has of them, `imp - fine + award`, is what the standings of these deals give.
    """
    counted = list(stored.counted(embargoed=embargoed))
    told = {(play.deal, play.table): _told(stored, laid) for laid, play in counted}
    unplayed = [play for _, play in counted if play.points is None]
    shown = [group for group in stored.room.groups() if embargoed or not stored.embargoed(group.deal)]
    event, name_of = stored.event.name, _names(stored)
    listed = rows(shown, unplayed, event=event, name_of=name_of, told=told)
    beside = of_no_play(stored.beside(), event=event, name_of=name_of)
    return [
        *(_with_person(row, stored) for row in listed),
        *(replace(row, origin=stored.event.origin_of(row.of.name)) for row in beside),
    ]


def _with_person(row: Row, stored: Stored) -> Row:
    """Add who sat there, and where the player comes from."""
    player = row.play.players[row.seat]
    sat = stored.sat(player, row.told.round) if row.told else None
    return replace(row, sat=sat, origin=stored.event.origin_of(player))


def _told(stored: Stored, laid: Laid) -> Told:
    if laid.points is None:  # of a result that does not count nothing is told
        return Told(laid.round, None, {}, None, stored.instead(laid))
    return Told(laid.round, laid.win or "draw", laid.winners, laid.discarder)


def _names(stored: Stored) -> Callable[[str], str]:
    players = stored.event.players
    return lambda player: players[player].name if player in players else player


def written(listed: Iterable[Row | OfNoPlay]) -> str:
    """Write the rows as CSV."""
    return as_csv(HEADER, (row.cells() for row in listed))
