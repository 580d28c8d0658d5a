"""Everything that the screen of a table that plays riichi can be asked to show: sessions, and planned deals."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from broker.contract.riichi import RiichiWin
from broker.contract.words import SEATS
from kiosk.riichi_entry import WinForm
from kiosk.riichi_keys import RiichiForm
from kiosk.riichi_questions import Question
from kiosk.screens.alone_shown import alone_shown
from kiosk.screens.riichi_shown import session_shown
from kiosk.screens.shown import Shown
from kiosk.table.events import PlayEndedDrawn
from tests.kiosk.riichi_tables import AloneSitting, RiichiSitting, fu30, session_plan
from tests.kiosk.screens.scenes import CHINESE, LONG, SCENES, named, seen

MOST: Final = RiichiWin(han=12)


def session(steps: Callable[[RiichiSitting], object], form: RiichiForm | None = None) -> Shown:
    """Show a session in which this has happened, with the longest names."""
    given = session_plan()
    planned = msgspec.structs.replace(given.session, players=named(LONG).players)  # type: ignore[type-var]  # it has one
    sitting = RiichiSitting(msgspec.structs.replace(given, session=planned))
    sitting.begin()
    steps(sitting)
    return replace(seen(sitting), session=session_shown(sitting.table, sitting.session, form, "always"))


def alone(steps: Callable[[AloneSitting], object], form: RiichiForm | None = None, *, begun: bool = True) -> Shown:
    """Show a planned deal in which this has happened, with Chinese names."""
    sitting = AloneSitting(named(CHINESE))
    sitting.begin() if begun else sitting.restore()
    steps(sitting)
    return replace(seen(sitting), alone=alone_shown(sitting.table, form))


def ron(sitting: RiichiSitting | AloneSitting) -> None:
    """Come to two ron on north's tile."""
    sitting.declare("south", "west")
    sitting.tell("ron", wins={"south": fu30(3), "west": RiichiWin(yakuman=2)}, loser="north")


def asking(sitting: AloneSitting) -> None:
    """Come to where two have said to be tenpai."""
    sitting.draw()
    sitting.press("east", "north")


def drawn(sitting: AloneSitting) -> None:
    """Come to the record of a drawn hand."""
    asking(sitting)
    sitting.tell("draw")
    sitting.press(*SEATS)


RIICHI: Final[dict[str, Callable[[], Shown]]] = {
    "riichi session, who discarded": lambda: session(
        lambda table: table.declare("south"), WinForm(("south",), wins=(MOST,), asked="discarder", live_kan=True)
    ),
    "riichi session, whose live kan": lambda: session(
        lambda table: table.declare("south"), WinForm(("south",), wins=(MOST,), asked="live_kan")
    ),
    "riichi session, whose fault depends": lambda: session(
        lambda _: None, Question("dependent", seats=("south", "west", "north"), chosen=("west",))
    ),
    "riichi session, whose fault": lambda: session(lambda _: None, Question("fault", seats=("south",))),
    "riichi session, whose yakuman was spoilt": lambda: session(
        lambda _: None, Question("spoilt", seats=("south",), spoilt=("west",))
    ),
    "riichi session, accepting": lambda: session(ron),
    "riichi deal, confirming": lambda: alone(lambda _: None, begun=False),
    "riichi deal, playing": lambda: alone(lambda _: None),
    "riichi deal, nobody won": lambda: alone(lambda table: table.take(PlayEndedDrawn(at=table.wait()))),
    "riichi deal, why broken off": lambda: alone(lambda _: None, Question("abort")),
    "riichi deal, han": lambda: alone(
        lambda table: table.declare("south", "west"), WinForm(("south", "west"), wins=(MOST,), digits="12")
    ),
    "riichi deal, false": lambda: alone(lambda table: table.declare("south"), Question("false", "south")),
    "riichi deal, tenpai": lambda: alone(asking),
    "riichi deal, accepting": lambda: alone(ron),
    "riichi deal, recorded": lambda: alone(drawn),
}

ALL_SCENES: Final = {**SCENES, **RIICHI}
