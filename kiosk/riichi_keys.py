"""What keys do at a table that plays riichi: each is an event, opens a question, or fills a form in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from broker.contract.riichi import RiichiEvent
from broker.contract.words import Seat
from kiosk.entry import SEAT_KEYS
from kiosk.riichi_entry import Told, WinForm, press
from kiosk.table.events import (
    Event,
    HandTold,
    LastTakenBack,
    NextDealCalled,
    PlayEndedDrawn,
    ResultRefused,
    RiichiLaid,
    SessionStopped,
)
from kiosk.table.state import Phase, Table, session_of

About = Literal["riichi", "abort", "fault", "kind", "nagashi", "take_back", "stop"]


@dataclass(frozen=True, slots=True)
class Question:
    """What the screen asks before something happens; `back` answers that it shall not."""

    about: About
    seat: Seat | None = None
    """Whose fault it was."""


RiichiForm = WinForm | Question

IN_HAND: Final = (Phase.PLAYING, Phase.CLAIMING)

OPENS: Final[dict[str, tuple[About, tuple[Phase, ...]]]] = {
    "i": ("riichi", (*IN_HAND, Phase.DECLARED)),
    "b": ("abort", IN_HAND),
    "f": ("fault", (*IN_HAND, Phase.DECLARED, Phase.RECORDED)),
    "g": ("nagashi", (Phase.DECLARED,)),
    "u": ("take_back", (Phase.PLAYING, Phase.CLAIMING, Phase.RECORDED, Phase.FINISHED)),
    "q": ("stop", (Phase.RECORDED,)),
}
"""Which key asks what, and when."""


class RiichiKeys:
    """One table's keys. `apply` gives the code with which the table refuses an event, or None."""

    def __init__(self, apply: Callable[[Event], str | None]) -> None:
        self._apply = apply
        self.form: RiichiForm | None = None
        self.problem: str | None = None
        self._declared: tuple[Seat, ...] = ()

    def follow(self, state: Table) -> None:
        """Begin a form where somebody has declared; drop what is no question any more."""
        declared = tuple(one.seat for one in state.declarations) if state.phase is Phase.DECLARED else ()
        if declared != self._declared:
            self._declared = declared
            self.form = WinForm(declared, session_of(state).riichi) if declared else None
        elif isinstance(self.form, Question) and state.phase not in _phases(self.form.about):
            self.form = None

    def key(self, key: str, state: Table, now: int) -> None:
        """Take one key in."""
        form = self.form
        if isinstance(form, Question):
            self._answer(form, key, state, now)
        elif isinstance(form, WinForm) and key != "i":
            self._fill(form, key, now)
        elif (opened := OPENS.get(key)) and state.phase in opened[1]:
            self.form, self.problem = Question(opened[0]), None
        elif event := _plain(key, state, now):
            self._do(event)

    def _do(self, event: Event) -> None:
        self.problem = self._apply(event)

    def _fill(self, form: WinForm, key: str, now: int) -> None:
        filled = press(form, key)
        if isinstance(filled, Told):
            self._do(HandTold(at=now, told=filled.event, on_riichi_tile=filled.on_riichi_tile))
        if isinstance(filled, WinForm):
            self.form, self.problem = filled, None
        elif self.problem:
            self.form = WinForm(form.declared, form.riichi)  # it cannot be so: from the beginning

    def _answer(self, question: Question, key: str, state: Table, now: int) -> None:
        """Take the answer to a question; what is none leaves it."""
        if key == "back":
            self._close()
        elif question.about == "fault" and key in SEAT_KEYS:
            self.form = Question("kind", SEAT_KEYS[key])
        elif event := _answered(question, key, state, now):
            self._close()
            self._do(event)

    def _close(self) -> None:
        """Go back to the form that a question stood before, from its beginning, or to none."""
        self.form, self._declared = None, ()


def _phases(about: About) -> tuple[Phase, ...]:
    return next((phases for one, phases in OPENS.values() if one in (about, "fault" if about == "kind" else about)), ())


def _plain(key: str, state: Table, now: int) -> Event | None:
    """Give what a key does that asks nothing."""
    if key == "d" and state.phase in IN_HAND:
        return PlayEndedDrawn(at=now)
    if key == "r" and state.phase is Phase.ACCEPTING:
        return ResultRefused(at=now)
    if key == "enter" and state.phase is Phase.RECORDED:
        return NextDealCalled(at=now)
    if key == "enter" and state.phase is Phase.DECLARED and session_of(state).asking:
        return HandTold(at=now, told=RiichiEvent(kind="draw"))
    return None


def _answered(question: Question, key: str, state: Table, now: int) -> Event | None:
    """Give what the answer to a question does."""
    seat, session = SEAT_KEYS.get(key), session_of(state)
    if question.about == "riichi" and seat:
        return RiichiLaid(at=now, seat=seat, laid=seat not in session.riichi)
    if question.about == "nagashi" and seat:
        return HandTold(at=now, told=RiichiEvent(kind="draw", nagashi=(seat,)))
    if question.about == "kind" and question.seat and key in ("1", "2"):
        kind: Literal["chombo", "minor_fault"] = "chombo" if key == "1" else "minor_fault"
        return HandTold(at=now, told=RiichiEvent(kind=kind, offenders=(question.seat,)))
    if question.about == "abort" and key in "123456789"[: len(session.profile.session.draw.aborts.value)]:
        reason = session.profile.session.draw.aborts.value[int(key) - 1]
        return HandTold(at=now, told=RiichiEvent(kind="abort", reason=reason))
    if key == "enter" and question.about == "take_back":
        return LastTakenBack(at=now)
    return SessionStopped(at=now) if key == "enter" and question.about == "stop" else None
