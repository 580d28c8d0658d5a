"""Riichi sessions of an event: which are planned, and where each stands by what its table has told.

A session is its entries in the order of the facts that told them (`seq`); what was taken back is left out. The scorer
reckons nothing that a table told otherwise: it settles the entries again, and an entry that differs is the arbiter's.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from broker.contract.facts import RiichiHand, RiichiTakenBack
from broker.contract.messages import LogMessage
from broker.contract.plans import PlannedSession, Player
from broker.contract.words import SEATS, PlayerId, ProfileId, RoundNo, Seat, SetNo, TableNo
from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.apply import apply
from broker.rules.riichi.session.record import begin
from broker.rules.riichi.session.told import by_seat, event_of, standing_of

Key = tuple[int, int]
"""Table and round."""


class RiichiBooking(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One session: a table that deals hand after hand in this round, by a profile that ships or its own."""

    round: RoundNo
    table: TableNo
    profile: ProfileId
    players: dict[Seat, PlayerId]
    set: SetNo = 1
    """The tiles with which it is played, so that a hand can be counted from their backs."""


def problems(
    booked: Iterable[RiichiBooking],
    known: Iterable[PlayerId],
    tables_with_plays: Iterable[int],
    rules_of: Callable[[str], RiichiProfile],
) -> Iterable[RuleError]:
    """Name everything that is wrong with the sessions of a plan. `rules_of` gives a profile by its id."""
    players, taken, with_plays = set(known), set[Key](), set(tables_with_plays)
    for one in booked:
        where = f"riichi in round {one.round} at table {one.table}"
        if one.table in with_plays:
            yield RuleError("riichi_misplanned", f"{where}: the table has plays with carriers in this event")
        if (one.table, one.round) in taken:
            yield RuleError("riichi_misplanned", f"{where}: it is listed twice")
        taken.add((one.table, one.round))
        if set(one.players) != set(SEATS) or len(set(one.players.values())) < len(SEATS):
            yield RuleError("riichi_misplanned", f"{where}: it needs four players, one a seat")
        for player in set(one.players.values()) - players:
            yield RuleError("player_not_listed", f"{where}: player {player} is not in the list")
        try:
            rules_of(one.profile)
        except RuleError as error:
            yield RuleError(error.code, f"{where}: {error.text}")


class Sessions:
    """What the tables have told of their sessions."""

    def __init__(self, rules_of: Callable[[RiichiBooking], RiichiProfile]) -> None:
        self._rules_of = rules_of
        self._told: dict[Key, dict[int, RiichiHand | RiichiTakenBack]] = {}
        self._stands: dict[Key, tuple[RiichiHand, ...]] = {}

    def hear(self, message: LogMessage) -> None:
        """Take one fact in; those that are of no session are none of ours."""
        if isinstance(message.fact, RiichiHand | RiichiTakenBack):
            key = message.table, message.fact.round
            self._told.setdefault(key, {})[message.seq] = message.fact
            self._stands[key] = self._standing(key)

    def entries(self, key: Key) -> tuple[RiichiHand, ...]:
        """Give what stands of a session, from its first entry on: the same until its table tells more.

        From any thread, since it is put in place whole.
        """
        return self._stands.get(key, ())

    def _standing(self, key: Key) -> tuple[RiichiHand, ...]:
        stands: list[RiichiHand] = []
        for _, fact in sorted(self._told[key].items()):
            if isinstance(fact, RiichiHand):
                stands.append(fact)
            elif stands and stands[-1].entry == fact.entry:
                stands.pop()
        return tuple(stands)

    def present(self, booked: Mapping[Key, RiichiBooking], table: int) -> RiichiBooking | None:
        """Give the session that a table is to play now: the first that is not over, or the last; None: it has plays."""
        here = [one for (at, _), one in sorted(booked.items()) if at == table]
        left = [one for one in here if not self._is_over(one)]
        return next(iter(left), here[-1] if here else None)

    def _is_over(self, booking: RiichiBooking) -> bool:
        entries = self.entries((booking.table, booking.round))
        return bool(entries) and entries[-1].event.kind == "end"

    def planned(self, booking: RiichiBooking, players: Mapping[str, Player]) -> PlannedSession:
        """Give a session as its table is told it: with where it stands, for a device that knows nothing of it."""
        entries = self.entries((booking.table, booking.round))
        return PlannedSession(
            round=booking.round,
            players={seat: players[booking.players[seat]] for seat in SEATS},
            set=booking.set,
            standing=entries[-1].standing if entries else None,
            entries=entries[-1].entry if entries else 0,
        )

    def differing(self, booking: RiichiBooking) -> tuple[int, ...]:
        """Give the numbers of entries whose payments do not follow from the entries before them."""
        rules = self._rules_of(booking)
        state, wrong = begin(rules), list[int]()
        for fact in self.entries((booking.table, booking.round)):
            try:
                settled = apply(state, event_of(fact.event), rules)
            except RuleError:
                return (*wrong, fact.entry)
            state = settled.state
            told = fact.deltas, fact.standing
            if told != (by_seat(settled.deltas), standing_of(state, fact.standing.hand)):
                wrong.append(fact.entry)
        return tuple(wrong)
