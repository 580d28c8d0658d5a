"""What the next event begins from: the standings, with all that its list of players and teams needs."""

from fractions import Fraction
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from broker.event import DETAILS, EarlierLine, ListedPlayer, current_players, read_saved_players
from broker.scorer import StoredEvent
from broker.spreadsheet import CsvCell, csv_text, decimal

HEADER: Final = ("event", "place", "team", "player", "name", "imp", *DETAILS)


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
        HEADER,
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
