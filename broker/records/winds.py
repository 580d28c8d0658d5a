"""Chairs and seat winds: PMN names seats by their seat wind, an event by the chair."""

from collections.abc import Mapping
from typing import TypeVar

from broker.contract.words import SEATS, Seat
from broker.records.record import Tiles
from broker.records.tiles import in_order
from broker.rules.deal import ROWS, seat_wind

T = TypeVar("T")


def by_wind(by_chair: Mapping[Seat, T], dealer: Seat) -> dict[Seat, T]:
    """Turn what belongs to chairs to seat winds, in turn order: the dealer's is east."""
    turned = {seat_wind(chair, dealer): value for chair, value in by_chair.items()}
    return {wind: turned[wind] for wind in SEATS if wind in turned}


def hands_of(faces: Tiles, dealer: Seat) -> Tiles:
    """Give the hands of trays, sorted."""
    return by_wind({chair: in_order(tray[: ROWS[0]]) for chair, tray in faces.items()}, dealer)


def walls_of(faces: Tiles, dealer: Seat) -> Tiles:
    """Give the walls of trays, as they are drawn."""
    return by_wind({chair: tuple(tray[ROWS[0] :]) for chair, tray in faces.items()}, dealer)
