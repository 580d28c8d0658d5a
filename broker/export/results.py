"""All plays of an event: as CSV, one row per play and seat, and as JSON lines for `homologue score`.

Also the file from which a following event starts: the standings, with the data for its list of players and teams.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from broker.event import (
    DETAILS,
    BookedPlay,
    Brought,
    EarlierLine,
    Event,
    ListedPlayer,
    current_players,
    read_saved_players,
)
from broker.protocol import SEATS, Seat
from broker.rulings import CountedPlay
from broker.scorer import StoredEvent
from broker.scoring import Adjustment, ComparisonGroup, ScoredPlay, json_imp, table_of
from broker.spreadsheet import CsvCell, csv_text, decimal

HEADER: Final = (
    *("event", "round", "table", "deal", "form", "seat", "player", "name", "points", "hand_value", "win"),
    *("discarder", "datum", "imp", "fine", "award"),
    *("sat", "country", "club"),
    *("instead",),
)
"""New columns come last, because programs count columns.

`sat`: the substitute who really sat there. `instead`: what was ruled in place of a result."""

LABEL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Section names that `homologue score` accepts."""

Row = dict[str, CsvCell]
"""One seat of one play, by columns of HEADER; missing ones are empty.

`imp` is the result of the comparison, before `fine` and `award`."""


def result_rows(
    groups: Iterable[ComparisonGroup],
    unplayed: Iterable[ScoredPlay] = (),
    details: Callable[[ScoredPlay, Seat], Row] = lambda _play, _seat: {},
) -> Iterator[Row]:
    """Yield the rows of compared plays, then of those without points, by deal and table.

    `details`: returns what else is known about a seat.
    """
    for group in groups:
        for one in group.plays:
            for seat in SEATS:
                compared: Row = {"datum": decimal(group.datum[seat]), "imp": decimal(one.imp[seat])}
                yield _row(one.play, seat) | compared | details(one.play, seat)
    for play in sorted(unplayed, key=lambda play: (play.deal, play.table)):
        yield from (_row(play, seat) | details(play, seat) for seat in SEATS)


def _row(play: ScoredPlay, seat: Seat) -> Row:
    player, points = play.players[seat], play.points
    return {
        "table": table_of(play),
        "deal": play.deal,
        "form": play.form,
        "seat": seat,
        "player": player,
        "name": player,
        "points": points[seat] if points else None,
        "fine": play.fines.get(seat, 0),
        "award": play.awards.get(seat, 0),
    }


def outside_plays_rows(adjustments: Iterable[Adjustment]) -> Iterator[Row]:
    """Yield a row for each player with an award or fine that belongs to no play."""
    for one in adjustments:
        if one.imp or one.fine:
            yield {"player": one.name, "name": one.name, "fine": one.fine, "award": decimal(one.imp)}


def event_result_rows(stored: StoredEvent, *, embargoed: bool = False) -> list[Row]:
    """Return the rows of an event; those of deals that a table has still to play only if `embargoed`.

    The sum of a player's `imp - fine + award` is what the standings show for these deals.
    """
    pairs = list(stored.counted(embargoed=embargoed))
    counted_at = {(play.deal, play.table): counted for counted, play in pairs}
    unplayed = [play for _, play in pairs if play.points is None]
    shown = [group for group in stored.state.groups() if embargoed or not stored.embargoed(group.deal)]

    def details(play: ScoredPlay, seat: Seat) -> Row:
        player, counted = play.players[seat], counted_at.get((play.deal, play.table))
        return _player_columns(stored, player) | (_play_columns(stored, counted, seat, player) if counted else {})

    outside = [row | _player_columns(stored, str(row["player"])) for row in outside_plays_rows(stored.adjustments())]
    return [*result_rows(shown, unplayed, details), *outside]


def _player_columns(stored: StoredEvent, player: str) -> Row:
    """Return a player's name and origin."""
    event = stored.event
    return {"event": event.name, "name": event.name_of(player), **event.origin_of(player)._asdict()}


def _play_columns(stored: StoredEvent, counted: CountedPlay, seat: Seat, player: str) -> Row:
    row: Row = {"round": counted.round, "sat": stored.sat(player, counted.round)}
    if counted.points is None:  # a result that does not count is left out
        return row | {"instead": stored.instead(counted)}
    return row | {"hand_value": counted.winners.get(seat), "win": counted.win or "draw", "discarder": counted.discarder}


def results_csv(rows: Iterable[Row]) -> str:
    """Return the rows as CSV."""
    return csv_text(HEADER, ([row.get(column) for column in HEADER] for row in rows))


Line = dict[str, Any]


def play_lines(stored: StoredEvent, *, embargoed: bool = False) -> str:
    """Return a line for each play of the event as it counts, by deal and table, then for what counts outside plays.

    These include IMPs carried over from an earlier event, and players without standing. Plays without a result are
    still to come. So are, unless `embargoed`, all plays of a deal that a table has still to play, as nothing may be
    known of them.
    """
    return "".join(msgspec.json.encode(line).decode() + "\n" for line in _lines(stored, embargoed=embargoed))


def _lines(stored: StoredEvent, *, embargoed: bool) -> Iterator[Line]:
    public = {(counted.table, counted.round): play for counted, play in stored.counted(embargoed=embargoed)}
    plays = [_line(stored, planned, public.get((planned.table, planned.round))) for planned in stored.event.plan.plays]
    yield from sorted(plays, key=lambda line: (line["deal"], line["table"]))
    yield from _player_lines(stored, {player for line in plays for player in line["players"].values()})
    yield from _team_lines(stored.event)


def _line(stored: StoredEvent, planned: BookedPlay, play: ScoredPlay | None) -> Line:
    """Return the line of a planned play. `play` is what counts of it and may be public."""
    counted, section = stored.state.play((planned.table, planned.round)), _section(stored.event, planned)
    if play is None and counted.settled:  # a table may have played another deal, which is only revealed with its result
        return {"deal": planned.deal, "table": planned.table, "players": planned.players} | section
    line = {"deal": counted.deal, "table": counted.table, "players": counted.players} | section
    moved = counted.deal != planned.deal or counted.players != planned.players
    return line | (_counted_fields(counted, play) if play else {}) | ({"out_of_place": True} if moved else {})


def _section(event: Event, planned: BookedPlay) -> Line:
    """Return the section in which a play is compared. If its name is not a valid label, its first table is used."""
    name = event.section_at(planned.table, planned.round)
    if name is None:
        return {}
    if LABEL.fullmatch(name):
        return {"section": name}
    stage = next(one for one in event.plan.stages if planned.round in one.rounds)
    return {"section": f"from-table-{next(one.first_table for one in stage.sections if one.name == name)}"}


def _counted_fields(counted: CountedPlay, play: ScoredPlay) -> Line:
    """Return what counts of a play. For an unplayed one all awards are given, or the profile's would be added."""
    if play.points is not None:
        fields: Line = {"points": play.points, "awards": play.awards, "fines": play.fines, "form": play.form}
    elif counted.settled:
        awards = {seat: play.awards.get(seat, 0) for seat in SEATS}
        fields = {"unplayed": "nobody", "awards": awards, "fines": play.fines}
    else:
        fields = {"awards": play.awards, "fines": play.fines}
    return {key: value for key, value in fields.items() if value}


def _player_lines(stored: StoredEvent, playing: set[str]) -> Iterator[Line]:
    """Yield what players have outside plays, and the players who are ranked without a play."""
    event, outside = stored.event, {one.name: one for one in stored.adjustments()}
    before = _carried(event.brought("individual"))
    guests = {one.id for one in event.guests}
    for player in sorted({*outside, *before, *guests, *event.players.keys() - playing}):
        one = outside.get(player)
        adjusted = {"award": one.imp, "fine": one.fine} if one else {}
        fields = {**adjusted, **before.get(player, {}), "without_standing": player in guests}
        yield {"player": player} | {key: value for key, value in fields.items() if value}


def _team_lines(event: Event) -> Iterator[Line]:
    before, guests = _carried(event.brought("team")), event.without_standing & event.plan.teams.keys()
    for team in sorted({*before, *guests}):
        yield {"team": team} | before.get(team, {}) | ({"without_standing": True} if team in guests else {})


def _carried(before: Brought) -> dict[str, Line]:
    """Return what is carried over from an earlier event, by player or team."""
    lines: dict[str, Line] = {name: {"place_before": place} for name, place in before.places.items()}
    for one in before.adjustments:
        lines.setdefault(one.name, {})["carried"] = json_imp(one.imp)
    return lines


NEXT_EVENT_HEADER: Final = ("event", "place", "team", "player", "name", "imp", *DETAILS)


def next_event_lines(folder: Path, stored: StoredEvent) -> list[EarlierLine]:
    """Return the standings of an event that was loaded from `folder`, the best first; for teams with their players."""
    event, room = stored.event, stored.state
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
    """Return the list for set-up and `homologue event previous`: a row for each player, grouped by team."""
    return csv_text(
        NEXT_EVENT_HEADER,
        (
            (one.event, line.place, line.team, one.player, one.name, _exact(line.imp), *one.details.values())
            for line in next_event_lines(folder, stored)
            for one in line.people
        ),
    )


def _exact(imp: int | str) -> CsvCell:
    """Return IMPs as a number if three decimals are exact, else as a fraction that no spreadsheet reads as a date."""
    rounded = decimal(imp)
    return rounded if Fraction(rounded) == Fraction(imp) else f"'{Fraction(imp)}"
