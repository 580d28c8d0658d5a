"""What a table that plays riichi can be asked to show, for `scenes.py`: the way through a hand, and its widest."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Self

import msgspec

from broker.contract.plans import Player
from broker.contract.riichi import RiichiStanding
from broker.contract.words import SEATS, Seat
from kiosk.keyboard import Keyboard
from kiosk.screens.riichi_shown import session_shown
from kiosk.screens.shown import Line, Shown, shown
from kiosk.table.errors import NotNow
from kiosk.table.events import Event
from tests.kiosk.riichi_tables import RiichiSitting, session_plan
from tests.kiosk.tables import TABLE

WIDEST: Final = RiichiStanding(
    hand=99,
    round_wind="south",
    dealer="north",
    counters=12,
    deposits=4,
    scores={"east": 1_300, "south": 101_900, "west": 8_100, "north": 0},
)

RON: Final = ("3", "enter", "3", "0", "enter")


class At:
    """A riichi table with its keyboard, and what is seen of it."""

    def __init__(
        self, line: Line, names: dict[Seat, str] | None = None, standing: RiichiStanding | None = None
    ) -> None:
        given = session_plan(standing=standing)
        if names and given.session:
            players = {seat: Player(id=f"p{at}", name=names[seat]) for at, seat in enumerate(SEATS)}
            session = msgspec.structs.replace(given.session, players=players)
            given = msgspec.structs.replace(given, session=session)
        self.sitting, self._line = RiichiSitting(given), line
        self._keys = Keyboard(self._apply)

    def _apply(self, event: Event) -> str | None:
        try:
            self.sitting.take(event)
        except NotNow as refusal:
            return refusal.code
        return None

    def begun(self) -> Self:
        """Let all sit down."""
        self.sitting.begin()
        return self.type()

    def declared(self, *seats: Seat) -> Self:
        """Let these win."""
        self.sitting.declare(*seats)
        return self.type()

    def drawn(self, *tenpai: Seat) -> Self:
        """Let nobody win, and these be tenpai."""
        self.sitting.draw()
        self.sitting.press(*tenpai)
        return self.type()

    def accepted(self) -> Self:
        """Let all accept."""
        self.sitting.record()
        return self.type()

    def type(self, *keys: str) -> Self:
        """Type keys, as people do who look at the screen in between."""
        for key in keys:
            self._keys.key(key, self.sitting.table, self.sitting.wait())
            self._keys.follow(self.sitting.table)
        self._keys.follow(self.sitting.table)
        return self

    def seen(self) -> Shown:
        """Give what is to be seen."""
        table, keys = self.sitting.table, self._keys
        session = session_shown(table, self.sitting.session, keys.riichi.form, "always")
        return replace(shown(TABLE, table, keys.form, self._line, keys.problem, keys.panel), session=session)


def riichi_scenes(line: Line, broken: Line, names: dict[Seat, str]) -> dict[str, Callable[[], Shown]]:
    """Give the scenes: with a line at the foot as usual, and with everything broken and the longest names."""

    def at() -> At:
        return At(line).begun()

    def wide() -> At:
        return At(broken, names, WIDEST).begun()

    return {
        "riichi, confirming": lambda: At(line).seen(),
        "riichi, playing": lambda: at().type("i", "n").seen(),
        "riichi, playing, widest": lambda: wide().type("i", "e").seen(),
        "riichi, abort": lambda: at().type("b").seen(),
        "riichi, whose fault": lambda: at().type("f", "w").seen(),
        "riichi, tenpai": lambda: at().drawn("east", "west").seen(),
        "riichi, han": lambda: at().declared("south").type("1", "1").seen(),
        "riichi, refused": lambda: at().declared("south").type("1", "enter", "3", "1", "enter", "w").seen(),
        "riichi, responsible": lambda: wide().declared("south", "north").type("y", "enter").seen(),
        "riichi, discarder": lambda: at().declared("south", "north").type(*RON, *RON).seen(),
        "riichi, on the riichi tile": lambda: at().type("i", "w").declared("south").type(*RON, "w").seen(),
        "riichi, accepting": lambda: at().declared("south").type(*RON, "w").seen(),
        "riichi, accepting, widest": lambda: (
            wide().declared("south", "north").type("4", "enter", "3", "0", "enter", "1", "3", "enter", "w").seen()
        ),
        "riichi, recorded": lambda: at().drawn("east").type("enter").accepted().seen(),
        "riichi, finished": lambda: at().drawn("east").type("enter").accepted().type("q", "enter").seen(),
    }
