"""A riichi table with four players and a session, for tests. The test supplies events and times."""

from collections.abc import Callable

import msgspec

from broker.protocol import SEATS, Assignment, PlannedPlay, PlannedSession, RiichiEvent, RiichiStanding, RiichiWin, Seat
from kiosk.screens.views import planned_riichi_view
from kiosk.table import (
    Phase,
    RiichiSession,
    Table,
    riichi_session_of,
)
from kiosk.table.events import Assigned, HandEntered
from tests.kiosk.tables import S, Sitting, plan, play

PLAYERS = play(1).players


def session_plan(
    round_: int = 1, profile: str = "riichi-montreal", standing: RiichiStanding | None = None, rules: str | None = None
) -> Assignment:
    """Plan a session."""
    planned = PlannedSession(round=round_, players=PLAYERS, standing=standing, entries=0 if standing is None else 7)
    return msgspec.structs.replace(plan(profile=profile, rules=rules), plays=(), session=planned)


def fu30(han: int) -> RiichiWin:
    """Return a hand with this many han and 30 fu."""
    return RiichiWin(han=han, fu=30)


class RiichiSitting(Sitting):
    """One riichi table and its time."""

    def __init__(self, given: Assignment | None = None) -> None:
        self.table, self.facts, self.events, self.now = Table(), [], [], 100 * S
        self.take(Assigned(at=self.now, assignment=given or session_plan()))

    @property
    def session(self) -> RiichiSession:
        """The current session."""
        return riichi_session_of(self.table)

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores of the seats, less deposits of this hand."""
        return tuple(self.session.score(seat) for seat in SEATS)

    def begin(self) -> None:
        """Begin the session."""
        self.press(*SEATS)

    def tell(self, kind: str, *, on_riichi_tile: bool = False, **told: object) -> None:
        """Enter how the hand ended."""
        event = msgspec.convert({"kind": kind, **msgspec.to_builtins(told)}, RiichiEvent)
        self.take(HandEntered(at=self.wait(), told=event, on_riichi_tile=on_riichi_tile))

    def ron(self, winner: Seat, loser: Seat, han: int = 3, *, on_riichi_tile: bool = False) -> None:
        """Bring the table to the acceptance of a ron."""
        self.declare(winner)
        self.tell("ron", wins={winner: fu30(han)}, loser=loser, on_riichi_tile=on_riichi_tile)

    def declare(self, *seats: Seat) -> tuple[object, ...]:  # type: ignore[override]  # no trays to lay before
        """Press, and let the claim window close."""
        self.press(*seats)
        return self.close_window()

    def record(self) -> None:
        """Let all accept."""
        self.press(*SEATS)

    def drawn(self, *tenpai: Seat) -> None:
        """Bring the table to the acceptance of a drawn hand."""
        self.draw()
        self.press(*tenpai)
        self.tell("draw")


def riichi_in(phase: Phase) -> RiichiSitting:
    """Return a riichi table in a phase of its first hand, in which South has won on West's tile."""
    sitting = RiichiSitting()
    steps: tuple[Callable[[], object], ...] = (
        sitting.begin,
        lambda: sitting.declare("south"),
        lambda: sitting.tell("ron", wins={"south": fu30(3)}, loser="west"),
        sitting.record,
    )
    for step in steps:
        if sitting.table.phase is phase:
            break
        step()
    assert sitting.table.phase is phase
    return sitting


class AloneSitting(Sitting):
    """A table with two planned deals under riichi rules, and its time."""

    def __init__(self, *plays: PlannedPlay, profile: str = "riichi-montreal", dealer: Seat = "east") -> None:
        super().__init__(*(plays or (play(1, dealer=dealer), play(2, dealer=dealer))), profile=profile)

    @property
    def wall(self) -> tuple[Seat, ...]:
        """The seats in the order in which the wall is drawn, as on the screen."""
        return planned_riichi_view(self.table, None).wall

    def tell(self, kind: str, **told: object) -> None:
        """Enter how the hand ended."""
        event = msgspec.convert({"kind": kind, **msgspec.to_builtins(told)}, RiichiEvent)
        self.take(HandEntered(at=self.wait(), told=event))
