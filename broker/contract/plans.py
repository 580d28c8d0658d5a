"""What a table is to do: the plays or the riichi session of its assignment."""

from typing import Annotated

from msgspec import Meta, Struct

from broker.contract.facts import PlayRef
from broker.contract.riichi import RiichiStanding
from broker.contract.words import (
    Count,
    Name,
    PlayerId,
    RoundNo,
    Seat,
    Serial,
    SetNo,
    Wind,
)


class Player(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who sits there."""

    id: PlayerId
    name: Name


Row13 = Annotated[tuple[Serial, ...], Meta(min_length=13, max_length=13)]
Row11 = Annotated[tuple[Serial, ...], Meta(min_length=11, max_length=11)]
Row10 = Annotated[tuple[Serial, ...], Meta(min_length=10, max_length=10)]
Tray = tuple[Row13, Row11, Row10]
"""One seat's 34 serials: the hand, then the wall in two rows, each from the player's left."""


class PlannedPlay(PlayRef, frozen=True, kw_only=True):
    """One play that a table is to do: never a face, only serials."""

    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    players: dict[Seat, Player]
    order: dict[Seat, Tray]


class PlannedSession(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A riichi session at one table: hands are dealt there, one after the other.

    `set`: whose tiles are dealt. `standing` and `entries`: where it stands and how many entries the scorer has of it,
    for a device that has none.
    """

    round: RoundNo
    players: dict[Seat, Player]
    set: SetNo = 1
    standing: RiichiStanding | None = None
    entries: Count = 0
