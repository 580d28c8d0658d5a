"""What a riichi table shows: a session's sheet, the hand that is asked about, deals that are compared."""

from dataclasses import dataclass, field
from typing import Literal

from broker.protocol import SEATS, RiichiEvent, RiichiWin, Seat
from broker.protocol.play_sequence import winning_tile
from broker.rules.riichi import AbortReason, SettledEvent, points_by_seat, wall_of
from kiosk.input import RiichiForm, RiichiQuestion, WinForm, abort_reasons, chombo_spoils
from kiosk.table import (
    LINES,
    QUIET,
    Phase,
    RiichiSession,
    SessionEntry,
    Table,
    sheet_pages,
)


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One entry."""

    wind: Seat
    dealer: int
    """Which deal of the round it was, from 1."""
    ending: RiichiEvent
    deltas: dict[Seat, int]


@dataclass(frozen=True, slots=True)
class SheetView:
    """One page of a sheet, the newest entry last."""

    page: int
    """0 is the newest."""
    pages: int
    lines: tuple[SheetLine, ...]
    scores: dict[Seat, int]
    unknown: int = 0
    """How many entries this device does not know: another had the table before."""


def sheet_view(session: RiichiSession, page: int) -> SheetView:
    """Return a page."""
    upto = len(session.entries) - page * LINES
    return SheetView(
        page=page,
        pages=sheet_pages(session),
        lines=tuple(_sheet_line(one) for one in session.entries[max(0, upto - LINES) : max(0, upto)]),
        scores={seat: session.state.scores[at] for at, seat in enumerate(SEATS)},
        unknown=session.recorded - len(session.entries),
    )


def _sheet_line(entry: SessionEntry) -> SheetLine:
    before = entry.before
    return SheetLine(SEATS[before.round], before.dealer + 1, entry.fact.event, dict(entry.fact.deltas))


Scores = Literal["always", "between_hands"]
"""When the table sees the session's score, as the club wishes."""


@dataclass(frozen=True, slots=True)
class RiichiPrompt:
    """What is asked at a riichi table, and what may be answered."""

    form: RiichiForm | None = None
    aborts: tuple[AbortReason, ...] = ()
    """What may break a hand off."""
    spoils: bool = False
    """Whether a chombo costs more that spoils a possible yakuman; never where no fault is paid in points."""

    @property
    def seat(self) -> Seat | None:
        """Whose hand is asked about."""
        return self.form.seat if isinstance(self.form, WinForm) else None

    @property
    def asked(self) -> Seat | None:
        """Whose hand is asked about, or on whose tile they declared."""
        return (self.form.whose_tile or self.form.seat) if isinstance(self.form, WinForm) else None

    @property
    def overtaken(self) -> tuple[Seat, ...]:
        """Who declared on a later tile."""
        return self.form.overtaken if isinstance(self.form, WinForm) else ()

    def entered(self, seat: Seat) -> RiichiWin | None:
        """Return what a winner's hand is worth, as far as it is entered."""
        return self.form.entered.get(seat) if isinstance(self.form, WinForm) else None


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
    deposit: int = 1000
    """Points that a riichi deposit is worth."""
    prompt: RiichiPrompt = RiichiPrompt()
    asking: bool = False
    tenpai: frozenset[Seat] = frozenset()
    ending: RiichiEvent | None = None
    """How the hand ended, to be accepted or recorded."""
    overtaken: tuple[Seat, ...] = ()
    """Who had declared on a later tile."""
    paid: dict[Seat, int] = field(default_factory=dict)
    places: dict[Seat, int] = field(default_factory=dict)
    sheet: SheetView | None = None
    """A page of what was recorded, while somebody looks at it."""

    @property
    def marked(self) -> frozenset[Seat]:
        """Who has declared tenpai."""
        return self.tenpai if self.asking else frozenset()


def session_view(state: Table, session: RiichiSession, form: RiichiForm | None, scores: Scores) -> SessionView:
    """Return what is to be seen of a session."""
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
        asking=session.asking and state.phase is Phase.DECLARED,
        tenpai=session.tenpai,
        ending=session.pending if settled else None,
        overtaken=overtaken_seats(state) if settled else (),
        paid=_paid(session, settled, state.phase) if settled else {},
        places=dict(zip(SEATS, settled.places, strict=True)) if settled and settled.places else {},
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
    prompt: RiichiPrompt = RiichiPrompt()
    asking: bool = False
    tenpai: frozenset[Seat] = frozenset()
    ending: RiichiEvent | None = None
    """How the hand ended, to be accepted or recorded."""

    @property
    def marked(self) -> frozenset[Seat]:
        """Who has declared tenpai."""
        return self.tenpai

    def worth(self, seat: Seat) -> RiichiWin | None:
        """Return what a winner's hand is worth, as far as it is entered."""
        return self.prompt.entered(seat) if self.ending is None else self.ending.wins.get(seat)


def planned_riichi_view(state: Table, form: RiichiForm | None) -> PlannedRiichiView:
    """Return what is to be seen."""
    quiet = state.phase in QUIET
    ending = None if quiet else state.hand.told
    return PlannedRiichiView(
        wall=wall_of(state.play.dealer) if state.play else (),
        prompt=RiichiPrompt(form, abort_reasons(state)),
        asking=state.hand.asking and state.phase is Phase.DECLARED,
        tenpai=frozenset() if quiet or (ending and ending.kind != "draw") else state.hand.tenpai,
        ending=ending,
    )


def overtaken_seats(state: Table) -> tuple[Seat, ...]:
    """Return who declared on a tile that came after the winning one."""
    return tuple(seat for seat in state.declared_on if seat not in winning_tile(state.declared_on)[1])
