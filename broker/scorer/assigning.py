"""What a table is to play, as the room has it now: its retained plan."""

from broker.scorer.outgoing import Outgoing, Speaker
from broker.scorer.room import Room
from broker.scorer.rulings import absences


def assigned(room: Room, speaker: Speaker, table: int, height: int) -> Outgoing:
    """Give a table's plan: its riichi session, or the rounds with who sits there and what is settled already."""
    event = room.event
    if session := room.riichi.present(event.riichi, table):
        return speaker.riichi(session, room.riichi.planned(session, event.players), height)
    replanned = room.replanned(table)
    return speaker.assignment(
        table,
        height,
        plays=absences.with_substitutes(room.book, event.plays_of(table, replanned)),
        minutes=event.minutes_of(table),
        recorded=room.recorded(table),
        settled=room.settled(table),
        repeats=room.seatings.to_come(event, table, replanned),
    )
