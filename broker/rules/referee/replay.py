"""A recorded play, played again: whoever keeps a record can have it judged."""

from collections.abc import Iterable

from broker.rules.deal import Deal
from broker.rules.errors import RuleError
from broker.rules.profile import Payments
from broker.rules.referee.actions import Action
from broker.rules.referee.judge import Judge
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play, begin


class StepRefused(RuleError):
    """A recorded action that was not legal. `code` is that of its refusal."""

    def __init__(self, problem: RuleError, step: int, play: Play) -> None:
        super().__init__(problem.code, f"step {step}: {problem.text}")
        self.step = step
        """Counted from 1."""
        self.play = play
        """Where the play stood before it."""


def replay(deal: Deal, actions: Iterable[Action], payments: Payments, judge: Judge) -> Play:
    """Give where the play stands after all actions, over or not. Raises StepRefused at the first illegal one."""
    play = begin(deal, payments)
    for step, action in enumerate(actions, 1):
        try:
            play = apply(play, action, judge)
        except RuleError as problem:
            raise StepRefused(problem, step, play) from None
    return play
