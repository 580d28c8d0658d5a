"""What the tables have told of their sessions, with the sheet of each: settled again only where a table told more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from broker.contract.facts import RiichiHand
from broker.contract.riichi import RiichiStanding
from broker.contract.words import SEATS
from broker.records.session.rows import Language, Sheet, sheet
from broker.rules.errors import RuleError
from broker.rules.riichi.session.record import begin, played
from broker.rules.riichi.session.told import event_of
from broker.scorer.event import Event
from broker.scorer.riichi import Key, RiichiBooking, Sessions


@dataclass(frozen=True, slots=True)
class Heard:
    """One session as its table has told it."""

    booking: RiichiBooking
    entries: tuple[RiichiHand, ...]
    differing: tuple[int, ...]
    """Entries whose payments do not follow from those before."""
    sheet: Sheet | None
    """None where an entry cannot be, which `differing` names."""

    @property
    def now(self) -> RiichiStanding | None:
        """Where it stands; None before its first hand."""
        return self.entries[-1].standing if self.entries else None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.now is not None and self.now.over


NONE: Final = (None, None)


class SessionsNow:
    """Gives sessions by table and round. From any thread: what a table has told is put in place whole."""

    def __init__(self, events: Callable[[], Event], sessions: Sessions) -> None:
        self._events, self._sessions = events, sessions
        self._kept: dict[tuple[Key, Language], tuple[Event, Heard]] = {}

    def __len__(self) -> int:
        return len(self._events().riichi)

    def some(self, lines: slice, language: Language) -> tuple[Heard, ...]:
        """Give some of the event's sessions, which are in the order of tables and rounds: only these are settled."""
        return tuple(self._of(key, language) for key in sorted(self._events().riichi)[lines])

    def one(self, key: Key, language: Language) -> Heard | None:
        """Give one session; None where none is planned."""
        return self._of(key, language) if key in self._events().riichi else None

    def _of(self, key: Key, language: Language) -> Heard:
        event, entries, (of, kept) = self._events(), self._sessions.entries(key), self._kept.get((key, language), NONE)
        if kept is None or kept.entries is not entries or of is not event:
            booking = event.riichi[key]
            wrong = self._sessions.differing(booking)
            kept = Heard(booking, entries, wrong, _sheet(event, booking, entries, language))
            self._kept[key, language] = event, kept
        return kept


def _sheet(event: Event, booking: RiichiBooking, told: Sequence[RiichiHand], language: Language) -> Sheet | None:
    rules = event.session_rules(booking)
    names = [event.players[booking.players[seat]].name for seat in SEATS]
    try:
        entries = played((event_of(fact.event) for fact in told), rules)
    except RuleError:
        return None
    return sheet(f"{booking.table} – {booking.round}", begin(rules), entries, names, language)
