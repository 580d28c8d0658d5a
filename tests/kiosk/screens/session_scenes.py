"""Scenes of a riichi session, for `scenes.py`: the course of a hand, and the widest screens."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Self

import msgspec

from broker.protocol import SEATS, Player, RiichiStanding, Seat
from kiosk.screens import ScreenView, StatusLine, screen_view
from kiosk.screens.views import session_view
from kiosk.table.events import ButtonPressed, ClaimWindowElapsed
from tests.kiosk.keyed import Keyed
from tests.kiosk.riichi_tables import RiichiSitting, session_plan
from tests.kiosk.tables import SETTLE, TABLE

WIDEST: Final = RiichiStanding(
    hand=99,
    round_wind="south",
    dealer="north",
    counters=12,
    deposits=4,
    scores={"east": 1_300, "south": 101_900, "west": 8_100, "north": 0},
)

MIDDLE: Final = msgspec.structs.replace(WIDEST, round_wind="east", dealer="west", counters=0, deposits=0, hand=7)

RON: Final = ("3", "enter", "3", "0", "enter")


class At(Keyed[RiichiSitting]):
    """A riichi table with its keyboard and view."""

    def __init__(
        self, line: StatusLine, names: dict[Seat, str] | None = None, standing: RiichiStanding | None = None
    ) -> None:
        given = session_plan(standing=standing)
        if names and given.session:
            players = {seat: Player(id=f"p{at}", name=names[seat]) for at, seat in enumerate(SEATS)}
            session = msgspec.structs.replace(given.session, players=players)
            given = msgspec.structs.replace(given, session=session)
        super().__init__(RiichiSitting(given))
        self._line = line

    def begun(self) -> Self:
        """Let all four sit down."""
        self.sitting.begin()
        return self

    def declared(self, *seats: Seat) -> Self:
        """Let these seats win."""
        self.sitting.declare(*seats)
        return self

    def doubted(self) -> Self:
        """Let a seat press just as the hand begins."""
        self.sitting.take(ButtonPressed(at=self.sitting.table.since + SETTLE, seat="south"))
        closes_at = self.sitting.table.closes_at
        assert closes_at is not None
        self.sitting.take(ClaimWindowElapsed(at=closes_at, asks=True))
        return self

    def drawn(self, *tenpai: Seat) -> Self:
        """Let nobody win, and these seats be tenpai."""
        self.sitting.draw()
        self.sitting.press(*tenpai)
        return self

    def accepted(self) -> Self:
        """Let all accept."""
        self.sitting.record()
        return self

    def typed(self, *keys: str) -> Self:
        """Type keys."""
        self.type(*keys)
        return self

    def seen(self) -> ScreenView:
        """Return the screen's view."""
        table, keys = self.sitting.table, self.keys
        keys.follow(table)
        session = session_view(table, self.sitting.session, keys.riichi.form, "always")
        return replace(screen_view(TABLE, table, keys.form, self._line, keys.problem, keys.panel), riichi=session)


def hands(at: At, count: int) -> At:
    """Fill a session with this many entries: a win, minor faults, which end no hand, and an aborted hand."""
    at.declared("south").typed(*RON, "w").accepted().typed("enter")
    for _ in range(count - 2):
        at.typed("f", "s", "2")
    at.typed("b", "2")
    at.sitting.close_window()
    return at.accepted()


def riichi_scenes(line: StatusLine, broken: StatusLine, names: dict[Seat, str]) -> dict[str, Callable[[], ScreenView]]:
    """Return the scenes, with the usual status line, and with every fault and the longest names."""

    def at() -> At:
        return At(line).begun()

    def wide() -> At:
        return At(broken, names, WIDEST).begun()

    return {
        "riichi, confirming": lambda: At(line).seen(),
        "riichi, playing": lambda: at().typed("i", "n").seen(),
        "riichi, playing, widest": lambda: wide().typed("i", "e").seen(),
        "riichi, whose stick": lambda: at().typed("i", "n", "i").seen(),
        "riichi, whose stick, widest": lambda: wide().typed("i", "e", "i").seen(),
        "riichi, did you mean hu": lambda: at().doubted().seen(),
        "riichi, abort": lambda: at().typed("b").seen(),
        "riichi, whose fault": lambda: at().typed("f", "w").seen(),
        "riichi, tenpai": lambda: at().drawn("east", "west").seen(),
        "riichi, han": lambda: at().declared("south").typed("1", "1").seen(),
        "riichi, refused": lambda: at().declared("south").typed("1", "enter", "3", "1", "enter", "w").seen(),
        "riichi, responsible": lambda: wide().declared("south", "north").typed("w", "w", "y", "enter").seen(),
        "riichi, on whose tile": lambda: at().declared("south", "north").seen(),
        "riichi, on whose tile, widest": lambda: wide().declared("south", "north", "west").typed("e").seen(),
        "riichi, on a later tile": lambda: at().declared("south", "north").typed("d", "w", *RON).seen(),
        "riichi, discarder": lambda: at().declared("south").typed(*RON).seen(),
        "riichi, on the riichi tile": lambda: at().typed("i", "w").declared("south").typed(*RON, "w").seen(),
        "riichi, accepting": lambda: at().declared("south").typed(*RON, "w").seen(),
        "riichi, accepting, widest": lambda: (
            wide().declared("south", "north").typed("w", "w", "4", "enter", "3", "0", "enter", "1", "3", "enter").seen()
        ),
        "riichi, recorded": lambda: at().drawn("east").typed("enter").accepted().seen(),
        "riichi, whose nagashi": lambda: at().drawn("east", "west").typed("g", "s", "n").seen(),
        "riichi, sheet": lambda: hands(at(), 5).typed("l").seen(),
        "riichi, sheet, older page": lambda: hands(at(), 12).typed("l", "1").seen(),
        "riichi, sheet, begun elsewhere": lambda: hands(At(broken, names, MIDDLE).begun(), 9).typed("l").seen(),
        "riichi, sheet, at the end": lambda: hands(at(), 5).typed("q", "enter", "l").seen(),
        "riichi, finished": lambda: at().drawn("east").typed("enter").accepted().typed("q", "enter").seen(),
    }
