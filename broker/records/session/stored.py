"""A riichi session that a table of an event has told its scorer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.events import Event
from broker.rules.riichi.session.told import event_of
from broker.scorer.stored import open_stored


@dataclass(frozen=True, slots=True)
class Told:
    """A session from its beginning: its rules, the players in turn order, what happened."""

    rules: RiichiProfile
    names: Sequence[str]
    events: Iterable[Event]


def stored_session(folder: Path, table: int, round_: int) -> Told:
    """Read a session. Raises ScorerError, StoreError; RuleError `no_such_session`."""
    stored = open_stored(folder)
    booking = stored.event.riichi.get((table, round_))
    if booking is None:
        raise RuleError("no_such_session", f"table {table} plays no riichi session in round {round_} of this event")
    names = [stored.event.players[booking.players[seat]].name for seat in SEATS]
    events = [event_of(fact.event) for fact in stored.room.riichi.entries((table, round_))]
    return Told(stored.event.session_rules(booking), names, events)
