"""Whether what this table tells follows: by the rules by which the scorer counts it (`protocol/play_sequence.py`).

Nothing is held back. A fact that does not follow is a fault of this program, or of a journal that was put together; the
scorer stores it, and the head arbiter decides what counts. Held back it would be lost, and four players could not end
their play. But a table may be without network, so it says so itself, before they leave.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from broker.protocol import Fact, Result
from broker.protocol.play_sequence import OF_A_PLAY, OutOfSequence, SessionSoFar, TableSequence
from broker.rules import Profile
from kiosk.table.state import Table

NO_TURNS: Final = ()
"""The order of plays is the scorer's to judge: a table knows neither the desk's rulings nor what others told here."""


@dataclass(frozen=True, slots=True)
class Unexpected:
    """A fact that does not follow, and why, by the scorer's code."""

    fact: Fact
    code: str


class SequenceWatch:
    """One table. `unexpected`: the last fact that does not follow, until a play after its own has a result."""

    def __init__(self) -> None:
        self.unexpected: Unexpected | None = None
        self._of: tuple[object, ...] = ()
        """What is played: of another store, or under other rules, everything starts over."""
        self._sequence = TableSequence(NO_TURNS)

    def take(self, state: Table, facts: Iterable[Fact]) -> None:
        """Take in what a table tells, and the state in which it tells it."""
        for fact in facts:
            if isinstance(fact, OF_A_PLAY):
                self._follow(state)
                self._judge(fact)

    def _judge(self, fact: Fact) -> None:
        try:
            self._sequence.follow(fact)
        except OutOfSequence as error:
            self.unexpected = Unexpected(fact, error.code)
            self._sequence.count(fact)
            return
        if self.unexpected and isinstance(fact, Result) and fact.round != self.unexpected.fact.round:
            self.unexpected = None

    def _follow(self, state: Table) -> None:
        plan = state.assignment
        session = state.session.planned if state.session else None
        of = (plan.store, plan.profile, session and session.round) if plan else ()
        if of != self._of:
            rules = state.profile
            nearest = isinstance(rules, Profile) and rules.payments.several_hu.value == "nearest"
            sessions = frozenset((session.round,) if session else ())
            self._of, self._sequence = of, TableSequence(NO_TURNS, sessions, nearest=nearest)
            if session and session.entries:  # another device has begun it
                self._sequence.plays[session.round] = SessionSoFar(confirmed=True)
