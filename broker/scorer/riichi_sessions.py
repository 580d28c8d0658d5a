"""Riichi sessions: where each stands by what its table has told.

A session is its entries in the order of the facts that told them (`seq`), without those that were taken back. The
scorer keeps what a table told, and checks it: an entry that does not follow from those before it is left to an arbiter.
"""

from collections.abc import Callable, Mapping

from broker.event import RiichiBooking, SessionKey
from broker.protocol import (
    SEATS,
    LogMessage,
    PlannedSession,
    Player,
    RiichiRecorded,
    RiichiTakenBack,
)
from broker.rules import RuleError
from broker.rules.riichi import (
    RiichiProfile,
    begin_session,
    event_from_message,
    points_by_seat,
    settle_event,
    standing_from_state,
)


class RiichiSessions:
    """What the tables have told of their sessions."""

    def __init__(self, rules_of: Callable[[RiichiBooking], RiichiProfile]) -> None:
        self._rules_of = rules_of
        self._told: dict[SessionKey, dict[int, RiichiRecorded | RiichiTakenBack]] = {}
        self._stands: dict[SessionKey, tuple[RiichiRecorded, ...]] = {}

    def hear(self, message: LogMessage) -> None:
        """Take one fact in; those that are of no session are none of ours."""
        if isinstance(message.fact, RiichiRecorded | RiichiTakenBack):
            key = message.table, message.fact.round
            self._told.setdefault(key, {})[message.seq] = message.fact
            self._stands[key] = self._standing(key)

    def entries(self, key: SessionKey) -> tuple[RiichiRecorded, ...]:
        """Return what stands of a session, from its first entry on: the same until its table tells more.

        From any thread, since it is put in place whole.
        """
        return self._stands.get(key, ())

    def _standing(self, key: SessionKey) -> tuple[RiichiRecorded, ...]:
        stands: list[RiichiRecorded] = []
        for _, fact in sorted(self._told[key].items()):
            if isinstance(fact, RiichiRecorded):
                stands.append(fact)
            elif stands and stands[-1].entry == fact.entry:
                stands.pop()
        return tuple(stands)

    def present(self, booked: Mapping[SessionKey, RiichiBooking], table: int) -> RiichiBooking | None:
        """The session that a table is to play now: the first that is not over, or the last; None: it has plays."""
        here = [one for (at, _), one in sorted(booked.items()) if at == table]
        left = [one for one in here if not self._is_over(one)]
        return next(iter(left), here[-1] if here else None)

    def _is_over(self, booking: RiichiBooking) -> bool:
        entries = self.entries((booking.table, booking.round))
        return bool(entries) and entries[-1].event.kind == "end"

    def planned(self, booking: RiichiBooking, players: Mapping[str, Player]) -> PlannedSession:
        """Return a session as its table is told it: with where it stands, for a device that knows nothing of it."""
        entries = self.entries((booking.table, booking.round))
        return PlannedSession(
            round=booking.round,
            players={seat: players[booking.players[seat]] for seat in SEATS},
            set=booking.set,
            standing=entries[-1].standing if entries else None,
            entries=entries[-1].entry if entries else 0,
        )

    def differing(self, booking: RiichiBooking) -> tuple[int, ...]:
        """Return the numbers of entries whose payments do not follow from the entries before them."""
        rules = self._rules_of(booking)
        state, wrong = begin_session(rules), list[int]()
        for fact in self.entries((booking.table, booking.round)):
            try:
                settled = settle_event(state, event_from_message(fact.event), rules)
            except RuleError:
                return (*wrong, fact.entry)
            state = settled.state
            told = fact.deltas, fact.standing
            if told != (points_by_seat(settled.deltas), standing_from_state(state, fact.standing.hand)):
                wrong.append(fact.entry)
        return tuple(wrong)
