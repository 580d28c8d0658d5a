"""The plays of a practice session."""

from random import Random
from typing import Final, cast

from broker.contract.messages import Assignment
from broker.contract.plans import PlannedPlay, Player, Tray
from broker.contract.words import SEATS, Seat
from broker.rules.deal import TRAY, in_rows
from broker.rules.profile_files import DEFAULT

EVENT: Final = "practice"
TABLE: Final = 1
STORE: Final = "practice-store"
SET: Final = 1
PLAYS: Final = 8
PLAYERS: Final[dict[Seat, str]] = {"east": "Ada", "south": "Bo", "west": "Chen", "north": "Dina"}


def plan(plays: int = PLAYS) -> Assignment:
    """Plan a session. The first play lies in the order of the numbers: whoever has a numbered set can lay it."""
    return Assignment(
        id="practice",
        event=EVENT,
        seq=1,
        table=TABLE,
        store=STORE,
        profile=DEFAULT,
        plays=tuple(_play(number) for number in range(1, plays + 1)),
        recorded=(),
    )


def _play(number: int) -> PlannedPlay:
    serials = list(range(1, len(SEATS) * TRAY + 1))
    if number > 1:
        Random(number).shuffle(serials)  # noqa: S311 - practice, and the same for everybody
    return PlannedPlay(
        round=number,
        deal=number,
        set=SET,
        prevalent_wind="east" if number <= PLAYS // 2 else "south",
        dealer=SEATS[(number - 1) % len(SEATS)],
        players={seat: Player(id=f"practice-{seat}", name=name) for seat, name in PLAYERS.items()},
        order={seat: cast("Tray", in_rows(serials[at * TRAY : (at + 1) * TRAY])) for at, seat in enumerate(SEATS)},
    )
