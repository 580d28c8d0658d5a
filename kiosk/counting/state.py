"""Counting one winner's hand: looking at it, asking the scorer, its answer. Pure: a state, keys and answers.

The keys: `enter` (ask; accept the value), `l` (last tile), `k` (replacement tile, robbed kong), `o` (the three others
lay open), `r` (look again), `x` (this declaration is false), `back` (by keypad).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from broker.contract.counting import AnyAnswer, CountRequest, McrValue, SaidOfMcr
from broker.rules.errors import RuleError
from broker.rules.laid_hand import LaidHand
from kiosk.counting.lying import hand_of
from kiosk.sight import HandSight, Winner

NO_HAND: Final = frozenset({"not_winning"})
"""Answers after which a declaration may be false."""


@dataclass(frozen=True, slots=True)
class Counting:
    """What is known so far."""

    winner: Winner
    sight: HandSight = HandSight()  # noqa: RUF009 - frozen
    last_tile: bool = False
    kong: bool = False
    last_of_kind: bool = False
    asked: CountRequest | None = None
    asked_at: int = 0
    answer: AnyAnswer | None = None

    @property
    def hand(self) -> LaidHand | str:
        """The hand as it lies, or the code of what keeps it from being counted."""
        try:
            return hand_of(self.sight, self.winner)
        except RuleError as refusal:
            return refusal.code

    @property
    def may_be_last_tile(self) -> bool:
        """Whether it is asked if the last tile of the wall was reached."""
        return isinstance(self.hand, LaidHand) and self.hand.may_be_last_tile

    @property
    def may_be_kong(self) -> bool:
        """Whether it is asked for a replacement tile or, of a claimed tile, a robbed kong."""
        hand = self.hand
        if not isinstance(hand, LaidHand):
            return False
        return hand.has_kong if hand.discarder is None else not self.said_last_tile

    @property
    def said_last_tile(self) -> bool:
        """Whether somebody has said so, and it can be."""
        return self.last_tile and self.may_be_last_tile

    @property
    def said(self) -> SaidOfMcr:
        """What was said of the win that this hand allows: what it asked of an earlier one is not said of another."""
        return SaidOfMcr(
            last_tile=self.said_last_tile, kong=self.kong and self.may_be_kong, last_of_kind=self.last_of_kind
        )

    @property
    def accepted(self) -> int | None:
        """The hand value that can be accepted; None where there is none, or one under the minimum."""
        answer = self.answer
        return answer.fan if isinstance(answer, McrValue) and answer.fan >= answer.minimum else None

    @property
    def may_be_false(self) -> bool:
        """Whether the scorer says that this is no hu."""
        answer = self.answer
        return answer is not None and (
            answer.fan < answer.minimum if isinstance(answer, McrValue) else answer.code in NO_HAND
        )


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
        return Typed(("clear", *str(counting.accepted), "enter"))
    return Typed(("x",)) if key == "x" and counting.may_be_false else counting


def _looking(counting: Counting, key: str, now: int, ask: Callable[[Counting], CountRequest]) -> Counting:
    if key == "enter" and counting.sight.still and isinstance(counting.hand, LaidHand):
        return replace(counting, asked=ask(counting), asked_at=now)
    if key == "l" and counting.may_be_last_tile:
        return replace(counting, last_tile=not counting.last_tile)
    if key == "k" and counting.may_be_kong:
        return replace(counting, kong=not counting.kong)
    return replace(counting, last_of_kind=not counting.last_of_kind) if key == "o" else counting
