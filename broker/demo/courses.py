"""What the people at each table act out: the hands that were played, and what goes wrong beside them.

Who declares, on whose tile, and the hand values are those of the played hands. Two things are staged: a tray is laid
wrongly at first at every other table, and a player declares a false hu.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Final

from broker.club.event import Hosted
from broker.contract.words import SEATS, Seat, WinKind

FALSE_HU: Final = 2
"""How often nerves fail, where hands were there to fail with."""

FINES: Final = (4, 8)
"""What a false hu costs, in IMP; the arbiter chooses (OEDMC)."""


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
    winners: Mapping[Seat, int] = field(default_factory=dict)
    discarder: Seat | None = None
    false_hu: Mapping[Seat, int] = field(default_factory=dict)
    slips: tuple[Slip, ...] = ()


def courses(hosted: Iterable[Hosted], chance: random.Random) -> dict[int, list[Course]]:
    """Give all plays, by table. The first play of every other table is laid wrongly at first."""
    plays = list(hosted)
    false_hu = _false_hu(plays, chance)
    by_table: dict[int, list[Course]] = {}
    for at, (booking, played) in enumerate(plays):
        slips = (_slip(chance),) if booking.round == 1 and booking.table % 2 else ()
        outcome = played.outcome
        course = Course(booking.round, outcome.win, outcome.winners, outcome.discarder, false_hu.get(at, {}), slips)
        by_table.setdefault(booking.table, []).append(course)
    return by_table


def _false_hu(plays: list[Hosted], chance: random.Random) -> dict[int, dict[Seat, int]]:
    """Choose who declares falsely, by play: a loser who once held a complete hand under the minimum.

    Where nobody did, a loser of the first play does it without one.
    """
    found: dict[int, Seat] = {}
    for at, (_, played) in enumerate(plays):
        losers = [seat for seat in played.tempted if seat not in played.outcome.winners]
        if losers and len(found) < FALSE_HU:
            found[at] = losers[0]
    if not found:
        found[0] = next(seat for seat in SEATS if seat not in plays[0].played.outcome.winners)
    return {at: {seat: chance.choice(FINES)} for at, seat in found.items()}


def as_script(plays: list[Course], reaction_ms: int, pin: str) -> dict[str, object]:
    """Give what `kiosk.twins.script` reads; `pin` is the arbiters'."""
    return {"plays": [asdict(course) for course in plays], "reaction_ms": reaction_ms, "pin": pin}


def _slip(chance: random.Random) -> Slip:
    row = chance.randrange(3)
    one, other = chance.sample(range(10), 2)
    return Slip(chance.choice(SEATS), (row, one), (row, other))
