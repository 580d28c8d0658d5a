"""Keys at a table that plays riichi: each is an event, opens a question, or fills in a form.

The input so far is saved for a power cut.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import msgspec

from broker.protocol import SEATS, RiichiEvent, Seat
from broker.rules.riichi import AbortReason, RiichiProfile
from kiosk.input.forms import SEAT_KEYS, WinEntered, WinForm, press_win_key
from kiosk.table import Event, Phase, Table, events, riichi_session_of, sheet_pages

About = Literal["riichi", "abort", "fault", "spoilt", "dependent", "nagashi", "take_back", "stop", "sheet"]


@dataclass(frozen=True, slots=True)
class RiichiQuestion:
    """A question on the screen before something is done; `back` cancels it."""

    about: About
    seats: tuple[Seat, ...] = ()
    """The offenders, in turn order."""
    chosen: tuple[Seat, ...] = ()
    """The offenders whose fault followed from another's."""
    spoilt: tuple[Seat, ...] = ()
    """Seats whose hands could still have become a yakuman."""
    page: int = 0
    """Page of the session's sheet; 0 is the newest."""

    @property
    def spoilable(self) -> tuple[Seat, ...]:
        """Seats whose hands a fault can have spoilt; a sole offender's own hand does not count."""
        return tuple(seat for seat in SEATS if {*self.seats} != {seat})


def abort_reasons(state: Table) -> tuple[AbortReason, ...]:
    """Return the reasons for which a hand may be aborted here."""
    rules = state.profile
    return rules.session.draw.aborts.value if isinstance(rules, RiichiProfile) else ()


def chombo_spoils(state: Table) -> bool:
    """Return whether a chombo that spoils a possible yakuman costs more here."""
    rules = state.profile
    return isinstance(rules, RiichiProfile) and rules.session.faults.yakuman_tenpai.value > 0


def _riichi(_: RiichiQuestion, key: str, state: Table, now: int) -> Event | None:
    seat = SEAT_KEYS.get(key)
    return events.DepositLaid(at=now, seat=seat, laid=seat not in riichi_session_of(state).riichi) if seat else None


def _abort(_: RiichiQuestion, key: str, state: Table, now: int) -> Event | None:
    reasons = abort_reasons(state)
    if key not in "123456789"[: len(reasons)]:
        return None
    return events.HandEntered(at=now, told=RiichiEvent(kind="abort", reason=reasons[int(key) - 1]))


def _fault(question: RiichiQuestion, key: str, state: Table, now: int) -> RiichiQuestion | Event | None:
    if key in SEAT_KEYS:
        return replace(question, seats=_toggled(question.seats, SEAT_KEYS[key]))
    if not question.seats:
        return None
    if key == "2":
        return events.HandEntered(at=now, told=RiichiEvent(kind="minor_fault", offenders=question.seats))
    if state.phase is Phase.RECORDED:  # a recorded hand must be taken back before it can end otherwise
        return None
    if key == "1":
        return _chombo(question, now)
    return replace(question, about="spoilt") if key == "3" and chombo_spoils(state) else None


def _chombo(question: RiichiQuestion, now: int) -> RiichiQuestion | Event:
    """Return the next question if there are several offenders, or else the event of the chombo."""
    if len(question.seats) > 1 and question.about != "dependent":
        return replace(question, about="dependent")
    event = RiichiEvent(
        kind="chombo", offenders=question.seats, dependent=question.chosen, yakuman_tenpai=question.spoilt
    )
    return events.HandEntered(at=now, told=event)


def _spoilt(question: RiichiQuestion, key: str, _: Table, now: int) -> RiichiQuestion | Event | None:
    if key == "enter" and question.spoilt:
        return _chombo(question, now)
    seat = SEAT_KEYS.get(key)
    return replace(question, spoilt=_toggled(question.spoilt, seat)) if seat in question.spoilable and seat else None


def _dependent(question: RiichiQuestion, key: str, _: Table, now: int) -> RiichiQuestion | Event | None:
    if key == "enter":
        return _chombo(question, now)
    seat = SEAT_KEYS.get(key)
    return replace(question, chosen=_toggled(question.chosen, seat)) if seat in question.seats and seat else None


def _toggled(seats: tuple[Seat, ...], seat: Seat) -> tuple[Seat, ...]:
    """Add or remove a seat, keeping turn order."""
    return tuple(one for one in SEATS if one in {*seats} ^ {seat})


def _nagashi(question: RiichiQuestion, key: str, _: Table, now: int) -> RiichiQuestion | Event | None:
    if key == "enter" and question.seats:
        return events.HandEntered(at=now, told=RiichiEvent(kind="draw", nagashi=question.seats))
    seat = SEAT_KEYS.get(key)
    return replace(question, seats=_toggled(question.seats, seat)) if seat else None


def _sheet(question: RiichiQuestion, key: str, state: Table, _: int) -> RiichiQuestion | None:
    """Turn a page: `1` to older entries, `2` to newer ones."""
    page = question.page + {"1": 1, "2": -1}.get(key, 0)
    return replace(question, page=page) if 0 <= page < sheet_pages(riichi_session_of(state)) else None


def _take_back(_: RiichiQuestion, key: str, __: Table, now: int) -> Event | None:
    return events.LastTakenBack(at=now) if key == "enter" else None


def _stop(_: RiichiQuestion, key: str, __: Table, now: int) -> Event | None:
    return events.SessionStopped(at=now) if key == "enter" else None


_ANSWERS: Final[Mapping[About, Callable[[RiichiQuestion, str, Table, int], RiichiQuestion | Event | None]]] = {
    "riichi": _riichi,
    "abort": _abort,
    "fault": _fault,
    "spoilt": _spoilt,
    "dependent": _dependent,
    "nagashi": _nagashi,
    "take_back": _take_back,
    "stop": _stop,
    "sheet": _sheet,
}
"""How each question handles a key: it returns the next question, an event, or None if the key has no meaning."""

RiichiForm = WinForm | RiichiQuestion

IN_HAND: Final = (Phase.PLAYING, Phase.CLAIMING)

QUESTION_KEYS: Final[dict[str, tuple[About, tuple[Phase, ...]]]] = {
    "i": ("riichi", (*IN_HAND, Phase.DECLARED)),
    "b": ("abort", IN_HAND),
    "f": ("fault", (*IN_HAND, Phase.DECLARED, Phase.RECORDED)),
    "g": ("nagashi", (Phase.DECLARED,)),
    "u": ("take_back", (Phase.PLAYING, Phase.CLAIMING, Phase.RECORDED, Phase.FINISHED)),
    "q": ("stop", (Phase.RECORDED,)),
    "l": ("sheet", (Phase.RECORDED, Phase.FINISHED)),
}
"""The question that each key opens, and the phases in which it does."""

PLANNED_KEYS: Final = frozenset({"b", "g"})
"""Questions that also apply if each hand is scored alone: nothing is deposited, paid or taken back then."""


class RiichiKeys:
    """The keys of one table. `apply` returns the code with which the table refuses an event, or None."""

    def __init__(self, apply: Callable[[Event], str | None]) -> None:
        self._apply = apply
        self.form: RiichiForm | None = None
        self.problem: str | None = None
        self._declared: tuple[Seat, ...] = ()
        self._interrupted: WinForm | None = None
        """The form that was being filled in when a fault was reported."""

    def follow(self, state: Table) -> None:
        """Begin a form when somebody has declared; drop questions that no longer apply."""
        declared = tuple(one.seat for one in state.declarations) if state.phase is Phase.DECLARED else ()
        if declared != self._declared:
            self._declared, self._interrupted = declared, None
            self.form = _new_form(declared, state) if declared else None
        elif isinstance(self.form, RiichiQuestion) and state.phase not in phases_of(self.form.about):
            self.form = None

    def key(self, key: str, state: Table, now: int) -> None:
        """Handle a key."""
        form = self.form
        if isinstance(form, RiichiQuestion):
            self._answer(form, key, state, now)
        elif isinstance(form, WinForm) and key == "x" and (seat := form.whose_tile or form.seat):
            self.form, self._interrupted = RiichiQuestion("fault", (seat,)), form
        elif isinstance(form, WinForm) and key != "i":
            self._fill(form, key, now)
        elif (about := _opened_question(key, state)) is not None:
            self.form, self._interrupted, self.problem = RiichiQuestion(about), form, None
        elif event := plain_event(key, state, now):
            self._apply_event(event)

    def _apply_event(self, event: Event) -> None:
        self.problem = self._apply(event)

    def _fill(self, form: WinForm, key: str, now: int) -> None:
        filled = press_win_key(form, key)
        if isinstance(filled, WinEntered):
            event, on_riichi, tiles = filled.event, filled.on_riichi_tile, filled.declared_on
            self._apply_event(events.HandEntered(at=now, told=event, on_riichi_tile=on_riichi, declared_on=tiles))
        elif isinstance(filled, WinForm):
            self.form, self.problem = filled, None
        else:
            self.problem = filled

    def _answer(self, question: RiichiQuestion, key: str, state: Table, now: int) -> None:
        """Handle the answer to a question; other keys leave it open."""
        if key == "back":
            self._close(self._interrupted)
            return
        result = _ANSWERS[question.about](question, key, state, now)
        if isinstance(result, RiichiQuestion):
            self.form = result
        elif result is not None:
            self._apply_event(result)
            self._close(None if isinstance(result, events.DepositLaid) and not self.problem else self._interrupted)

    def _close(self, form: WinForm | None = None) -> None:
        """Return to the form that a question interrupted, or begin anew if somebody has declared."""
        self.form, self._interrupted = form, None
        self._declared = form.declared if form else ()


def _new_form(declared: tuple[Seat, ...], state: Table) -> WinForm:
    rules = state.profile
    live_kan = isinstance(rules, RiichiProfile) and rules.session.pao.live_kan.value
    return WinForm(declared, state.session.riichi if state.session else (), live_kan=live_kan)


def _opened_question(key: str, state: Table) -> About | None:
    about, phases = QUESTION_KEYS.get(key, (None, ()))
    return about if state.phase in phases and (not state.planned_riichi or key in PLANNED_KEYS) else None


def phases_of(about: About) -> tuple[Phase, ...]:
    """Return the phases in which something may be asked."""
    opened = "fault" if about in ("dependent", "spoilt") else about
    return next((phases for one, phases in QUESTION_KEYS.values() if one == opened), ())


def plain_event(key: str, state: Table, now: int) -> Event | None:
    """Return the event of a key that needs no question, at any table."""
    if key == "d" and state.phase in IN_HAND:
        return events.PlayEndedDrawn(at=now)
    if key == "r" and state.phase is Phase.ACCEPTING:
        return events.ResultRefused(at=now)
    if key == "enter" and state.phase is Phase.RECORDED:
        return events.NextDealCalled(at=now)
    if key == "enter" and state.phase is Phase.DECLARED and state.hand.asks_tenpai:
        return events.HandEntered(at=now, told=RiichiEvent(kind="draw"))
    return None


_KINDS: Final[dict[str, type[RiichiForm]]] = {"win": WinForm, "question": RiichiQuestion}


def riichi_draft(form: RiichiForm | None) -> str:
    """Return a form as text; "" if there is none, or nobody has touched it."""
    if form is None or form == untouched(form):
        return ""
    kind = "win" if isinstance(form, WinForm) else "question"
    return f"{kind} {msgspec.json.encode(form).decode()}"


def untouched(form: RiichiForm) -> RiichiForm | None:
    """Return a form as it began; None for a question, which exists only because somebody asked for it."""
    return WinForm(form.declared, form.riichi, live_kan=form.live_kan) if isinstance(form, WinForm) else None


def riichi_form_from_draft(text: str, begun: RiichiForm | None, phase: Phase) -> RiichiForm | None:
    """Return the form from before a power cut if the table still asks for it, or else the one just begun."""
    kind, _, written = text.partition(" ")
    try:
        form = msgspec.json.decode(written, type=_KINDS[kind])
    except (KeyError, msgspec.DecodeError, UnicodeError):
        return begun
    if isinstance(form, RiichiQuestion):
        return form if phase in phases_of(form.about) else begun
    return form if begun is not None and untouched(form) == begun else begun
