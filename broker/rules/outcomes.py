"""What a play's outcome pays, by whichever rule book; and whether it is one at all."""

from collections.abc import Mapping
from typing import Protocol

from broker.contract.riichi import RiichiEvent
from broker.contract.words import Seat, WinKind
from broker.rules.errors import RuleError
from broker.rules.points import Outcome, points
from broker.rules.riichi.duplicate import scored
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.rule_books import Rules


class Ended(Protocol):
    """How a play ended, as a result or a correction tells it."""

    @property
    def win(self) -> WinKind:
        """How it ended."""

    @property
    def winners(self) -> Mapping[Seat, int]:
        """Hand values, or han."""

    @property
    def discarder(self) -> Seat | None:
        """Whose tile it was."""

    @property
    def hand(self) -> RiichiEvent | None:
        """How a hand of riichi ended."""


def paid(ended: Ended, dealer: Seat, rules: Rules) -> dict[Seat, int]:
    """Give the points of all four seats; of riichi in hundreds.

    Raises RuleError as `points` and `scored`, `hand_missing`, `hand_not_asked`, `hand_differs`.
    """
    told = Outcome(ended.win, dict(ended.winners), ended.discarder)
    if not isinstance(rules, RiichiProfile):
        if ended.hand is not None:
            raise RuleError("hand_not_asked", "han and fu are of riichi; this event is not")
        return points(told, rules.payments)
    if ended.hand is None:
        raise RuleError("hand_missing", "of a hand of riichi its han and fu are told, or who was tenpai")
    outcome, right = scored(ended.hand, dealer, rules)
    if outcome != told:
        raise RuleError("hand_differs", f"the hand of riichi is told otherwise: {outcome}")
    return right
