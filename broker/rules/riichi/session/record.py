"""A session from its first hand to its last: events settled one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass

from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.apply import Settled, apply
from broker.rules.riichi.session.events import Event
from broker.rules.riichi.session.state import State


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened, where the session stood, and what came of it."""

    before: State
    event: Event
    settled: Settled


class EventRefused(RuleError):
    """An event that cannot be. `code` is that of its refusal."""

    def __init__(self, problem: RuleError, number: int) -> None:
        super().__init__(problem.code, f"event {number}: {problem.text}")
        self.number = number
        """Counted from 1."""


def begin(rules: RiichiProfile) -> State:
    """Give the state before the first hand."""
    start = rules.session.scores.start.value
    return State("E", 0, 0, 0, (start, start, start, start))


def played(events: Iterable[Event], rules: RiichiProfile) -> tuple[Entry, ...]:
    """Settle a session's events. Raises EventRefused at the first that cannot be."""
    state, entries = begin(rules), list[Entry]()
    for number, event in enumerate(events, 1):
        try:
            settled = apply(state, event, rules)
        except RuleError as problem:
            raise EventRefused(problem, number) from None
        entries.append(Entry(state, event, settled))
        state = settled.state
    return tuple(entries)
