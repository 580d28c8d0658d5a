"""What keys do at a table that plays riichi: each is an event, opens a question, or fills a form in."""

from collections.abc import Callable
from typing import Final

from broker.contract.riichi import RiichiEvent
from broker.contract.words import Seat
from broker.rules.riichi.profile import RiichiProfile
from kiosk.riichi_entry import Told, WinForm, press
from kiosk.riichi_questions import About, Question, answer
from kiosk.table.events import (
    Event,
    HandTold,
    NextDealCalled,
    PlayEndedDrawn,
    ResultRefused,
)
from kiosk.table.state import Phase, Table

RiichiForm = WinForm | Question

IN_HAND: Final = (Phase.PLAYING, Phase.CLAIMING)

OPENS: Final[dict[str, tuple[About, tuple[Phase, ...]]]] = {
    "i": ("riichi", (*IN_HAND, Phase.DECLARED)),
    "b": ("abort", IN_HAND),
    "f": ("fault", (*IN_HAND, Phase.DECLARED, Phase.RECORDED)),
    "g": ("nagashi", (Phase.DECLARED,)),
    "u": ("take_back", (Phase.PLAYING, Phase.CLAIMING, Phase.RECORDED, Phase.FINISHED)),
    "q": ("stop", (Phase.RECORDED,)),
    "l": ("sheet", (Phase.RECORDED, Phase.FINISHED)),
}
"""Which key asks what, and when."""

ALONE: Final = frozenset({"b", "g"})
"""What is asked where a hand is scored alone too: nothing is laid down, paid or taken back there."""


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
            self.form = _begun(declared, state) if declared else None
        elif isinstance(self.form, Question) and state.phase not in asked_in(self.form.about):
            self.form = None

    def key(self, key: str, state: Table, now: int) -> None:
        """Take one key in."""
        form = self.form
        if isinstance(form, Question):
            self._answer(form, key, state, now)
        elif isinstance(form, WinForm) and key != "i":
            self._fill(form, key, state, now)
        elif (opened := OPENS.get(key)) and state.phase in opened[1] and (not state.alone or key in ALONE):
            self.form, self.problem = Question(opened[0]), None
        elif event := _plain(key, state, now):
            self._do(event)

    def _do(self, event: Event) -> None:
        self.problem = self._apply(event)

    def _fill(self, form: WinForm, key: str, state: Table, now: int) -> None:
        filled = press(form, key)
        if isinstance(filled, Told):
            self._do(HandTold(at=now, told=filled.event, on_riichi_tile=filled.on_riichi_tile))
        if isinstance(filled, WinForm):
            self.form, self.problem = filled, None
        elif self.problem:
            self.form = _begun(form.declared, state)  # it cannot be so: from the beginning

    def _answer(self, question: Question, key: str, state: Table, now: int) -> None:
        """Take the answer to a question; what is none leaves it."""
        if key == "back":
            self._close()
            return
        answered = answer(question, key, state, now)
        if isinstance(answered, Question):
            self.form = answered
        elif answered is not None:
            self._close()
            self._do(answered)

    def _close(self) -> None:
        """Go back to the form that a question stood before, from its beginning, or to none."""
        self.form, self._declared = None, ()


def _begun(declared: tuple[Seat, ...], state: Table) -> WinForm:
    rules = state.profile
    live_kan = isinstance(rules, RiichiProfile) and rules.session.pao.live_kan.value
    return WinForm(declared, state.session.riichi if state.session else (), live_kan=live_kan)


def asking(state: Table) -> bool:
    """Say whether each seat is asked if it is tenpai."""
    return state.session.asking if state.session else state.hand.asking


def asked_in(about: About) -> tuple[Phase, ...]:
    """Give the phases in which something may be asked."""
    opened = "fault" if about in ("dependent", "spoilt") else about
    return next((phases for one, phases in OPENS.values() if one == opened), ())


def _plain(key: str, state: Table, now: int) -> Event | None:
    """Give what a key does that asks nothing."""
    if key == "d" and state.phase in IN_HAND:
        return PlayEndedDrawn(at=now)
    if key == "r" and state.phase is Phase.ACCEPTING:
        return ResultRefused(at=now)
    if key == "enter" and state.phase is Phase.RECORDED:
        return NextDealCalled(at=now)
    if key == "enter" and state.phase is Phase.DECLARED and asking(state):
        return HandTold(at=now, told=RiichiEvent(kind="draw"))
    return None
