"""The moments of a play that are pictured on cards."""

from dataclasses import replace
from typing import Final

from broker.contract.riichi import RiichiEvent, RiichiWin
from broker.contract.words import SEATS, Seat
from kiosk.bench import Bench, saw
from kiosk.entry import Form
from kiosk.eyes import picture_room
from kiosk.practice.plan import plan
from kiosk.screens.riichi_shown import SessionShown
from kiosk.screens.shown import Line, Shown, Winning
from kiosk.sight import Sight, View
from kiosk.table.events import Misplaced, TrayChecked
from kiosk.table.restoring.heap import Sighted
from kiosk.table.restoring.places import deal_of
from kiosk.table.restoring.work import Work, looked
from kiosk.table.state import Check

SIZE: Final = (1000, 600)
"""Of a picture, pixels: 290 to the inch as it is printed."""

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
RESTORING: Final = replace(PLAYING, state="restoring")
SEATING: Final = replace(PLAYING, state="seating", marked=frozenset[Seat](("south", "north")))
CONFIRMING: Final = replace(PLAYING, state="confirming", marked=frozenset[Seat](("east", "north")))
VALUE: Final = replace(PLAYING, state="declared", declared=("west",), form=Form(("west",), digits="18"))
DECLARED: Final = replace(VALUE, form=Form(("west",)))
RESULT: Final = replace(
    PLAYING,
    state="accepting",
    marked=frozenset[Seat](("east", "west")),
    result=Winning("discard", {"west": 18}, "north", {"east": -8, "south": -8, "west": 42, "north": -26}),
)
RECORDED: Final = replace(RESULT, state="recorded", marked=frozenset(SEATS))
NOBODY: Final = replace(PLAYING, ended=True)

SESSION: Final = SessionShown(
    dealer=2,
    counters=1,
    deposits=1,
    scores={"east": 25_000, "south": 28_900, "west": 21_100, "north": 24_000},
    riichi=("north",),
)
RIICHI_SEATING: Final = replace(
    CONFIRMING,
    session=replace(SESSION, dealer=1, counters=0, deposits=0, riichi=(), scores=dict.fromkeys(SEATS, 25_000)),
)
RIICHI_PLAYING: Final = replace(PLAYING, session=SESSION)
RIICHI_TENPAI: Final = replace(
    PLAYING, state="declared", session=replace(SESSION, asking=True, tenpai=frozenset[Seat](("east", "north")))
)
RIICHI_RESULT: Final = replace(
    PLAYING,
    state="accepting",
    marked=frozenset[Seat](("south",)),
    session=replace(
        SESSION,
        told=RiichiEvent(kind="ron", wins={"south": RiichiWin(han=3, fu=30)}, loser="west"),
        paid={"south": 5_200, "west": -4_200},
    ),
)


def heap() -> Shown:
    """Tiles turned out, each with its seat."""
    from kiosk.cards.drawn_heap import drawn_heap  # noqa: PLC0415 - OpenCV: when a card is drawn
    from kiosk.practice import staff  # noqa: PLC0415 - as above

    play = plan().plays[1]
    lying = tuple(Sighted(one.tile.serial) for one in staff.heap(play, 0))
    bench = saw(Bench(), Sight(in_view=lying, view=View(1, drawn_heap(play, 0, picture_room(SIZE)))), "")
    return replace(RESTORING, order=play.order, work=Work(), bench=bench)


def fault() -> Shown:
    """A tray with two tiles exchanged."""
    order = plan().plays[1].order
    first, second, third = ([*row] for row in order["west"])
    wrong = Misplaced(kind="swapped", row=1, col=4, expected=second[4], found=third[0], other=(2, 0))
    second[4], third[0] = third[0], second[4]
    look = TrayChecked(at=0, seat="west", rows=((*first,), (*second,), (*third,)), wrong=(wrong,))
    work = looked(Work(), look, deal_of(order), right=False)
    return replace(RESTORING, order=order, work=work, check=Check("west", (wrong,)), bench=Bench())
