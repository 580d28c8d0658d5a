"""The views of a table: a frame, and in it one view for each phase.

The view of a play has no field that a press could change, so no press can show. The deposits of a riichi session are
public and shown at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from broker.i18n import isolated
from broker.protocol import (
    SEATS,
    Fine,
    NextSeat,
    PlannedPlay,
    PublicState,
    RiichiEvent,
    Seat,
    Tray,
    Wind,
    WinKind,
    play_sequence,
)
from broker.rules import seat_wind
from broker.rules.riichi import AbortReason, SettledEvent, points_by_seat, wall_of
from broker.version import program_version
from kiosk.counting.desk import CountingView
from kiosk.input import ArbiterPanel, Form, RiichiForm, RiichiQuestion, WinForm, abort_reasons, chombo_spoils
from kiosk.keeping import Keeping
from kiosk.pairing.form import PairingForm
from kiosk.restoring import Restoring
from kiosk.self_test import SelfTestView
from kiosk.table import (
    LINES_PER_PAGE,
    QUIET,
    Doubt,
    Light,
    Phase,
    RiichiSession,
    SessionEntry,
    Table,
    TrayProblem,
    Work,
    active_guards,
    claim,
    minutes_left,
    players_repeating,
    sheet_pages,
)

HIDDEN: Final = "*"
REFUSED: Final = "broker: broker_refused"
"""The entry in the health if the broker refuses the device."""

SEAT_PREFIXES: Final = ("button-", "contact-", "press-")
"""Prefixes in the health for a seat's button, its contact, and a press of it that was reported late."""


@dataclass(frozen=True, slots=True)
class StatusLine:
    """The foot: connection, facts without a receipt, faults, time of day and version."""

    up: bool = False
    unsent: int = 0
    refused: int = 0
    health: tuple[str, ...] = ()
    clock: str = ""
    """Hours and minutes."""
    version: str = ""
    unpaired: bool = False
    """Whether the device belongs to no table yet, and so is connected to nothing."""
    scorer_silent: bool = False
    """Whether a broker is connected, but the scorer has been silent for long."""
    plain: bool = False
    """Whether the connection is not encrypted."""


@dataclass(frozen=True, slots=True)
class CallView:
    """A call for the arbiter that the table may see."""

    before: int | None = None
    """How many calls are before this table's; None if unknown."""
    arbiter_coming: bool = False
    """Whether an arbiter has said at the desk that they are on the way."""


@dataclass(frozen=True, slots=True)
class PlayView:
    """The head of the screen and the names at its seats, the same from restoring to the recorded result."""

    round: int
    deal: int
    prevalent_wind: Wind
    players: dict[Seat, str]
    winds: dict[Seat, Wind]
    fines: dict[Seat, Fine] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimeView:
    """The time of a play."""

    left_min: int | None = None
    """Whole minutes left, negative once the time is over; None without a limit."""
    extra_min: int = 0
    """Minutes that the arbiter has added."""


@dataclass(frozen=True, slots=True)
class ResultView:
    """A result as shown to the four seats."""

    win: WinKind
    winners: dict[Seat, int]
    discarder: Seat | None
    points: dict[Seat, int]
    overtaken: tuple[Seat, ...] = ()
    """Seats that declared on a later tile."""


@dataclass(frozen=True, slots=True)
class PairingView:
    """A device that has no table yet."""

    form: PairingForm
    state: Literal["waiting"] = "waiting"


@dataclass(frozen=True, slots=True)
class StoppedView:
    """The program is not running, and the supervisor stands in for it."""

    why: str
    """Code of why the program ended."""
    failures: int = 1
    presses_kept: bool = False
    state: Literal["waiting"] = "waiting"


@dataclass(frozen=True, slots=True)
class ElsewhereView:
    """Another device serves the table."""

    state: PublicState
    may_pair: bool = False
    """Whether the device may be paired again."""


@dataclass(frozen=True, slots=True)
class IdleView:
    """Before the first play, or after the last."""

    state: Literal["waiting", "finished"] = "waiting"
    may_pair: bool = False
    """Whether the device cannot work as it is paired, and may be paired again."""


@dataclass(frozen=True, slots=True)
class RestoringView:
    """Walls are being restored."""

    work: Work
    """What is known of the trays."""
    order: Mapping[Seat, Tray]
    """What belongs in the trays."""
    restoring: Restoring = field(default_factory=Restoring)
    """What camera and scanner report besides."""
    check: TrayProblem | None = None
    marked: frozenset[Seat] = frozenset()
    """Seats whose tray is right."""
    arrived: frozenset[Seat] = frozenset()
    """Seats whose player has checked in meanwhile."""
    stopped: str | None = None
    """Code of the guard that stops this play before a tile is touched."""
    repeating: tuple[Seat, ...] = ()
    """Seats of players who have played this deal before."""
    state: Literal["restoring"] = "restoring"


@dataclass(frozen=True, slots=True)
class SeatingView:
    """Players check in, then confirm their tiles."""

    state: Literal["seating", "confirming"]
    marked: frozenset[Seat] = frozenset()
    """Seats that have done so."""


@dataclass(frozen=True, slots=True)
class PlayingView:
    """A play, whether or not a claim window is open. It holds nothing about presses."""

    ended: bool = False
    """Whether somebody reported that nobody won, and the claim window is still open, with or without presses."""
    doubt: Doubt | None = None
    """What is said about presses once their window is over: press again to mean hu, or four cannot have won."""
    state: Literal["playing"] = "playing"


@dataclass(frozen=True, slots=True)
class DeclaredView:
    """A declaration is waiting for its value."""

    declared: tuple[Seat, ...] = ()
    form: Form | None = None
    count: CountingView | None = None
    """A winner's hand, while it is counted from the backs of its tiles."""
    discarder_key: str | None = None
    """The key for the owner of the winning tile, according to the counted hand."""
    state: Literal["declared"] = "declared"


@dataclass(frozen=True, slots=True)
class AcceptingView:
    """The four seats accept a result. In a riichi session, it is in the session's view."""

    result: ResultView | None = None
    marked: frozenset[Seat] = frozenset()
    """Seats that have accepted."""
    state: Literal["accepting"] = "accepting"


@dataclass(frozen=True, slots=True)
class RecordedView:
    """A play is recorded, with a result or with the arbiter's ruling."""

    result: ResultView | None = None
    marked: frozenset[Seat] = frozenset()
    """Seats that have accepted."""
    ruled: Literal["void", "adjusted"] | None = None
    """The arbiter's ruling in place of a result."""
    receipt: str | None = None
    """The code of the receipt."""
    receipt_link: str = ""
    """A link to look the receipt up at home; empty if the event has published no address."""
    keeping: Keeping | None = None
    """What has been read of the play, while it is being kept."""
    may_keep: bool = False
    """Whether keeping the play is offered."""
    anchor: str = ""
    """An anchor with which anybody who noted it can prove a later change."""
    onward: Mapping[Seat, NextSeat | None] = field(default_factory=dict)
    """Where the players here play next, once one of them changes tables; None: nowhere that is known."""
    at_centre: bool | None = None
    """Whether the centre has the result as well; None if there is no centre, or the hall's scorer lacks it."""
    state: Literal["recorded"] = "recorded"


PhaseView = (
    PairingView
    | StoppedView
    | ElsewhereView
    | IdleView
    | RestoringView
    | SeatingView
    | PlayingView
    | DeclaredView
    | AcceptingView
    | RecordedView
)


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One entry of a session's sheet."""

    wind: Seat
    dealer: int
    """The number of the deal in its round, from 1."""
    ending: RiichiEvent
    deltas: dict[Seat, int]


@dataclass(frozen=True, slots=True)
class SheetView:
    """One page of a sheet, the newest entry last."""

    page: int
    """0 is the newest page."""
    pages: int
    lines: tuple[SheetLine, ...]
    scores: dict[Seat, int]
    unknown: int = 0
    """Number of entries unknown to this device, as another one had the table before."""


def sheet_view(session: RiichiSession, page: int) -> SheetView:
    """Return a page of the session's sheet."""
    upto = len(session.entries) - page * LINES_PER_PAGE
    return SheetView(
        page=page,
        pages=sheet_pages(session),
        lines=tuple(_sheet_line(one) for one in session.entries[max(0, upto - LINES_PER_PAGE) : max(0, upto)]),
        scores={seat: session.state.scores[at] for at, seat in enumerate(SEATS)},
        unknown=session.recorded - len(session.entries),
    )


def _sheet_line(entry: SessionEntry) -> SheetLine:
    before = entry.before
    return SheetLine(SEATS[before.round], before.dealer + 1, entry.fact.event, dict(entry.fact.deltas))


Scores = Literal["always", "between_hands"]
"""When the table shows the session's score, as set by the club."""


@dataclass(frozen=True, slots=True)
class RiichiPrompt:
    """The open question at a riichi table, and the possible answers."""

    form: RiichiForm | None = None
    aborts: tuple[AbortReason, ...] = ()
    """The reasons for which a hand may be aborted."""
    spoils: bool = False
    """Whether a chombo that spoils a possible yakuman costs more. False where faults are not paid in points."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """What the screen of a riichi session shows in addition to that of other tables."""

    dealer: int
    """The number of the deal in its round, from 1."""
    counters: int
    deposits: int
    scores: dict[Seat, int] = field(default_factory=dict)
    """Empty while the club does not want scores shown."""
    riichi: tuple[Seat, ...] = ()
    deposit: int = 1000
    """Points of a riichi deposit."""
    prompt: RiichiPrompt = RiichiPrompt()
    asks_tenpai: bool = False
    tenpai: frozenset[Seat] = frozenset()
    ending: RiichiEvent | None = None
    """How the hand ended, to be accepted or as recorded."""
    overtaken: tuple[Seat, ...] = ()
    """Seats that declared on a later tile."""
    paid: dict[Seat, int] = field(default_factory=dict)
    places: dict[Seat, int] = field(default_factory=dict)
    sheet: SheetView | None = None
    """A page of the session's sheet, while somebody looks at it."""

    @property
    def marked(self) -> frozenset[Seat]:
        """Seats that have declared tenpai."""
        return self.tenpai if self.asks_tenpai else frozenset()


def session_view(state: Table, session: RiichiSession, form: RiichiForm | None, scores: Scores) -> SessionView:
    """Return the view of a session."""
    settled = session.settled if state.phase in (Phase.ACCEPTING, Phase.RECORDED, Phase.FINISHED) else None
    visible = scores == "always" or state.phase not in QUIET
    return SessionView(
        dealer=session.state.dealer + 1,
        counters=session.state.counters,
        deposits=session.deposits,
        scores={seat: session.score(seat) for seat in SEATS} if visible else {},
        riichi=session.riichi,
        deposit=session.profile.points.deposit.value,
        prompt=RiichiPrompt(form, session.profile.session.draw.aborts.value, chombo_spoils(state)),
        asks_tenpai=state.hand.asks_tenpai and state.phase is Phase.DECLARED,
        tenpai=state.hand.tenpai,
        ending=state.hand.result if settled else None,
        overtaken=overtaken_seats(state) if settled else (),
        paid=_paid(session, settled, state.phase) if settled else {},
        places=dict(zip(SEATS, settled.places, strict=True)) if settled and settled.places else {},
        sheet=sheet_view(session, form.page) if isinstance(form, RiichiQuestion) and form.about == "sheet" else None,
    )


def _paid(session: RiichiSession, settled: SettledEvent, phase: Phase) -> dict[Seat, int]:
    """Return what each seat gets or pays now. A deposit laid in this hand is not paid again."""
    if phase is Phase.FINISHED:
        return {}
    laid = session.riichi if phase is Phase.ACCEPTING or not session.entries else session.entries[-1].riichi
    deposit = session.profile.points.deposit.value
    return {seat: points + (deposit if seat in laid else 0) for seat, points in points_by_seat(settled.deltas).items()}


@dataclass(frozen=True, slots=True)
class PlannedRiichiView:
    """What the screen of a planned riichi deal shows in addition to that of other tables."""

    wall: tuple[Seat, ...] = ()
    """The seats whose part of the common wall is drawn, in order."""
    prompt: RiichiPrompt = RiichiPrompt()
    asks_tenpai: bool = False
    tenpai: frozenset[Seat] = frozenset()
    ending: RiichiEvent | None = None
    """How the hand ended, to be accepted or as recorded."""

    @property
    def marked(self) -> frozenset[Seat]:
        """Seats that have declared tenpai."""
        return self.tenpai


def planned_riichi_view(state: Table, form: RiichiForm | None) -> PlannedRiichiView:
    """Return the view of a planned riichi deal."""
    quiet = state.phase in QUIET
    ending = None if quiet else state.hand.result
    return PlannedRiichiView(
        wall=wall_of(state.play.dealer) if state.play else (),
        prompt=RiichiPrompt(form, abort_reasons(state)),
        asks_tenpai=state.hand.asks_tenpai and state.phase is Phase.DECLARED,
        tenpai=frozenset() if quiet or (ending and ending.kind != "draw") else state.hand.tenpai,
        ending=ending,
    )


def overtaken_seats(state: Table) -> tuple[Seat, ...]:
    """Return the seats that declared on a later tile than the winning one."""
    return tuple(seat for seat in state.declared_on if seat not in play_sequence.winning_tile(state.declared_on)[1])


@dataclass(frozen=True, slots=True)
class ScreenView:
    """Everything on the screen. Two views are equal if their pictures are."""

    table: int
    phase: PhaseView
    line: StatusLine = StatusLine()
    call: CallView | None = None
    play: PlayView | None = None
    time: TimeView = TimeView()
    riichi: SessionView | PlannedRiichiView | None = None
    """At a table that plays riichi: its session, or a planned deal."""
    paused: bool = False
    panel: ArbiterPanel | None = None
    """The arbiter's panel, while it is open; of a PIN, only the number of digits."""
    pin_wait_s: int = 0
    """Seconds during which no PIN is accepted; 0 if one is, or none is asked for."""
    unproven: bool = False
    """Whether the arbiter's PIN is checked later, as the scorer could not be asked."""
    self_test: SelfTestView | None = None
    """The hardware self-test, while one is running."""
    problem: str | None = None
    """Code of the last refusal at the keyboard."""
    light: Light | None = None
    """The light ordered by the desk."""

    @property
    def state(self) -> PublicState:
        """The table's state, as everybody may know it."""
        return self.phase.state

    @property
    def players(self) -> dict[Seat, str]:
        """Players by seat, with names marked for use in sentences; empty between plays."""
        return {seat: isolated(name) for seat, name in self.play.players.items()} if self.play else {}

    @property
    def deal(self) -> int | None:
        """The deal being played."""
        return self.play.deal if self.play else None

    @property
    def marked(self) -> frozenset[Seat]:
        """Seats with a tick: trays that are right, tiles confirmed, results accepted."""
        match self.phase:
            case RestoringView(marked=marked) | SeatingView(marked=marked):
                return marked
            case AcceptingView(marked=marked) | RecordedView(marked=marked):
                return marked
        return frozenset()

    @property
    def declared(self) -> tuple[Seat, ...]:
        """Seats that have declared, once the claim window is over."""
        return self.phase.declared if isinstance(self.phase, DeclaredView) else ()

    @property
    def form(self) -> Form | WinForm | None:
        """The form of a win, as far as it is filled in."""
        of_riichi = self.riichi.prompt.form if self.riichi else None
        form = self.phase.form if isinstance(self.phase, DeclaredView) and not self.riichi else of_riichi
        return None if isinstance(form, RiichiQuestion) else form

    @property
    def result(self) -> ResultView | None:
        """The result, to be accepted or as recorded."""
        return self.phase.result if isinstance(self.phase, AcceptingView | RecordedView) else None


def stopped_view(table: int, why: str, failures: int, *, presses_kept: bool) -> ScreenView:
    """Return the view while the program is not running, the same whoever presses."""
    return ScreenView(
        table, StoppedView(why, failures, presses_kept), StatusLine(version=program_version(), unpaired=True)
    )


def may_pair(view: ScreenView) -> bool:
    """Return whether the device may be paired again from this screen."""
    return isinstance(view.phase, ElsewhereView | IdleView) and view.phase.may_pair


def with_pairing(view: ScreenView) -> ScreenView:
    """Offer to pair again if another device serves the table, or the broker refuses this one between plays."""
    if isinstance(view.phase, ElsewhereView) or (isinstance(view.phase, IdleView) and REFUSED in view.line.health):
        return replace(view, phase=replace(view.phase, may_pair=True))
    return view


def screen_view(
    table: int,
    state: Table,
    form: Form | None,
    line: StatusLine,
    problem: str | None,
    panel: ArbiterPanel | None = None,
    restoring: Restoring | None = None,
) -> ScreenView:
    """Return the view of a table. An open claim window looks exactly like the play before it."""
    call = CallView() if state.calling and not state.discreet else None  # a long press calls unseen by the table
    play = state.play
    if play is None:
        return ScreenView(table, _idle(state), line, call, paused=state.paused)
    quiet = state.phase in QUIET
    return ScreenView(
        table,
        phase=PlayingView(state.ended, state.doubt)
        if quiet
        else _phase_view(state, play, form, restoring or Restoring()),
        line=_quiet_line(line) if quiet else line,
        call=call,
        play=PlayView(
            round=play.round,
            deal=play.deal,
            prevalent_wind=play.prevalent_wind,
            players={seat: player.name for seat, player in state.players.items()},
            winds={seat: seat_wind(seat, play.dealer) for seat in play.players},
            fines=dict(state.fines),
        ),
        time=TimeView(extra_min=state.extra_min),
        paused=state.paused,
        panel=_with_hidden_pin(panel),
        problem=None if quiet and panel is None else problem,
    )


def _idle(state: Table) -> IdleView:
    return IdleView("finished" if state.phase is Phase.FINISHED else "waiting")


def _phase_view(state: Table, play: PlannedPlay, form: Form | None, restoring: Restoring) -> PhaseView:
    """Return the view of a phase in which nothing is hidden from the table."""
    match state.phase:
        case Phase.RESTORING:
            return RestoringView(
                state.work,
                play.order,
                restoring,
                state.check,
                state.verified,
                state.arrived,
                stopped=next(iter(active_guards(state)), None),
                repeating=_repeating(state),
            )
        case Phase.SEATING | Phase.CONFIRMING:
            seating = state.phase is Phase.SEATING
            return SeatingView("seating", state.arrived) if seating else SeatingView("confirming", state.agreed)
        case Phase.DECLARED:
            return DeclaredView(tuple(one.seat for one in state.declarations), form)
        case Phase.ACCEPTING:
            return AcceptingView(_result_view(state), state.agreed)
        case Phase.RECORDED:
            return RecordedView(_result_view(state), state.agreed, state.ruled, onward=_onward(state, play))
    return _idle(state)


def _onward(state: Table, play: PlannedPlay) -> Mapping[Seat, NextSeat | None]:
    """Return where each player goes after this play; unknown for players who are not in the plan."""
    then = state.assignment.onward.get(play.round, {}) if state.assignment else {}
    return {seat: then.get(player.id) for seat, player in state.players.items()} if then else {}


def with_time_left(view: ScreenView, state: Table, at: int) -> ScreenView:
    """Add the time left in the play at a time, in ns."""
    return replace(view, time=replace(view.time, left_min=minutes_left(state, at)))


def with_counting(view: ScreenView, count: CountingView | None, discarder_key: str | None) -> ScreenView:
    """Add the counting of a hand while a declaration waits for its value."""
    if not isinstance(view.phase, DeclaredView):
        return view
    return replace(view, phase=replace(view.phase, count=count, discarder_key=discarder_key))


def with_keeping(view: ScreenView, keeping: Keeping | None, *, offered: bool) -> ScreenView:
    """Add the keeping of a play whose result is recorded."""
    if not isinstance(view.phase, RecordedView):
        return view
    return replace(view, phase=replace(view.phase, keeping=keeping, may_keep=offered))


def with_receipt(
    view: ScreenView, code: str | None, link: str = "", anchor: str = "", *, at_centre: bool | None = None
) -> ScreenView:
    """Add the receipt of a play whose result is recorded."""
    if not isinstance(view.phase, RecordedView):
        return view
    phase = replace(view.phase, receipt=code, receipt_link=link, anchor=anchor, at_centre=at_centre)
    return replace(view, phase=phase)


def with_riichi(view: ScreenView, state: Table, form: RiichiForm | None, scores: Scores) -> ScreenView:
    """Add the session, or the planned deal, of a table that plays riichi."""
    if state.session is not None:
        return replace(view, riichi=session_view(state, state.session, form, scores))
    return replace(view, riichi=planned_riichi_view(state, form)) if state.planned_riichi else view


def _with_hidden_pin(panel: ArbiterPanel | None) -> ArbiterPanel | None:
    """Hide the digits of a PIN, as pictures of the screen may be saved."""
    return replace(panel, digits=HIDDEN * len(panel.digits)) if panel and panel.ask == "pin" else panel


def _quiet_line(line: StatusLine) -> StatusLine:
    """Remove from the foot what a press can change.

    A long press makes a fact that is unsent or refused, and a finger that stays down makes a stuck button. Shown during
    a play, they would reveal it, so they wait until the play is over.
    """
    health = tuple(one for one in line.health if not one.startswith(SEAT_PREFIXES))
    return replace(line, unsent=0, refused=0, health=health)


def _repeating(state: Table) -> tuple[Seat, ...]:
    again = players_repeating(state) if active_guards(state) else ()
    return tuple(seat for seat, player in state.players.items() if player.id in again)


def _result_view(state: Table) -> ResultView | None:
    if state.outcome is None:
        return None
    result = claim.pending_result(state)
    return ResultView(result.win, result.winners, result.discarder, result.points, overtaken_seats(state))
