"""What may be seen of a table. While a play goes on nothing in here knows of presses, so nothing can show them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from broker.contract.facts import Fine
from broker.contract.plans import Tray
from broker.contract.words import PublicState, Seat, Wind, WinKind
from broker.rules.deal import seat_wind
from kiosk.bench import Bench
from kiosk.counting.desk import CountShown
from kiosk.entry import Form
from kiosk.pairing.form import PairingForm
from kiosk.panel import Panel
from kiosk.screens.alone_shown import AloneShown
from kiosk.screens.riichi_shown import SessionShown
from kiosk.self_test.walk import Seen
from kiosk.table import guards, settle
from kiosk.table.play_clock import minutes_left
from kiosk.table.restoring.work import Work
from kiosk.table.state import Check, Phase, Table

QUIET: Final = (Phase.PLAYING, Phase.CLAIMING)
"""Where nothing may be seen of a press."""

HIDDEN: Final = "*"

REFUSED: Final = "broker: broker_refused"
"""How it stands in the health that the broker does not let the device in."""

OF_A_SEAT: Final = ("button-", "contact-", "press-")
"""How the health of one seat's button is named, of its contact, and of a press of it that was told late."""


@dataclass(frozen=True, slots=True)
class Line:
    """The foot: whether the table is connected, what has no receipt, what is broken; the time of day, the version."""

    up: bool = False
    unsent: int = 0
    refused: int = 0
    health: tuple[str, ...] = ()
    clock: str = ""
    """Hours and minutes."""
    version: str = ""
    apart: bool = False
    """The device belongs to no table yet: it is connected with nothing."""


@dataclass(frozen=True, slots=True)
class Winning:
    """A result as it is shown to the four seats."""

    win: WinKind
    winners: dict[Seat, int]
    discarder: Seat | None
    points: dict[Seat, int]


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything on the screen; equal where the picture is equal."""

    table: int
    state: PublicState
    line: Line = Line()
    round: int | None = None
    deal: int | None = None
    prevalent_wind: Wind | None = None
    players: dict[Seat, str] = field(default_factory=dict)
    winds: dict[Seat, Wind] = field(default_factory=dict)
    marked: frozenset[Seat] = frozenset()
    """Seats with a tick: trays that are right, tiles confirmed, results accepted."""
    check: Check | None = None
    work: Work | None = None
    """What is known of the trays, while walls are restored."""
    order: Mapping[Seat, Tray] | None = None
    """What belongs in them."""
    bench: Bench | None = None
    """What the camera and the scanner tell besides."""
    declared: tuple[Seat, ...] = ()
    form: Form | None = None
    count: CountShown | None = None
    """A winner's hand, while it is counted from the backs of its tiles."""
    told: str | None = None
    """The key that says whose tile it was, as the counted hand tells."""
    result: Winning | None = None
    fines: dict[Seat, Fine] = field(default_factory=dict)
    calling: bool = False
    left_min: int | None = None
    """Whole minutes of the play's time that are left, below zero those that it is over; None where it has no limit."""
    extra_min: int = 0
    """Minutes that the arbiter has added to this play."""
    ended: bool = False
    """It was said that nobody won, and the claim window is not over: alike, whether or not somebody has pressed."""
    paused: bool = False
    stopped: str | None = None
    """Code of what stops this play before a tile is touched."""
    repeating: tuple[str, ...] = ()
    """Names of those who have played this deal before."""
    panel: Panel | None = None
    """The arbiter's panel, while it is open; of a PIN no digit, only how many there are."""
    ruled: str | None = None
    """What the arbiter has ruled here in the place of a result: `void` or `adjusted`."""
    problem: str | None = None
    """Code of what was refused at the keyboard."""
    session: SessionShown | None = None
    """The riichi session, at a table that plays one."""
    calls_before: int | None = None
    """How many calls are before the table's own; None: no call is shown, or that is not known."""
    arbiter_coming: bool = False
    """An arbiter has said at the desk that they are on the way to the table's call."""
    receipt: str | None = None
    """The code of the receipt of the play that was recorded."""
    receipt_link: str = ""
    """Where that receipt can be seen from home; empty where the event has made no address known."""
    may_pair: bool = False
    """The device can do nothing as it is paired, and may be paired anew."""
    elsewhere: bool = False
    """The table is served by another device."""
    pairing: PairingForm | None = None
    """What is typed where the device has no table yet."""
    alone: AloneShown | None = None
    """A planned deal under riichi rules."""
    self_test: Seen | None = None
    """The self-test of the hardware, while one is running."""

    @property
    def riichi(self) -> SessionShown | AloneShown | None:
        """What a table that plays riichi shows, in whichever way."""
        return self.session or self.alone


def useless(now: Shown) -> bool:
    """Say whether a device has lost its right: another serves its table, or between plays the broker refuses it."""
    refused = now.state in ("waiting", "finished") and REFUSED in now.line.health
    return now.elsewhere or refused


def shown(
    table: int, state: Table, form: Form | None, line: Line, problem: str | None, panel: Panel | None = None
) -> Shown:
    """Give what is to be seen. An open claim window looks exactly like the play before it."""
    play = state.play
    if play is None:
        return Shown(table=table, state=state.public, line=line, calling=_calling(state), paused=state.paused)
    quiet = state.phase in QUIET
    return Shown(
        table=table,
        state=state.public,
        line=_quiet(line) if quiet else line,
        round=play.round,
        deal=play.deal,
        prevalent_wind=play.prevalent_wind,
        players={seat: player.name for seat, player in state.players.items()},
        winds={seat: seat_wind(seat, play.dealer) for seat in play.players},
        marked=frozenset() if quiet else _marked(state),
        check=state.check,
        stopped=next(iter(guards.standing(state)), None),
        repeating=_repeating(state),
        declared=tuple(one.seat for one in state.declarations) if state.phase is Phase.DECLARED else (),
        form=form,
        result=_winning(state),
        fines=dict(state.fines),
        calling=_calling(state),
        extra_min=state.extra_min,
        ended=state.ended,
        paused=state.paused,
        panel=_covered(panel),
        ruled=state.ruled,
        problem=None if quiet and panel is None else problem,
    )


def in_restoring(now: Shown, state: Table, at_hand: Bench) -> Shown:
    """Add what is to be seen while walls are restored; nothing at other times."""
    if state.play is None or state.phase is not Phase.RESTORING:
        return now
    return replace(now, work=state.work, order=state.play.order, bench=at_hand)


def timed(now: Shown, state: Table, at: int) -> Shown:
    """Add how much of the play's time is left at a moment, ns."""
    return replace(now, left_min=minutes_left(state, at))


def _covered(panel: Panel | None) -> Panel | None:
    """Leave out which digits of a PIN were typed: pictures of the screen may be kept."""
    return replace(panel, digits=HIDDEN * len(panel.digits)) if panel and panel.ask == "pin" else panel


def _quiet(line: Line) -> Line:
    """Leave out of the line at the foot what a press can change.

    A long press makes a fact to be sent, or to be refused, and a finger that stays down makes a stuck button: counted
    or named in the middle of a play, they would tell of it. They are shown when the play is over.
    """
    health = tuple(one for one in line.health if not one.startswith(OF_A_SEAT))
    return replace(line, unsent=0, refused=0, health=health)


def _calling(state: Table) -> bool:
    """A call that was made by a long press is the arbiter's to know."""
    return state.calling and not state.discreet


def _marked(state: Table) -> frozenset[Seat]:
    return {Phase.RESTORING: state.verified, Phase.SEATING: state.arrived}.get(state.phase, state.agreed)


def _repeating(state: Table) -> tuple[str, ...]:
    again = guards.repeating(state) if guards.standing(state) else ()
    return tuple(player.name for player in state.players.values() if player.id in again)


def _winning(state: Table) -> Winning | None:
    if state.outcome is None:
        return None
    there = settle.result(state)
    return Winning(there.win, there.winners, there.discarder, there.points)
