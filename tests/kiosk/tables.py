"""A table with four players and a plan, for tests. The test supplies events and times."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, cast

from broker.protocol import SEATS, Assignment, Command, Fact, PlannedPlay, Player, RoundNo, Seat, Tray, WinKind
from broker.rules import TRAY, in_rows
from kiosk.table import (
    Event,
    Misplaced,
    NotNow,
    Phase,
    Table,
    handle,
)
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    ClaimWindowElapsed,
    FalseHuRuled,
    NextDealCalled,
    Ordered,
    PlayEndedDrawn,
    TrayChecked,
    ValueEntered,
)

EVENT = "cup-2026"
TABLE = 3
STORE = "store-0001"

MS = 1_000_000
S = 1_000 * MS

WINDOW = 3 * S  # of the default profile
HOLD = 2 * S
SETTLE = 1 * S

NAMES = {"east": "Anna Lind", "south": "Wei Li", "west": "Tom Beck", "north": "Inès Roy"}


def play(round_: RoundNo, *, deal: int | None = None, dealer: Seat = "east") -> PlannedPlay:
    """Plan one play; each round uses the set in another order."""
    serials = [(number + 7 * round_) % 136 + 1 for number in range(136)]
    return PlannedPlay(
        round=round_,
        deal=round_ if deal is None else deal,
        set=1,
        prevalent_wind="east",
        dealer=dealer,
        players={seat: Player(id=f"p{at + 1:02}", name=NAMES[seat]) for at, seat in enumerate(SEATS)},
        order={seat: cast("Tray", in_rows(serials[at * TRAY : (at + 1) * TRAY])) for at, seat in enumerate(SEATS)},
    )


def plan(
    *plays: PlannedPlay,
    profile: str = "oedmc-2020",
    recorded: tuple[RoundNo, ...] = (),
    store: str = STORE,
    rules: str | None = None,
) -> Assignment:
    """Plan a table's day, by default of one play."""
    return Assignment(
        id="assignment-1",
        event=EVENT,
        seq=1,
        table=TABLE,
        store=store,
        profile=profile,
        rules=rules,
        plays=plays or (play(1),),
        recorded=recorded,
    )


def right(of: PlannedPlay, seat: Seat, at: int) -> TrayChecked:
    """Return the check of a tray that is right."""
    return TrayChecked(at=at, seat=seat, rows=of.order[seat])


def swapped(of: PlannedPlay, seat: Seat, at: int) -> TrayChecked:
    """Return the check of a tray whose first two tiles are exchanged."""
    (one, two, *hand), *walls = of.order[seat]
    wrong = Misplaced(kind="swapped", row=0, col=0, expected=one, found=two, other=(0, 1))
    return TrayChecked(at=at, seat=seat, rows=((two, one, *hand), *walls), wrong=(wrong,))


def strange(of: PlannedPlay, seat: Seat, at: int, *, foreign: bool = False, unread: int = 0) -> TrayChecked:
    """Return the check of a tray of an unknown deal: a quarter of it belongs there, or its tiles are of another set.

    The last places can be left unread.
    """
    homes = [[serial for row in of.order[one] for serial in row] for one in (seat, *(s for s in SEATS if s != seat))]
    lying: list[int | None] = [homes[at % 4][at // 4] for at in range(TRAY - unread)] + [None] * unread
    rows = (tuple(lying[:13]), tuple(lying[13:24]), tuple(lying[24:]))
    wrong = (
        Misplaced(kind="foreign" if foreign else "wrong-hand", row=row, col=col, expected=1, found=serial)
        for row, line in enumerate(rows)
        for col, serial in enumerate(line)
        if serial is not None
    )
    return TrayChecked(at=at, seat=seat, rows=rows, wrong=tuple(wrong))


class Sitting:
    """One table and its time."""

    def __init__(self, *plays: PlannedPlay, profile: str = "oedmc-2020") -> None:
        self.table = Table()
        self.facts: list[Fact] = []
        self.events: list[Event] = []
        self.now = 100 * S
        self.take(Assigned(at=self.now, assignment=plan(*plays, profile=profile)))

    def take(self, event: Event) -> tuple[Fact, ...]:
        """Apply an event, and return its facts."""
        self.table, facts = handle(self.table, event)
        self.events.append(event)
        self.facts.extend(facts)
        self.now = max(self.now, event.at)
        return facts

    def refusal(self, event: Event) -> str:
        """Return the code with which an event is refused; "" if it is not."""
        try:
            handle(self.table, event)
        except NotNow as refused:
            return refused.code
        return ""

    @property
    def play(self) -> PlannedPlay:
        """The current play."""
        assert self.table.play is not None
        return self.table.play

    @property
    def deadline(self) -> int | None:
        """The time from which a press is too late; None if no claim window is open, or its time is stopped."""
        return None if self.table.window is None or self.table.paused else self.table.window.deadline

    def wait(self, ns: int = 2 * S) -> int:
        """Let time pass."""
        self.now += ns
        return self.now

    def lay(self, seats: Iterable[Seat] = SEATS) -> None:
        """Show correct trays to the camera."""
        for seat in seats:
            self.take(right(self.play, seat, self.wait()))

    def check_in(self) -> None:
        """Let everybody who has not checked in do so."""
        self.press(*(seat for seat in SEATS if seat not in self.table.arrived))

    def restore(self, seats: Iterable[Seat] = SEATS) -> None:
        """Lay correct trays, and let the players check in once all are there."""
        self.lay(seats)
        if self.table.phase is Phase.SEATING:
            self.check_in()

    def press(self, *seats: Seat, every: int = 100 * MS) -> None:
        """Push buttons one after the other, once the screen is old enough for presses to count, and let go at once."""
        self.wait()
        for seat in seats:
            self.take(ButtonPressed(at=self.wait(every), seat=seat))
            if self.table.phase is Phase.CLAIMING:
                self.take(ButtonReleased(at=self.now, seat=seat))

    def hold(self, seat: Seat) -> int:
        """Hold a button until the arbiter is called; return when it went down."""
        at = self.wait()
        with suppress(NotNow):  # a hold calls all the same
            self.take(ButtonPressed(at=at, seat=seat))
        self.now = at + HOLD
        self.take(ButtonHeld(at=at, seat=seat))
        return at

    def begin(self) -> None:
        """Bring the table to a play in progress."""
        self.restore()
        self.press(*SEATS)

    def declare(self, *seats: Seat) -> tuple[Fact, ...]:
        """Play until these seats have declared and the window has closed."""
        if self.table.phase is Phase.RESTORING:
            self.begin()
        self.press(*seats)
        return self.close_window()

    def close_window(self) -> tuple[Fact, ...]:
        """Let the claim window run out."""
        closes_at = self.table.closes_at
        assert closes_at is not None
        return self.take(ClaimWindowElapsed(at=closes_at))

    def value(self, discarder: Seat | None = None, on: dict[Seat, Seat] | None = None, **winners: int) -> None:
        """Enter a win and, for several declarations, on whose tile each was made."""
        named: dict[Seat, int] = {seat: winners[seat] for seat in SEATS if seat in winners}
        win: WinKind = "discard" if discarder else "self_drawn"
        self.take(ValueEntered(at=self.wait(), win=win, winners=named, discarder=discarder, declared_on=on or {}))

    def false_hu(self, seat: Seat, imp: int = 8) -> None:
        """Rule a declaration false."""
        self.admit()
        self.take(FalseHuRuled(at=self.wait(), seat=seat, imp=imp, reason="not enough fan"))
        self.take(ArbiterLeft(at=self.wait()))

    def draw(self) -> None:
        """End the play with no winner."""
        self.take(PlayEndedDrawn(at=self.wait()))
        self.close_window()

    def order(self, command: Command, at: int | None = None, minutes: int = 0) -> tuple[Fact, ...]:
        """Send the desk's next order, a little later if no time is given."""
        at = self.wait() if at is None else at
        return self.take(Ordered(at=at, seq=self.table.last_order + 1, command=command, minutes=minutes))

    def admit(self) -> None:
        """Admit an arbiter."""
        self.take(ArbiterAdmitted(at=self.wait(), by="Anne Arbiter"))

    def next_deal(self) -> None:
        """Go on to the next deal."""
        self.take(NextDealCalled(at=self.wait()))


def sitting_in(phase: Phase) -> Sitting:
    """Return a table in a phase, at the first of two plays unless the phase is the last."""
    sitting = Sitting(play(1), play(2))
    if phase is Phase.WAITING:
        sitting.table, sitting.events = Table(), []
        return sitting
    for step in _DAY:
        if sitting.table.phase is phase:
            break
        step(sitting)
    return sitting


_DAY: Final[tuple[Callable[[Sitting], object], ...]] = (
    Sitting.lay,
    Sitting.check_in,
    lambda sitting: sitting.press(*SEATS),
    lambda sitting: sitting.press("west", "north"),
    Sitting.close_window,
    lambda sitting: sitting.value("east", west=12, north=8),
    lambda sitting: sitting.press(*SEATS),
    Sitting.next_deal,
    Sitting.begin,
    Sitting.draw,
    lambda sitting: sitting.press(*SEATS),
    Sitting.next_deal,
)
