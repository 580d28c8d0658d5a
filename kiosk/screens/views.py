"""What may be seen of a table. While a play goes on nothing in here knows of presses, so nothing can show them.

Deposits of a riichi session are public and shown at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from broker.protocol import SEATS, Fine, PublicState, RiichiEvent, RiichiWin, Seat, Tray, Wind, WinKind
from broker.rules import seat_wind
from broker.rules.riichi import AbortReason, SettledEvent, points_by_seat, wall_of
from kiosk.counting.desk import CountingView
from kiosk.input import ArbiterPanel, Form, RiichiForm, RiichiQuestion, WinForm, abort_reasons, chombo_spoils
from kiosk.pairing.form import PairingForm
from kiosk.restoring import Restoring
from kiosk.self_test import SelfTestView
from kiosk.table import (
    LINES,
    QUIET,
    Phase,
    RiichiSession,
    SessionEntry,
    Table,
    TrayProblem,
    Work,
    claim,
    guards,
    minutes_left,
    sheet_pages,
)


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One entry."""

    wind: Seat
    dealer: int
    """Which deal of the round it was, from 1."""
    told: RiichiEvent
    deltas: dict[Seat, int]


@dataclass(frozen=True, slots=True)
class SheetView:
    """One page of a sheet, the newest entry last."""

    page: int
    """0 is the newest."""
    pages: int
    lines: tuple[SheetLine, ...]
    scores: dict[Seat, int]
    elsewhere: int = 0
    """How many entries this device does not know: another had the table before."""


def sheet_view(session: RiichiSession, page: int) -> SheetView:
    """Return a page."""
    upto = len(session.entries) - page * LINES
    return SheetView(
        page=page,
        pages=sheet_pages(session),
        lines=tuple(_sheet_line(one) for one in session.entries[max(0, upto - LINES) : max(0, upto)]),
        scores={seat: session.state.scores[at] for at, seat in enumerate(SEATS)},
        elsewhere=session.recorded - len(session.entries),
    )


def _sheet_line(entry: SessionEntry) -> SheetLine:
    before = entry.before
    return SheetLine(SEATS[before.round], before.dealer + 1, entry.fact.event, dict(entry.fact.deltas))


Scores = Literal["always", "between_hands"]
"""When the table sees the session's score, as the club wishes."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """Everything that a riichi table's screen shows beside what all tables' do."""

    dealer: int
    """Which deal of the round it is, from 1."""
    counters: int
    deposits: int
    scores: dict[Seat, int] = field(default_factory=dict)
    """None of them where the club does not wish it now."""
    riichi: tuple[Seat, ...] = ()
    form: RiichiForm | None = None
    asking: bool = False
    tenpai: frozenset[Seat] = frozenset()
    told: RiichiEvent | None = None
    """How the hand ended, to be accepted or recorded."""
    paid: dict[Seat, int] = field(default_factory=dict)
    places: dict[Seat, int] = field(default_factory=dict)
    aborts: tuple[AbortReason, ...] = ()
    spoils: bool = False
    """Whether a chombo costs more that spoils a possible yakuman."""
    sheet: SheetView | None = None
    """A page of what was recorded, while somebody looks at it."""

    @property
    def asked(self) -> Seat | None:
        """Whose hand is asked about."""
        return self.form.seat if isinstance(self.form, WinForm) else None

    @property
    def marked(self) -> frozenset[Seat]:
        """Who has said to be tenpai."""
        return self.tenpai if self.asking else frozenset()


def session_view(state: Table, session: RiichiSession, form: RiichiForm | None, scores: Scores) -> SessionView:
    """Return what is to be seen of a session."""
    in_hand = state.phase in (Phase.PLAYING, Phase.CLAIMING)
    settled = session.settled if state.phase in (Phase.ACCEPTING, Phase.RECORDED, Phase.FINISHED) else None
    visible = scores == "always" or not in_hand
    return SessionView(
        dealer=session.state.dealer + 1,
        counters=session.state.counters,
        deposits=session.deposits,
        scores={seat: session.score(seat) for seat in SEATS} if visible else {},
        riichi=session.riichi,
        form=form,
        asking=session.asking and state.phase is Phase.DECLARED,
        tenpai=session.tenpai,
        told=session.pending if settled else None,
        paid=_paid(session, settled, state.phase) if settled else {},
        places=dict(zip(SEATS, settled.places, strict=True)) if settled and settled.places else {},
        aborts=session.profile.session.draw.aborts.value,
        spoils=chombo_spoils(state),
        sheet=sheet_view(session, form.page) if isinstance(form, RiichiQuestion) and form.about == "sheet" else None,
    )


def _paid(session: RiichiSession, settled: SettledEvent, phase: Phase) -> dict[Seat, int]:
    """Return what each gets or pays now: who has laid a deposit in this hand does not pay it again."""
    if phase is Phase.FINISHED:
        return {}
    laid = session.riichi if phase is Phase.ACCEPTING or not session.entries else session.entries[-1].riichi
    deposit = session.profile.points.deposit.value
    return {seat: points + (deposit if seat in laid else 0) for seat, points in points_by_seat(settled.deltas).items()}


@dataclass(frozen=True, slots=True)
class PlannedRiichiView:
    """Everything that the screen shows of it beside what all tables' do."""

    wall: tuple[Seat, ...] = ()
    """Whose part of the common wall is drawn one after the other."""
    form: RiichiForm | None = None
    asking: bool = False
    tenpai: frozenset[Seat] = frozenset()
    told: RiichiEvent | None = None
    """How the hand ended, to be accepted or recorded."""
    aborts: tuple[AbortReason, ...] = ()
    spoils: Literal[False] = False
    """No fault is paid in points here."""

    @property
    def asked(self) -> Seat | None:
        """Whose hand is asked about."""
        return self.form.seat if isinstance(self.form, WinForm) else None

    @property
    def marked(self) -> frozenset[Seat]:
        """Who has said to be tenpai."""
        return self.tenpai

    def worth(self, seat: Seat) -> RiichiWin | None:
        """Return what a winner's hand is worth, as far as it is entered."""
        if self.told is not None:
            return self.told.wins.get(seat)
        return self.form.entered.get(seat) if isinstance(self.form, WinForm) else None


def planned_riichi_view(state: Table, form: RiichiForm | None) -> PlannedRiichiView:
    """Return what is to be seen."""
    quiet = state.phase in (Phase.PLAYING, Phase.CLAIMING)
    told = None if quiet else state.hand.told
    return PlannedRiichiView(
        wall=wall_of(state.play.dealer) if state.play else (),
        form=form,
        asking=state.hand.asking and state.phase is Phase.DECLARED,
        tenpai=frozenset() if quiet or (told and told.kind != "draw") else state.hand.tenpai,
        told=told,
        aborts=abort_reasons(state),
    )


HIDDEN: Final = "*"

REFUSED: Final = "broker: broker_refused"
"""How it stands in the health that the broker does not let the device in."""

OF_A_SEAT: Final = ("button-", "contact-", "press-")
"""How the health of one seat's button is named, of its contact, and of a press of it that was told late."""


@dataclass(frozen=True, slots=True)
class StatusLine:
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
class ResultView:
    """A result as it is shown to the four seats."""

    win: WinKind
    winners: dict[Seat, int]
    discarder: Seat | None
    points: dict[Seat, int]


@dataclass(frozen=True, slots=True)
class ScreenView:
    """Everything on the screen; equal where the picture is equal."""

    table: int
    state: PublicState
    line: StatusLine = StatusLine()
    round: int | None = None
    deal: int | None = None
    prevalent_wind: Wind | None = None
    players: dict[Seat, str] = field(default_factory=dict)
    winds: dict[Seat, Wind] = field(default_factory=dict)
    marked: frozenset[Seat] = frozenset()
    """Seats with a tick: trays that are right, tiles confirmed, results accepted."""
    check: TrayProblem | None = None
    work: Work | None = None
    """What is known of the trays, while walls are restored."""
    order: Mapping[Seat, Tray] | None = None
    """What belongs in them."""
    bench: Restoring | None = None
    """What the camera and the scanner tell besides."""
    declared: tuple[Seat, ...] = ()
    form: Form | None = None
    count: CountingView | None = None
    """A winner's hand, while it is counted from the backs of its tiles."""
    told: str | None = None
    """The key that says whose tile it was, as the counted hand tells."""
    result: ResultView | None = None
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
    panel: ArbiterPanel | None = None
    """The arbiter's panel, while it is open; of a PIN no digit, only how many there are."""
    ruled: str | None = None
    """What the arbiter has ruled here in the place of a result: `void` or `adjusted`."""
    problem: str | None = None
    """Code of what was refused at the keyboard."""
    session: SessionView | None = None
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
    alone: PlannedRiichiView | None = None
    """A planned deal under riichi rules."""
    self_test: SelfTestView | None = None
    """The self-test of the hardware, while one is running."""

    @property
    def riichi(self) -> SessionView | PlannedRiichiView | None:
        """What a table that plays riichi shows, in whichever way."""
        return self.session or self.alone


def cannot_serve(now: ScreenView) -> bool:
    """Return whether a device has lost its right: another serves its table, or between plays the broker refuses it."""
    refused = now.state in ("waiting", "finished") and REFUSED in now.line.health
    return now.elsewhere or refused


def screen_view(
    table: int,
    state: Table,
    form: Form | None,
    line: StatusLine,
    problem: str | None,
    panel: ArbiterPanel | None = None,
) -> ScreenView:
    """Return what is to be seen. An open claim window looks exactly like the play before it."""
    play = state.play
    if play is None:
        return ScreenView(table=table, state=state.public, line=line, calling=_calling(state), paused=state.paused)
    quiet = state.phase in QUIET
    return ScreenView(
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
        stopped=next(iter(guards.active_guards(state)), None),
        repeating=_repeating(state),
        declared=tuple(one.seat for one in state.declarations) if state.phase is Phase.DECLARED else (),
        form=form,
        result=_result_view(state),
        fines=dict(state.fines),
        calling=_calling(state),
        extra_min=state.extra_min,
        ended=state.ended,
        paused=state.paused,
        panel=_with_hidden_pin(panel),
        ruled=state.ruled,
        problem=None if quiet and panel is None else problem,
    )


def with_restoring(now: ScreenView, state: Table, at_hand: Restoring) -> ScreenView:
    """Add what is to be seen while walls are restored; nothing at other times."""
    if state.play is None or state.phase is not Phase.RESTORING:
        return now
    return replace(now, work=state.work, order=state.play.order, bench=at_hand)


def with_time_left(now: ScreenView, state: Table, at: int) -> ScreenView:
    """Add how much of the play's time is left at a moment, ns."""
    return replace(now, left_min=minutes_left(state, at))


def _with_hidden_pin(panel: ArbiterPanel | None) -> ArbiterPanel | None:
    """Leave out which digits of a PIN were typed: pictures of the screen may be kept."""
    return replace(panel, digits=HIDDEN * len(panel.digits)) if panel and panel.ask == "pin" else panel


def _quiet(line: StatusLine) -> StatusLine:
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
    again = guards.players_repeating(state) if guards.active_guards(state) else ()
    return tuple(player.name for player in state.players.values() if player.id in again)


def _result_view(state: Table) -> ResultView | None:
    if state.outcome is None:
        return None
    there = claim.pending_result(state)
    return ResultView(there.win, there.winners, there.discarder, there.points)
