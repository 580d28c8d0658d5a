"""All plays of an event: as CSV, one row per play and seat, and as JSON lines for `homologue score`.

And what the next event begins from: the standings, with all that its list of players and teams needs.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.event import (
    DETAILS,
    UNKNOWN_ORIGIN,
    BookedPlay,
    Brought,
    EarlierLine,
    Event,
    ListedPlayer,
    Origin,
    current_players,
    read_saved_players,
)
from broker.protocol import SEATS, Seat, WinKind
from broker.rulings import CountedPlay
from broker.scorer import StoredEvent
from broker.scoring import Adjustment, ComparisonGroup, Exact, ScoredPlay, json_imp, real_table
from broker.spreadsheet import CsvCell, csv_text, decimal

HEADER: Final = (
    *("event", "round", "table", "deal", "form", "seat", "player", "name", "points", "hand_value", "win"),
    *("discarder", "datum", "imp", "fine", "award"),
    *("sat", "country", "club"),
    *("instead",),
)
"""New columns come last: programs count columns.

`sat`: the substitute who really sat there. `instead`: what was ruled in place of a result.
"""

PlayKey = tuple[int, int]
"""Deal and table."""

LABEL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A section's name that `homologue score` reads."""


class PlayDetails(Struct, frozen=True):
    """What the store knows of a play beyond its points."""

    round: int
    win: WinKind | None
    winners: Mapping[Seat, int]
    discarder: Seat | None
    instead: str = ""
    """The word for what was ruled in place of a result."""


class ResultRow(Struct, frozen=True):
    """One seat of one play. `imp` is what the comparison gave: fine and award stand beside it, as they are."""

    event: str
    play: ScoredPlay
    seat: Seat
    name: str
    datum: Fraction | None
    imp: Exact | None
    told: PlayDetails | None
    sat: str | None = None
    origin: Origin = UNKNOWN_ORIGIN

    def cells(self) -> tuple[CsvCell, ...]:
        """Return the cells under HEADER."""
        play, told = self.play, self.told
        return (
            *(self.event, told.round if told else None, real_table(play), play.deal, play.form, self.seat),
            *(play.players[self.seat], self.name, play.points[self.seat] if play.points else None),
            *(told.winners.get(self.seat) if told else None, told.win if told else None),
            *(told.discarder if told else None, _decimal(self.datum), _decimal(self.imp)),
            *(play.fines.get(self.seat, 0), play.awards.get(self.seat, 0)),
            *(self.sat, *self.origin),
            told.instead if told else None,
        )


class OutsidePlaysRow(Struct, frozen=True):
    """What a player was given and fined of no play."""

    event: str
    name: str
    of: Adjustment
    origin: Origin = UNKNOWN_ORIGIN

    def cells(self) -> tuple[CsvCell, ...]:
        """Return the cells under HEADER: those of a play are empty."""
        known = {"event": self.event, "player": self.of.name, "name": self.name}
        given = {"fine": self.of.fine, "award": decimal(self.of.imp)}
        origin = dict(zip(Origin._fields, self.origin, strict=True))
        return tuple({**known, **given, **origin}.get(column) for column in HEADER)


def _decimal(number: Exact | None) -> CsvCell:
    return None if number is None else decimal(number)


def result_rows(
    groups: Iterable[ComparisonGroup],
    unplayed: Iterable[ScoredPlay] = (),
    *,
    event: str = "",
    name_of: Callable[[str], str] = str,
    told: Mapping[PlayKey, PlayDetails] | None = None,
) -> Iterator[ResultRow]:
    """Return the rows of compared plays, then of those without points, by deal and table."""
    known = told or {}
    for group in groups:
        for one in group.plays:
            for seat in SEATS:
                name, of = name_of(one.play.players[seat]), known.get((one.play.deal, one.play.table))
                yield ResultRow(event, one.play, seat, name, group.datum[seat], one.imp[seat], of)
    for play in sorted(unplayed, key=lambda play: (play.deal, play.table)):
        for seat in SEATS:
            of = known.get((play.deal, play.table))
            yield ResultRow(event, play, seat, name_of(play.players[seat]), None, None, of)


def outside_plays_rows(
    beside: Iterable[Adjustment], *, event: str = "", name_of: Callable[[str], str] = str
) -> Iterator[OutsidePlaysRow]:
    """Return a row for each who was given or fined something of no play."""
    return (OutsidePlaysRow(event, name_of(one.name), one) for one in beside if one.imp or one.fine)


def event_result_rows(stored: StoredEvent, *, embargoed: bool = False) -> list[ResultRow | OutsidePlaysRow]:
    """Return the rows of an event; those of deals that a table has still to play only if asked for.

    All that a player has of them, `imp - fine + award`, is what the standings of these deals give.
    """
    counted = list(stored.counted(embargoed=embargoed))
    told = {(play.deal, play.table): _details(stored, laid) for laid, play in counted}
    unplayed = [play for _, play in counted if play.points is None]
    shown = [group for group in stored.room.groups() if embargoed or not stored.embargoed(group.deal)]
    event, name_of = stored.event.name, stored.event.name_of
    listed = result_rows(shown, unplayed, event=event, name_of=name_of, told=told)
    beside = outside_plays_rows(stored.beside(), event=event, name_of=name_of)
    return [
        *(_with_person(row, stored) for row in listed),
        *(replace(row, origin=stored.event.origin_of(row.of.name)) for row in beside),
    ]


def _with_person(row: ResultRow, stored: StoredEvent) -> ResultRow:
    """Add who sat there, and where the player comes from."""
    player = row.play.players[row.seat]
    sat = stored.sat(player, row.told.round) if row.told else None
    return replace(row, sat=sat, origin=stored.event.origin_of(player))


def _details(stored: StoredEvent, laid: CountedPlay) -> PlayDetails:
    if laid.points is None:  # of a result that does not count nothing is told
        return PlayDetails(laid.round, None, {}, None, stored.instead(laid))
    return PlayDetails(laid.round, laid.win or "draw", laid.winners, laid.discarder)


def results_csv(listed: Iterable[ResultRow | OutsidePlaysRow]) -> str:
    """Write the rows as CSV."""
    return csv_text(HEADER, (row.cells() for row in listed))


Line = dict[str, Any]


def play_lines(stored: StoredEvent, *, embargoed: bool = False) -> str:
    """Return a line for each play of the event as it counts, by deal and table; then what counts beside all plays.

    Of an event that begins from the standings of another what is carried over is there too, and who has no standing.

    Those that have no result yet are still to come; and so are, unless asked for, those of a deal that a table has
    still to play: what is known of them is nobody's to know.
    """
    return "".join(msgspec.json.encode(line).decode() + "\n" for line in _lines(stored, embargoed=embargoed))


def _lines(stored: StoredEvent, *, embargoed: bool) -> Iterator[Line]:
    counted = {(laid.table, laid.round): play for laid, play in stored.counted(embargoed=embargoed)}
    plays = [_line(stored, planned, counted.get((planned.table, planned.round))) for planned in stored.event.plan.plays]
    yield from sorted(plays, key=lambda line: (line["deal"], line["table"]))
    yield from _of_players(stored, {player for line in plays for player in line["players"].values()})
    yield from _of_teams(stored.event)


def _line(stored: StoredEvent, planned: BookedPlay, play: ScoredPlay | None) -> Line:
    """Return the line of a planned play, `play` being what counts of it and may be told."""
    laid, section = stored.room.play((planned.table, planned.round)), _section(stored.event, planned)
    if play is None and laid.settled:  # a table may have played another deal: that is told with its result
        return {"deal": planned.deal, "table": planned.table, "players": planned.players} | section
    line = {"deal": laid.deal, "table": laid.table, "players": laid.players} | section
    moved = laid.deal != planned.deal or laid.players != planned.players
    return line | (_ruled(laid, play) if play else {}) | ({"out_of_place": True} if moved else {})


def _section(event: Event, planned: BookedPlay) -> Line:
    """Return the section in which a play is compared; one whose name is no label, by the number of its first table."""
    name = event.section_at(planned.table, planned.round)
    if name is None:
        return {}
    if LABEL.fullmatch(name):
        return {"section": name}
    stage = next(one for one in event.plan.stages if planned.round in one.rounds)
    return {"section": f"from-table-{next(one.first_table for one in stage.sections if one.name == name)}"}


def _ruled(laid: CountedPlay, play: ScoredPlay) -> Line:
    """Return what counts of a play. Of an unplayed one every award is said: the profile's would be added else."""
    if play.points is not None:
        told: Line = {"points": play.points, "awards": play.awards, "fines": play.fines, "form": play.form}
    elif laid.settled:
        awards = {seat: play.awards.get(seat, 0) for seat in SEATS}
        told = {"unplayed": "nobody", "awards": awards, "fines": play.fines}
    else:
        told = {"awards": play.awards, "fines": play.fines}
    return {key: value for key, value in told.items() if value}


def _of_players(stored: StoredEvent, playing: set[str]) -> Iterator[Line]:
    """Return what players have of no play, and name those who are ranked without a play."""
    event, beside = stored.event, {one.name: one for one in stored.beside()}
    before = _carried(event.brought("individual"))
    guests = {one.id for one in event.guests}
    for player in sorted({*beside, *before, *guests, *event.players.keys() - playing}):
        one = beside.get(player)
        given = {"award": one.imp, "fine": one.fine} if one else {}
        said = {**given, **before.get(player, {}), "without_standing": player in guests}
        yield {"player": player} | {key: value for key, value in said.items() if value}


def _of_teams(event: Event) -> Iterator[Line]:
    before, guests = _carried(event.brought("team")), event.without_standing & event.plan.teams.keys()
    for team in sorted({*before, *guests}):
        yield {"team": team} | before.get(team, {}) | ({"without_standing": True} if team in guests else {})


def _carried(before: Brought) -> dict[str, Line]:
    """Return what an earlier event has left, by players or teams."""
    lines: dict[str, Line] = {name: {"place_before": place} for name, place in before.places.items()}
    for one in before.adjustments:
        lines.setdefault(one.name, {})["carried"] = json_imp(one.imp)
    return lines


NEXT_EVENT_HEADER: Final = ("event", "place", "team", "player", "name", "imp", *DETAILS)


def next_event_lines(folder: Path, stored: StoredEvent) -> list[EarlierLine]:
    """Return the standings of an event that was read from `folder`, the best first; of teams with their players."""
    event, room = stored.event, stored.room
    listed = {one.player.id: one for one in current_players(event, read_saved_players(folder, event.plan))}
    title = event.plan.title
    if teams := room.team_rows():
        members = {row.team: [listed[player] for player in event.plan.teams[row.team]] for row in teams}
        return [
            EarlierLine(
                row.place,
                row.imp,
                team=row.team,
                event=title,
                members=tuple(_person(one, row.place, row.imp, title) for one in members[row.team]),
            )
            for row in teams
        ]
    return [_person(listed[row.player], row.place, row.imp, title) for row in room.snapshot().standings]


def _person(one: ListedPlayer, place: int, imp: int | str, title: str) -> EarlierLine:
    return replace(EarlierLine(place, imp, one.player.id, name=one.player.name, event=title), **one.details)


def next_event_csv(folder: Path, stored: StoredEvent) -> str:
    """Write the list for set-up and `homologue event previous`: a row for each player, a team's beside each other."""
    return csv_text(
        NEXT_EVENT_HEADER,
        (
            (one.event, line.place, line.team, one.player, one.name, _exact(line.imp), *one.details.values())
            for line in next_event_lines(folder, stored)
            for one in line.people
        ),
    )


def _exact(imp: int | str) -> CsvCell:
    """Return IMPs as a number where three places hold them; else as a fraction that no spreadsheet takes for a day."""
    rounded = decimal(imp)
    return rounded if Fraction(rounded) == Fraction(imp) else f"'{Fraction(imp)}"
