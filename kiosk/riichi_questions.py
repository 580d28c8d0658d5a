"""What a riichi table asks before something happens, and what the answers do. Pure: a question and a key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from broker.contract.riichi import RiichiEvent
from broker.contract.words import SEATS, Seat
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.settings import AbortReason
from kiosk.entry import SEAT_KEYS
from kiosk.table.events import Event, HandTold, LastTakenBack, RiichiLaid, SessionStopped
from kiosk.table.riichi.sheet import pages_of
from kiosk.table.state import Table, session_of

About = Literal["riichi", "abort", "fault", "spoilt", "dependent", "nagashi", "take_back", "stop", "sheet"]


@dataclass(frozen=True, slots=True)
class Question:
    """What the screen asks before something happens; `back` answers that it shall not."""

    about: About
    seats: tuple[Seat, ...] = ()
    """Whose faults they were, in turn order."""
    chosen: tuple[Seat, ...] = ()
    """Of those, whose fault followed from another's."""
    spoilt: tuple[Seat, ...] = ()
    """Whose hands could still have become a yakuman."""
    page: int = 0
    """Of the session's sheet; 0 is the newest."""

    @property
    def spoilable(self) -> tuple[Seat, ...]:
        """Whose hands a fault can have spoilt: another's than the own."""
        return tuple(seat for seat in SEATS if {*self.seats} != {seat})


def answer(question: Question, key: str, state: Table, now: int) -> Question | Event | None:
    """Give what is asked then, or what happens; None where the key means nothing here."""
    return _ANSWERS[question.about](question, key, state, now)


def aborts(state: Table) -> tuple[AbortReason, ...]:
    """Give what may break a hand off here."""
    rules = state.profile
    return rules.session.draw.aborts.value if isinstance(rules, RiichiProfile) else ()


def spoils(state: Table) -> bool:
    """Say whether a chombo costs more here that spoils a possible yakuman."""
    rules = state.profile
    return isinstance(rules, RiichiProfile) and rules.session.faults.yakuman_tenpai.value > 0


def _riichi(_: Question, key: str, state: Table, now: int) -> Event | None:
    seat = SEAT_KEYS.get(key)
    return RiichiLaid(at=now, seat=seat, laid=seat not in session_of(state).riichi) if seat else None


def _abort(_: Question, key: str, state: Table, now: int) -> Event | None:
    reasons = aborts(state)
    if key not in "123456789"[: len(reasons)]:
        return None
    return HandTold(at=now, told=RiichiEvent(kind="abort", reason=reasons[int(key) - 1]))


def _fault(question: Question, key: str, state: Table, now: int) -> Question | Event | None:
    if key in SEAT_KEYS:
        return replace(question, seats=_turned(question.seats, SEAT_KEYS[key]))
    if not question.seats:
        return None
    if key == "1":
        return _chombo(question, now)
    if key == "2":
        return HandTold(at=now, told=RiichiEvent(kind="minor_fault", offenders=question.seats))
    return replace(question, about="spoilt") if key == "3" and spoils(state) else None


def _chombo(question: Question, now: int) -> Question | Event:
    """Give what is asked of several offenders, or what one has done."""
    if len(question.seats) > 1 and question.about != "dependent":
        return replace(question, about="dependent")
    told = RiichiEvent(
        kind="chombo", offenders=question.seats, dependent=question.chosen, yakuman_tenpai=question.spoilt
    )
    return HandTold(at=now, told=told)


def _spoilt(question: Question, key: str, _: Table, now: int) -> Question | Event | None:
    if key == "enter" and question.spoilt:
        return _chombo(question, now)
    seat = SEAT_KEYS.get(key)
    return replace(question, spoilt=_turned(question.spoilt, seat)) if seat in question.spoilable and seat else None


def _dependent(question: Question, key: str, _: Table, now: int) -> Question | Event | None:
    if key == "enter":
        return _chombo(question, now)
    seat = SEAT_KEYS.get(key)
    return replace(question, chosen=_turned(question.chosen, seat)) if seat in question.seats and seat else None


def _turned(seats: tuple[Seat, ...], seat: Seat) -> tuple[Seat, ...]:
    """Add a seat, or take it out; in turn order."""
    return tuple(one for one in SEATS if one in {*seats} ^ {seat})


def _nagashi(question: Question, key: str, _: Table, now: int) -> Question | Event | None:
    if key == "enter" and question.seats:
        return HandTold(at=now, told=RiichiEvent(kind="draw", nagashi=question.seats))
    seat = SEAT_KEYS.get(key)
    return replace(question, seats=_turned(question.seats, seat)) if seat else None


def _sheet(question: Question, key: str, state: Table, _: int) -> Question | None:
    """Turn a page: `1` to older entries, `2` to newer ones."""
    page = question.page + {"1": 1, "2": -1}.get(key, 0)
    return replace(question, page=page) if 0 <= page < pages_of(session_of(state)) else None


def _take_back(_: Question, key: str, __: Table, now: int) -> Event | None:
    return LastTakenBack(at=now) if key == "enter" else None


def _stop(_: Question, key: str, __: Table, now: int) -> Event | None:
    return SessionStopped(at=now) if key == "enter" else None


_ANSWERS: Final[Mapping[About, Callable[[Question, str, Table, int], Question | Event | None]]] = {
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
