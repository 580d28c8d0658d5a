"""The thread that lets time pass: it does what is due when it is due, and nothing while nothing is."""

import threading
import time

from firmware.ticker import Ticker


class Work:
    """Things due at times; the first `deaf` calls do nothing."""

    def __init__(self, *due: int, deaf: int = 0) -> None:
        self.left, self.deaf, self.calls = [*due], deaf, 0
        self.done = threading.Event()

    def due(self) -> int | None:
        return self.left[0] if self.left else None

    def pass_time(self) -> None:
        self.calls += 1
        if self.calls > self.deaf:
            del self.left[0]
        if not self.left:
            self.done.set()


def ticking(work: Work) -> Ticker:
    return Ticker("test", work.due, work.pass_time, time.monotonic_ns)


def test_what_is_due_is_done_and_not_before() -> None:
    due = time.monotonic_ns() + 20_000_000
    work = Work(0, due)
    ticker = ticking(work)
    ticker.start()
    assert work.done.wait(30)
    assert time.monotonic_ns() >= due
    ticker.stop()
    assert work.calls == 2


def test_what_could_not_be_done_yet_is_tried_again() -> None:
    work = Work(0, deaf=3)
    ticker = ticking(work)
    ticker.start()
    assert work.done.wait(30)
    ticker.stop()
    assert work.calls == 4


def test_while_nothing_is_due_it_sleeps_without_end() -> None:
    assert ticking(Work())._left() is None


def test_what_becomes_due_while_it_sleeps_is_done_when_it_is_told_to_look() -> None:
    work = Work()
    ticker = ticking(work)
    ticker.start()
    work.left.append(0)
    ticker.look()
    assert work.done.wait(30)
    ticker.stop()


def test_stopping_before_the_start_twice_and_from_itself_is_harmless() -> None:
    ticker = ticking(Work())
    ticker.stop()
    ticker.stop()
    own: list[Ticker] = []
    stopped = threading.Event()

    def stop() -> None:
        own[0].stop()
        stopped.set()

    own.append(Ticker("test", lambda: 0, stop, time.monotonic_ns))
    own[0].start()
    assert stopped.wait(30)
    own[0]._thread.join(30)
    assert not own[0]._thread.is_alive()
