"""Tables' messages during play: their states, and for each play the facts from the restored trays to the result."""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import count, groupby, islice
from typing import Final

from msgspec.structs import replace

from broker.event import Event
from broker.protocol import (
    Confirmed,
    Declared,
    Lifecycle,
    LogMessage,
    PublicState,
    Restored,
    Result,
    Seated,
    TableState,
    encode,
    topics,
)
from tests.benchmarks.scorer.large import NAME, Chains, key_of, plays

STEP_S: Final = 0.25
"""Seconds between two messages of a table. A real play takes minutes, so this many tables play at one time."""

ROUND_S: Final = 5
"""Seconds until the same tables play their next deals, which others have played, so that results are compared."""

AFTER: Final[dict[type, PublicState]] = {
    Restored: "seating",
    Seated: "confirming",
    Confirmed: "playing",
    Declared: "declared",
    Result: "recorded",
}
"""The state of a table after a fact."""

_numbers = count(1)
_chains = Chains()


@dataclass(frozen=True, slots=True)
class Step:
    """One message; `payload` is created when it is sent."""

    table: int
    topic: str
    retain: bool
    payload: Callable[[], bytes]


def steps(event: Event, rate: float, count: int, tables: float, first: int = 0) -> Iterator[tuple[float, Step]]:
    """Return these tables' messages in `count` plays after the `first`, with times (s), at a rate of results."""
    said = (one for one in plays(event) if one.table <= tables)
    whole = islice(groupby(said, key=lambda one: (one.table, one.fact.round)), first, first + count)
    courses = (_course(number / rate, tuple(facts)) for number, (_, facts) in enumerate(whole))
    return merge(*courses, key=lambda pair: pair[0])


def _course(begins: float, facts: Sequence[LogMessage]) -> Iterator[tuple[float, Step]]:
    told = [_state(facts[0], "restoring")]
    for message in facts:
        if isinstance(message.fact, Result):
            told.append(_state(message, "accepting"))
        told.append(_fact(message))
        if state := AFTER.get(type(message.fact)):
            told.append(_state(message, state))
    yield from ((begins + at * STEP_S, step) for at, step in enumerate(told))


def _fact(message: LogMessage) -> Step:
    topic = topics.LOG.at(NAME, table=message.table)
    return Step(message.table, topic, topics.LOG.retain, lambda: encode(_chains.signed(replace(message, at=now_ms()))))


def _state(about: LogMessage, state: PublicState) -> Step:
    return _says(about.table, "ready", state, about.fact.round, about.fact.deal)


def hello(table: int) -> Step:
    """Announce a device."""
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
        device=key_of(table).device,
        key=key_of(table).public,
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
