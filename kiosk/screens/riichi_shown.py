"""What may be seen of a riichi session. Deposits are public and shown at once; of presses nothing is in here."""

from dataclasses import dataclass, field
from typing import Literal

from broker.contract.riichi import RiichiEvent
from broker.contract.words import SEATS, Seat
from broker.rules.riichi.session.apply import Settled
from broker.rules.riichi.session.settings import AbortReason
from broker.rules.riichi.session.told import by_seat
from kiosk.riichi_entry import WinForm
from kiosk.riichi_keys import RiichiForm
from kiosk.riichi_questions import Question, spoils
from kiosk.screens.riichi_sheet_shown import SheetShown, sheet_shown
from kiosk.table.riichi.session import Session
from kiosk.table.state import Phase, Table

Scores = Literal["always", "between_hands"]
"""When the table sees the session's score, as the club wishes."""


@dataclass(frozen=True, slots=True)
class SessionShown:
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
    sheet: SheetShown | None = None
    """A page of what was recorded, while somebody looks at it."""

    @property
    def asked(self) -> Seat | None:
        """Whose hand is asked about."""
        return self.form.seat if isinstance(self.form, WinForm) else None

    @property
    def marked(self) -> frozenset[Seat]:
        """Who has said to be tenpai."""
        return self.tenpai if self.asking else frozenset()


def session_shown(state: Table, session: Session, form: RiichiForm | None, scores: Scores) -> SessionShown:
    """Give what is to be seen of a session."""
    in_hand = state.phase in (Phase.PLAYING, Phase.CLAIMING)
    settled = session.settled if state.phase in (Phase.ACCEPTING, Phase.RECORDED, Phase.FINISHED) else None
    visible = scores == "always" or not in_hand
    return SessionShown(
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
        spoils=spoils(state),
        sheet=sheet_shown(session, form.page) if isinstance(form, Question) and form.about == "sheet" else None,
    )


def _paid(session: Session, settled: Settled, phase: Phase) -> dict[Seat, int]:
    """Give what each gets or pays now: who has laid a deposit in this hand does not pay it again."""
    if phase is Phase.FINISHED:
        return {}
    laid = session.riichi if phase is Phase.ACCEPTING or not session.entries else session.entries[-1].riichi
    deposit = session.profile.points.deposit.value
    return {seat: points + (deposit if seat in laid else 0) for seat, points in by_seat(settled.deltas).items()}
