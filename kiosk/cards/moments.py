"""The moments of a play that are pictured on cards."""

from dataclasses import replace
from typing import Final

from broker.contract.words import SEATS, Seat
from kiosk.entry import Form
from kiosk.screens.shown import Line, Shown, Winning
from kiosk.table.events import Misplaced
from kiosk.table.state import Check

PLAYERS: Final[dict[Seat, str]] = {"east": "Ada", "south": "Bo", "west": "Chen", "north": "Dina"}

PLAYING: Final = Shown(
    table=3,
    state="playing",
    line=Line(up=True, clock="14:05"),
    round=2,
    deal=7,
    prevalent_wind="east",
    players=PLAYERS,
    winds={seat: seat for seat in SEATS},
)
RESTORING: Final = replace(PLAYING, state="restoring", marked=frozenset[Seat](("east", "south")))
FAULT: Final = replace(
    RESTORING,
    check=Check("west", (Misplaced(kind="swapped", row=1, col=4, expected=64, found=117, other=(2, 0)),)),
)
CONFIRMING: Final = replace(PLAYING, state="confirming", marked=frozenset[Seat](("east", "north")))
VALUE: Final = replace(PLAYING, state="declared", declared=("west",), form=Form(("west",), (4, 8), digits="18"))
DECLARED: Final = replace(VALUE, form=Form(("west",), (4, 8)))
RESULT: Final = replace(
    PLAYING,
    state="accepting",
    marked=frozenset[Seat](("east", "west")),
    result=Winning("discard", {"west": 18}, "north", {"east": -8, "south": -8, "west": 42, "north": -26}),
)
RECORDED: Final = replace(RESULT, state="recorded", marked=frozenset(SEATS))
