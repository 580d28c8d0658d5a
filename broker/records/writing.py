"""Records into PMN: one way to write each."""

from collections.abc import Iterable

from broker.contract.words import SEATS
from broker.records.fans import write_fans
from broker.records.reading import SCORINGS
from broker.records.record import Record, Tiles
from broker.records.steps import write_play
from broker.records.tags import UNKNOWN, plain, write_tags
from broker.records.tiles import write_hand, write_wall


def write(records: Iterable[Record], notes: Iterable[str] = ()) -> str:
    """Write records, a blank line between them; then as comments what PMN has no record for."""
    return "\n".join((*map(write_one, records), *map(write_note, notes)))


def write_note(note: str) -> str:
    """Write a text as a comment, line by line."""
    return "".join(f"% {plain(line)}\n" for line in note.splitlines())


def write_one(record: Record) -> str:
    """Write one record: all tags of PMN in their order, then those of ours that are known."""
    tags = {
        "Event": plain(record.event),
        "Site": plain(record.site),
        "Date": plain(record.date),
        "Board": str(record.board),
        "PWind": record.prevalent_wind[0].upper(),
        **{seat.capitalize(): plain(record.players[seat]) for seat in SEATS},
        "Deal": " ".join(write_hand(record.hands[seat]) for seat in SEATS) if record.hands else UNKNOWN,
        "Scoring": SCORINGS[0],
        "Starting": "0 0 0 0",
        "Result": " ".join(str(record.points[seat]) for seat in SEATS),
        "Penalty": " ".join(str(-record.fines.get(seat, 0)) for seat in SEATS),
        "Play": UNKNOWN if record.steps is None else write_play(record.steps),
        "Fan": " ".join(write_fans(record.fans.get(seat, ())) for seat in SEATS),
        **_ours(record),
    }
    return write_tags(tags)


def _ours(record: Record) -> dict[str, str]:
    known = {
        "Walls": _walls(record.walls),
        "Dealer": record.dealer,
        "Table": record.table,
        "Round": record.round,
        "Profile": record.profile,
    }
    return {name: str(value) for name, value in known.items() if value is not None}


def _walls(walls: Tiles | None) -> str | None:
    return " ".join(write_wall(walls[seat]) for seat in SEATS) if walls else None
