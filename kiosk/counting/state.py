"""Counting one winner's hand: looking at it, asking the scorer, its answer. Pure: a state, keys and answers.

The keys: `enter` (ask; accept the value), `r` (look again), `x` (this declaration is false), `back` (by keypad), and
those by which is said what the tiles do not tell (`mcr.py`, `riichi.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from broker.contract.counting import AnyAnswer, AnySaid, CountRequest, McrValue, NotCounted, RiichiValue
from broker.rules.errors import RuleError
from kiosk.counting.as_said import Question
from kiosk.counting.mcr import AnyHand, OfMcr
from kiosk.counting.riichi import OfRiichi
from kiosk.riichi_entry import FU_FROM
from kiosk.sight import HandSight, Winner

NO_HAND: Final = frozenset({"not_winning", "no_yaku"})
"""Answers after which a declaration may be false."""


@dataclass(frozen=True, slots=True)
class Counting:
    """What is known so far."""

    winner: Winner
    win: OfMcr | OfRiichi = field(default_factory=OfMcr)
    """What was said of the win."""
    sight: HandSight = HandSight()  # noqa: RUF009 - frozen
    asked: CountRequest | None = None
    asked_at: int = 0
    answer: AnyAnswer | None = None

    @property
    def hand(self) -> AnyHand | str:
        """The hand as it lies, or the code of what keeps it from being counted."""
        try:
            return self.win.hand(self.sight, self.winner)
        except RuleError as refusal:
            return refusal.code

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is asked of this hand; nothing of none."""
        return () if isinstance(self.hand, str) else (*self.win.questions(self.sight, self.winner),)

    @property
    def said(self) -> AnySaid | None:
        """What was said of the win that this hand allows; None where there is no hand."""
        return None if isinstance(self.hand, str) else self.win.said(self.sight, self.winner)

    @property
    def may_ask(self) -> bool:
        """Whether the scorer can be asked: the hand lies still, and all is said that has to be."""
        return self.sight.still and not isinstance(self.hand, str) and self.win.ready

    @property
    def walls_ticked(self) -> bool:
        """Whether it is asked what walls would tell, had they been read."""
        return isinstance(self.win, OfMcr) and self.win.laid is not None

    @property
    def accepted(self) -> McrValue | RiichiValue | None:
        """The value that can be accepted; None where there is none, or one under the minimum."""
        answer = self.answer
        if isinstance(answer, McrValue):
            return answer if answer.fan >= answer.minimum else None
        return answer if isinstance(answer, RiichiValue) else None

    @property
    def may_be_false(self) -> bool:
        """Whether the scorer says that this is no hu."""
        answer = self.answer
        if isinstance(answer, McrValue):
            return answer.fan < answer.minimum
        return isinstance(answer, NotCounted) and answer.code in NO_HAND and not self._needs_no_yaku

    @property
    def _needs_no_yaku(self) -> bool:
        return isinstance(self.win, OfRiichi) and self.win.known.any_hand


@dataclass(frozen=True, slots=True)
class Typed:
    """Counting is over: these keys are for the form."""

    keys: tuple[str, ...] = ()


def press(counting: Counting, key: str, now: int, ask: Callable[[Counting], CountRequest]) -> Counting | Typed:
    """Take one key; one that means nothing here leaves everything as it is. `ask` writes the request."""
    if key == "back":
        return Typed()
    if counting.asked is None:
        return _looking(counting, key, now, ask)
    if key == "r":
        return replace(counting, asked=None, answer=None)
    if key == "enter" and counting.accepted is not None:
        return Typed(keys_of(counting.accepted))
    return Typed(("x",)) if key == "x" and counting.may_be_false else counting


def keys_of(value: McrValue | RiichiValue) -> tuple[str, ...]:
    """Give the keys by which a value is entered."""
    if isinstance(value, McrValue):
        return ("clear", *str(value.fan), "enter")
    if value.yakuman:
        return ("clear", "y", "clear", str(value.yakuman), "enter")
    fu = (*str(value.fu), "enter") if value.han < FU_FROM else ()
    return ("clear", *str(value.han), "enter", *fu)


def _looking(counting: Counting, key: str, now: int, ask: Callable[[Counting], CountRequest]) -> Counting:
    if isinstance(counting.hand, str):
        return counting
    if key == "enter":
        return replace(counting, asked=ask(counting), asked_at=now) if counting.may_ask else counting
    return replace(counting, win=counting.win.press(key, counting.sight, counting.winner))
