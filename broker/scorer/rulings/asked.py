"""What the desk asks of the scorer's thread, which alone changes anything: it is answered in turn, between batches."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from broker.contract.wire import Refused
from broker.scorer.errors import ScorerError

T = TypeVar("T")

PATIENCE_S = 10.0
"""The desk waits so long for its answer."""


class Asked(Generic[T]):
    """One question, and where its answer is waited for."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.answer: Future[T] = Future()

    def do(self) -> None:
        """Answer. A refusal is an answer; anything else that goes wrong goes on to whoever runs the scorer too."""
        if not self.answer.set_running_or_notify_cancel():
            return
        try:
            self.answer.set_result(self._work())
        except (Refused, ScorerError) as refusal:
            self.answer.set_exception(refusal)
        except BaseException as broken:
            self.answer.set_exception(broken)
            raise


class ScorerBusy(ScorerError, TimeoutError):
    """The scorer has not answered in time; whether it did what was asked is seen when it answers again."""

    code = "scorer_busy"
    status = 503


def wait(asked: Asked[T]) -> T:
    """Wait for an answer. Raises ScorerBusy, and what the scorer refuses with."""
    try:
        return asked.answer.result(PATIENCE_S)
    except TimeoutError:
        if asked.answer.cancel():
            raise ScorerBusy("the scorer is busy: nothing was done, try again") from None
        raise ScorerBusy("the scorer is slow to answer: look whether it was done before you try again") from None
