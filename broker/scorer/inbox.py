"""What comes into the scorer's inbox: messages, news of connections, concerns, and what the desk asks for."""

import queue
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, Generic, TypeVar

from broker.errors import ScorerBusy, ScorerError
from broker.halls.link import FromCentre
from broker.protocol import Refused
from broker.protocol.link import Incoming, LinkChanged
from broker.scorer.alerts import Concern

T = TypeVar("T")

MOST_AT_ONCE: Final = 500
"""Messages in one commit."""

MOST_BYTES: Final = 500_000
"""Of messages in one commit, but for the last one: halls send many rows in each."""


class Inbox:
    """Takes what any thread puts in, and gives it to the scorer's thread in batches."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Arrival] = queue.SimpleQueue()

    def put(self, arrival: "Arrival") -> None:
        """Put something in, from any thread."""
        self._queue.put(arrival)

    def qsize(self) -> int:
        """Return how much waits."""
        return self._queue.qsize()

    def next_batch(self, timeout: float) -> list["Arrival"]:
        """Return what waits, or what comes first within `timeout` seconds."""
        try:
            batch = [self._queue.get(timeout=timeout)]
        except queue.Empty:
            return []
        size = _size(batch[0])
        while len(batch) < MOST_AT_ONCE and size < MOST_BYTES and not self._queue.empty():
            batch.append(self._queue.get())
            size += _size(batch[-1])
        return batch


def _size(arrival: "Arrival") -> int:
    return len(arrival.payload) if isinstance(arrival, Incoming) else 0


PATIENCE_S = 10.0
"""The desk waits so long for its answer."""


class PendingCall(Generic[T]):
    """Something that is asked of the scorer's thread, and where its answer is waited for."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.answer: Future[T] = Future()

    def do(self, refusal: ScorerError | None = None) -> Callable[[], None]:
        """Do it, or refuse it; return what gives the answer to whoever waits, once they may look at what was done.

        Anything else that goes wrong goes on to whoever runs the scorer.
        """
        if not self.answer.set_running_or_notify_cancel():
            return lambda: None
        try:
            if refusal:
                raise refusal
            return partial(self.answer.set_result, self._work())
        except (Refused, ScorerError) as refused:
            return partial(self.answer.set_exception, refused)
        except BaseException as broken:
            self.answer.set_exception(broken)
            raise


def wait_for(call: PendingCall[T]) -> T:
    """Wait for an answer. Raises ScorerBusy, and what the scorer refuses with."""
    try:
        return call.answer.result(PATIENCE_S)
    except TimeoutError:
        if call.answer.cancel():
            raise ScorerBusy("the scorer is busy: nothing was done, try again") from None
        raise ScorerBusy("the scorer is slow to answer: look whether it was done before you try again") from None


Arrival = Incoming | LinkChanged | FromCentre | Concern | PendingCall[Any]
"""What comes into the scorer's inbox."""
