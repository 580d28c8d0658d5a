"""Days of all kinds at a table. A seed decides who does what, and in which order."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from broker.protocol import SEATS, Seat
from broker.rules import TRAY
from kiosk.input.panel import Act
from kiosk.table import DOUBTFUL_NS, SETTLE_NS
from tests.kiosk.cuts.actions import (
    HOUSE_PIN,
    Action,
    Choose,
    Day,
    Doubted,
    Give,
    Hold,
    Keys,
    Look,
    Plan,
    Press,
    Receipt,
    Release,
    Scan,
    Tap,
    WindowOver,
)
from tests.kiosk.riichi_tables import session_plan
from tests.kiosk.tables import MS, S, plan, play

Part = Iterator[Action]
Written = Callable[[random.Random], Part]


def shuffled(chance: random.Random) -> list[Seat]:
    """Return the seats in a random order."""
    return chance.sample(SEATS, len(SEATS))


def keys(text: str) -> Part:
    """Type keys, each of which is saved."""
    return (Keys((one,)) for one in text.split())


def trays(round_: int, chance: random.Random) -> Part:
    """Show all four trays to the camera, one wrong at first."""
    seats = shuffled(chance)
    yield Look(round_, seats[0], "swapped")
    yield from (Look(round_, seat) for seat in seats)


def agree(chance: random.Random) -> Part:
    """Let all four press: to check in, to confirm or to accept."""
    return (Tap(seat) for seat in shuffled(chance))


def begun(round_: int, chance: random.Random, *, seated: bool = False) -> Part:
    """Bring the table to a play in progress; players who stay seated have already checked in."""
    yield from trays(round_, chance)
    if not seated:
        yield from agree(chance)
    yield from agree(chance)


def claimed(*seats: Seat) -> Part:
    """Press for hu one after the other, late enough not to be questioned, and let the claim window close."""
    for at, seat in enumerate(seats):
        yield Press(seat, 400 * MS if at else DOUBTFUL_NS + S)
        yield Release(seat)
    yield WindowOver()


def let_in(pin: str = HOUSE_PIN) -> Part:
    """Return a PIN, of which no digit may be saved."""
    yield from (Keys(("a",)), Keys((*pin, "enter")))


def arbiter(act: Act, *typed: str) -> Part:
    """Admit an arbiter by PIN, make a ruling, and let the arbiter leave."""
    yield from let_in()
    yield Choose(act)
    yield from (Keys((one,)) for one in typed)
    yield from (Keys(("a",)), Keys(("back",)))


def recorded(chance: random.Random) -> Part:
    """Accept, receive the scorer's receipt, and go on."""
    yield from agree(chance)
    yield Receipt()
    yield Keys(("enter",))


def win_by_discard(chance: random.Random) -> Part:
    """Two win on one discard; the result is refused once and corrected, then reopened after all have accepted."""
    yield from (Receipt(), Plan(plan(play(1), play(2))))
    yield from begun(1, chance)
    east, south, west, north = shuffled(chance)
    yield from claimed(west, north)
    yield from keys(f"{east[0]} {east[0]} 1 9 back 2 enter 8 enter")
    yield from (Tap(south), Tap(west), Keys(("r",)))
    yield from keys(f"{east[0]} {east[0]} 1 2 enter 9 enter")
    yield from agree(chance)
    yield from arbiter("reopen", "2")
    yield from keys(f"{south[0]} {south[0]} 1 6 enter 8 enter")
    yield from recorded(chance)
    yield Look(2, east, "swapped")


def self_drawn(chance: random.Random) -> Part:
    """One wins on a drawn tile, after a call by long press; the desk pauses, adds time and clears the call."""
    yield from (Receipt(), Plan(plan(play(1), play(2, dealer="south"))))
    yield from begun(1, chance)
    seat, other, *_ = shuffled(chance)
    yield from (Press(other, 2 * S), Hold(other), Release(other), WindowOver())
    yield from (Give(5, "pause"), Give(6, "resume"), Give(7, "extra_time", 10), Give(8, "quiet_light"))
    yield Give(9, "clear_call")
    yield from claimed(seat)
    yield from keys("c 2 4 enter d c")
    yield from recorded(chance)
    yield from begun(2, chance, seated=True)
    yield from (Keys(("d",)), WindowOver())
    yield from recorded(chance)


def drawn(chance: random.Random) -> Part:
    """Nobody wins; meanwhile one player presses, and the hu is ruled false; the plan ends."""
    yield from (Receipt(), Plan(plan(play(1))))
    yield from begun(1, chance)
    seat, other, *_ = shuffled(chance)
    yield from keys("c c c c")  # called and withdrawn: by now nobody is asked whether hu was meant
    yield from (Keys(("d",)), Press(seat, 300 * MS), Release(seat), WindowOver())
    yield from let_in("1111")
    yield Keys(("back",))
    yield from arbiter("false_hu", seat[0], "enter", "8", "1")
    yield from claimed(other)
    yield from (*let_in(), Keys(("back",)))
    yield from keys(f"1 0 enter {seat[0]}")
    yield from recorded(chance)
    yield Plan(plan(play(1), play(2), recorded=(1,)))


def doubted(chance: random.Random) -> Part:
    """Presses that may not be hu are questioned: nobody meant it, twice; then one of two did; all four cannot."""
    yield from (Receipt(), Plan(plan(play(1))))
    yield from begun(1, chance)
    one, other, third, _ = shuffled(chance)
    yield from (*pressed(third), Doubted(), WindowOver())
    yield from (*pressed(third, other), Doubted(), Keys(("n",)), WindowOver())
    yield from (*pressed(*shuffled(chance), wait=DOUBTFUL_NS + S), Doubted())
    yield from (*pressed(*shuffled(chance), wait=SETTLE_NS + S), WindowOver())
    yield from keys("c c")
    yield from (*pressed(*shuffled(chance), wait=DOUBTFUL_NS + S), Doubted())
    yield from (*pressed(other, one, wait=SETTLE_NS + S), WindowOver())
    yield from keys(f"{third[0]} {third[0]} 1 0 enter 9 enter")
    yield from recorded(chance)


def pressed(*seats: Seat, wait: int = SETTLE_NS + 100 * MS) -> Part:
    """Press, the first after this time, the others shortly after one another."""
    for at, seat in enumerate(seats):
        yield from (Press(seat, 300 * MS if at else wait), Release(seat))


def panel(chance: random.Random) -> Part:
    """The arbiter rules at the table: pause, time, seats, declarations, void, adjusted."""
    yield from (Receipt(), Plan(plan(play(1), play(2), play(3))))
    one, other, third = sorted(shuffled(chance)[:3], key=SEATS.index)
    yield from trays(1, chance)
    yield Tap("east")
    yield from arbiter("swap", one[0], other[0], "enter", "6")
    yield from agree(chance)
    yield from agree(chance)
    yield from arbiter("extra_time", "1", "5", "enter", "6")
    yield from arbiter("pause", "3")
    yield from arbiter("resume")
    yield from claimed(third)
    yield from arbiter("declared", one[0], "enter", "3")
    yield from keys("8 enter")
    yield from arbiter("void", "4", "y")
    yield from (Receipt(), Keys(("enter",)))
    yield from begun(2, chance)
    yield from claimed(other)
    yield from arbiter("adjust", one[0], "enter", "6", "y")
    yield from (Receipt(), Keys(("enter",)))


def wrong_carrier(chance: random.Random) -> Part:
    """Tiles of an unknown carrier are laid, another deal is brought forward, and a repeated deal is allowed."""
    yield from (Receipt(), Plan(plan(play(1), play(2), play(3, deal=2))))
    yield from (Look(1, "west", "strange"), Keys(("enter",)), Keys(("y",)))
    yield Look(2, shuffled(chance)[0])
    yield from arbiter("forward", "8", "y")
    yield from begun(2, chance)
    yield from (Keys(("d",)), WindowOver())
    yield from recorded(chance)
    yield from begun(1, chance, seated=True)
    yield from (Keys(("d",)), WindowOver())
    yield from recorded(chance)
    yield from arbiter("override", "8")
    yield from begun(3, chance, seated=True)


def scanned(chance: random.Random) -> Part:
    """Trays are restored by scanner, checked by the camera, and ticked by hand."""
    yield from (Receipt(), Plan(plan(play(1))))
    by_scanner, seen, unread, _ = shuffled(chance)
    yield from (Scan(1, by_scanner, place) for place in range(TRAY))
    yield from (Look(1, seen), Look(1, unread, "unread"))
    yield from keys("h 1 2 3 back 3 1 2 3")
    yield from agree(chance)
    yield from agree(chance)
    yield Keys(("d",))


def riichi_session(chance: random.Random) -> Part:
    """A session of riichi: ron on a riichi tile, tsumo, a draw, a chombo, an abort, a take-back, the end."""
    yield from (Receipt(), Plan(session_plan()))
    yield from agree(chance)
    one, other, third, _ = shuffled(chance)
    yield from (Press(one, 2 * S), Hold(one), Release(one))
    yield from (Keys(("i",)), Keys((other[0],)))
    yield from claimed(third)
    yield from keys(f"3 enter 3 0 enter {one[0]} n")
    yield from recorded(chance)
    yield from claimed(one)
    yield from keys("2 enter 4 0 enter d")
    yield from (Tap(other), Keys(("r",)))
    yield from keys("5 enter d")
    yield from recorded(chance)
    yield from (Keys(("d",)), WindowOver())
    yield from (Tap(one), Tap(other), Tap(other), Keys(("enter",)))
    yield from recorded(chance)
    yield from keys(f"f {third[0]} 1")
    yield WindowOver()
    yield from agree(chance)
    yield from keys("u enter")
    yield from keys("b 1")
    yield WindowOver()
    yield from agree(chance)
    yield from keys(f"f {other[0]} 2")
    yield from (Receipt(), *keys("q enter"))


def riichi_alone(chance: random.Random) -> Part:
    """Planned deals under riichi rules: one is won by two, one is drawn."""
    yield from (Receipt(), Plan(plan(play(1), play(2), profile="riichi-montreal")))
    one, other, third, _ = shuffled(chance)
    yield from begun(1, chance)
    yield from claimed(one, other)
    yield from keys(f"3 enter 4 0 enter y enter enter {third[0]}")
    yield from recorded(chance)
    yield from begun(2, chance, seated=True)
    yield from (Keys(("d",)), WindowOver())
    yield from (Tap(one), Keys(("enter",)))
    yield from recorded(chance)


KINDS: Final[Mapping[str, Written]] = {
    one.__name__: one
    for one in (
        win_by_discard,
        self_drawn,
        drawn,
        doubted,
        panel,
        wrong_carrier,
        scanned,
        riichi_session,
        riichi_alone,
    )
}


def day(kind: str, seed: int) -> Day:
    """Generate one day."""
    return tuple(KINDS[kind](random.Random(seed)))
