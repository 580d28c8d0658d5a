"""What tables say while they play: their states, and of each play the facts from the restored trays to the result."""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import count
from typing import Final

from msgspec.structs import replace

from broker.event import Event
from broker.protocol import Confirmed, Lifecycle, LogMessage, PublicState, TableState, encode, topics
from tests.benchmarks.scorer.large import KEY, NAME, Chains, plays

STEP_S: Final = 0.25
"""Between two things that a table says: a real play takes minutes, and this many tables play at one time then."""

ROUND_S: Final = 5
"""After so long the same tables play their next deals, which others have played: there is something to compare."""

FACTS: Final = 3
"""Of each play here: trays restored, tiles confirmed, the result."""

_numbers = count(1)
_chains = Chains()


@dataclass(frozen=True, slots=True)
class Step:
    """One message; `payload` is made when it is sent."""

    table: int
    topic: str
    retain: bool
    payload: Callable[[], bytes]


def steps(event: Event, rate: float, seconds: float) -> Iterator[tuple[float, Step]]:
    """Return what all tables say, and when (s from the beginning): so many results a second, for so long."""
    said = (one for one in plays(event) if one.table <= rate * ROUND_S)
    pairs = zip(range(int(rate * seconds)), said, said, strict=False)
    courses = (_course(number / rate, restored, result) for number, restored, result in pairs)
    return merge(*courses, key=lambda pair: pair[0])


def _course(begins: float, restored: LogMessage, result: LogMessage) -> Iterator[tuple[float, Step]]:
    first = (result.fact.round - 1) * FACTS + 1
    confirmed = replace(
        restored, id=uuid.uuid4().hex, fact=Confirmed(round=restored.fact.round, deal=restored.fact.deal)
    )
    told = [
        _state(restored, "restoring"),
        _fact(replace(restored, seq=first)),
        _state(restored, "confirming"),
        _fact(replace(confirmed, seq=first + 1)),
        _state(restored, "playing"),
        _state(restored, "declared"),
        _state(restored, "accepting"),
        _fact(replace(result, seq=first + 2)),
        _state(restored, "recorded"),
    ]
    yield from ((begins + at * STEP_S, step) for at, step in enumerate(told))


def _fact(message: LogMessage) -> Step:
    topic = topics.LOG.at(NAME, table=message.table)
    return Step(message.table, topic, topics.LOG.retain, lambda: encode(_chains.signed(replace(message, at=now_ms()))))


def _state(about: LogMessage, state: PublicState) -> Step:
    return _says(about.table, "ready", state, about.fact.round, about.fact.deal)


def hello(table: int) -> Step:
    """Say that a device is there."""
    return _says(table, "ready", "waiting")


def lost(table: int) -> bytes:
    """Return a table's last will."""
    return _says(table, "lost", "waiting").payload()


def _says(
    table: int, lifecycle: Lifecycle, state: PublicState, round_: int | None = None, deal: int | None = None
) -> Step:
    message = TableState(
        id=uuid.uuid4().hex,
        event=NAME,
        table=table,
        seq=0,
        device=KEY.device,
        key=KEY.public,
        start=1,
        count=next(_numbers),
        lifecycle=lifecycle,
        state=state,
        round=round_,
        deal=deal,
        unsent=0,
        calling=False,
        health={},
    )
    return Step(table, topics.STATE.at(NAME, table=table), topics.STATE.retain, lambda: encode(message))


def now_ms() -> int:
    """Return the wall clock."""
    return time.time_ns() // 1_000_000
