"""Made-up plays: what happens at each table. Every kind of ending comes at least once in an event."""

import random
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

from broker.contract.words import SEATS, Seat, WinKind
from broker.rules.movement import Booking

Kind = Literal["discard", "self_drawn", "two_hu", "draw", "false_hu"]

KINDS: Final[tuple[Kind, ...]] = (
    "discard",
    "false_hu",
    "self_drawn",
    "two_hu",
    "draw",
    "discard",
    "self_drawn",
    "discard",
)
"""Endings in the order in which the tables get them, again and again."""

VALUES: Final = (8, 9, 10, 12, 14, 16, 18, 24, 28, 32, 48)
"""Hand values that one sees."""


@dataclass(frozen=True, slots=True)
class Slip:
    """Two places of a tray exchanged when it is laid."""

    seat: Seat
    one: tuple[int, int]
    other: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Course:
    """One play, as the people at a simulated table are told it."""

    round: int
    win: WinKind
    winners: dict[Seat, int] = field(default_factory=dict)
    discarder: Seat | None = None
    false_hu: dict[Seat, int] = field(default_factory=dict)
    slips: tuple[Slip, ...] = ()


def courses(bookings: tuple[Booking, ...], chance: random.Random) -> dict[int, list[Course]]:
    """Make up all plays, by table. The first play of every other table is laid wrongly at first."""
    by_table: dict[int, list[Course]] = {}
    for at, booking in enumerate(bookings):
        slips = (_slip(chance),) if booking.round == 1 and booking.table % 2 else ()
        course = _course(booking.round, KINDS[at % len(KINDS)], slips, chance)
        by_table.setdefault(booking.table, []).append(course)
    return by_table


def as_script(plays: list[Course], reaction_ms: int) -> dict[str, object]:
    """Give what `kiosk.twins.script` reads."""
    return {"plays": [asdict(course) for course in plays], "reaction_ms": reaction_ms}


def _slip(chance: random.Random) -> Slip:
    row = chance.randrange(3)
    one, other = chance.sample(range(10), 2)
    return Slip(chance.choice(SEATS), (row, one), (row, other))


def _course(round_: int, kind: Kind, slips: tuple[Slip, ...], chance: random.Random) -> Course:
    first, second, third, _ = chance.sample(SEATS, 4)
    value, other = chance.choice(VALUES), chance.choice(VALUES)
    if kind == "draw":
        return Course(round_, "draw", slips=slips)
    if kind == "self_drawn":
        return Course(round_, "self_drawn", {first: value}, slips=slips)
    if kind == "two_hu":
        return Course(round_, "discard", {first: value, second: other}, third, slips=slips)
    false_hu: dict[Seat, int] = {third: chance.choice((4, 8))} if kind == "false_hu" else {}
    return Course(round_, "discard", {first: value}, second, false_hu, slips)
