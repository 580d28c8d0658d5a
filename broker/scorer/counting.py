"""Counts a declared hand at its table's request, since only the scorer knows the face of each serial.

No table can find out faces by asking. A hand is counted only for the current play at the table, after its winner has
declared and before the play has a result. Its tiles must be ones that the winner can have drawn or claimed, all hands
that do not win get the same answer (broker/rules/hand_value.py), and the number of counts per play is limited. A sealed
deal is opened for one answer at a time, and never earlier. Who drew a tile is known from the walls if a device has read
them; if they were ticked off by hand, the table is asked.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from broker.event import Event, RiichiBooking
from broker.protocol import (
    SEATS,
    AnyCountAnswer,
    Confirmed,
    CountRequest,
    Declared,
    Fact,
    LogMessage,
    McrWinDetails,
    NotCounted,
    Overridden,
    Refused,
    Restored,
    Result,
    RiichiRecorded,
    RiichiTakenBack,
    Seat,
)
from broker.rules import RuleError, is_whole_registry
from broker.rules.hand_value import KnownTiles, answer_count

MOST_COUNTS: Final = 24
"""Most counts for one play: four hands, each laid again five times."""

CORRECTED, OUT_OF_ORDER = "declarations_corrected", "out_of_order"
"""Guards of an override by which an arbiter has corrected who declared, or has had this play brought forward."""


class HandCounter:
    """Answers the tables of one event."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._counts: Counter[tuple[int, int, int]] = Counter()
        """Counts per play (table, round, deal). A restarted scorer begins again at zero."""
        self._last: dict[int, tuple[CountRequest, AnyCountAnswer]] = {}
        """The last request and answer of each table, so that a lost answer can be repeated."""

    def answer(
        self, request: CountRequest, facts: Collection[LogMessage], *, recorded: Collection[int] = ()
    ) -> AnyCountAnswer:
        """Answer a table, given its `facts` so far. `recorded`: its rounds that already have a result.

        A request that comes too early may be valid soon, so its answer is not stored and does not count towards the
        limit.
        """
        last = self._last.get(request.table)
        if last is not None and last[0] == request:
            return last[1]
        try:
            self._refuse_before_the_end(request, facts, recorded)
        except Refused as refused:
            return NotCounted(code=refused.code)
        self._counts[_play_of(request)] += 1
        try:
            answer = self._counted(request, facts)
        except RuleError as error:
            return NotCounted(code=error.code)
        self._last[request.table] = request, answer
        return answer

    def _refuse_before_the_end(
        self, request: CountRequest, facts: Collection[LogMessage], recorded: Collection[int]
    ) -> None:
        """Refuse requests about hands that are not open yet, or so many that faces could be guessed."""
        if request.seat not in _declarers(request, facts):
            raise Refused("not_declared", f"{request.seat} has not declared in round {request.round}")
        if not _is_newest(request, facts) or self._skips(request, facts, recorded):
            raise Refused("not_declared", f"table {request.table} is not at round {request.round}")
        has_walls = (request.table, request.round) not in self._event.riichi
        if has_walls and _needs_walls(request) and not _restored(request, facts):
            raise Refused("not_restored", f"it is not known yet whether the walls of round {request.round} were read")
        if request.round in recorded or _is_recorded(request, facts):
            raise Refused("play_has_result", f"round {request.round} has its result")
        if self._counts[_play_of(request)] >= MOST_COUNTS:
            raise Refused("counted_too_often", f"round {request.round} has had {MOST_COUNTS} counts")

    def _skips(self, request: CountRequest, facts: Collection[LogMessage], recorded: Collection[int]) -> bool:
        """Return whether the table has an earlier play to finish, and no arbiter has changed the order."""
        if (request.table, request.round) in self._event.riichi:
            return False
        if any(isinstance(fact, Overridden) and OUT_OF_ORDER in fact.guards for fact in _facts(request, facts)):
            return False
        played = {*recorded, *(one.fact.round for one in facts if isinstance(one.fact, Result))}
        earlier = (round_ for round_ in self._event.rounds_at.get(request.table, ()) if round_ < request.round)
        return any(round_ not in played for round_ in earlier)

    def _counted(self, request: CountRequest, facts: Collection[LogMessage]) -> AnyCountAnswer:
        session = self._event.riichi.get((request.table, request.round))
        try:
            tiles = self._tiles(request, facts, session)
        except RuleError as error:
            return NotCounted(code=Refused("deal_sealed", str(error)).code)
        if not is_whole_registry(tiles.faces):  # when an event is opened, only the tile sets of deals are checked
            return NotCounted(code=Refused("set_not_registered", "nobody has entered all tiles of this set").code)
        return answer_count(request, tiles, self._event.session_rules(session) if session else self._event.profile)

    def _tiles(self, request: CountRequest, facts: Collection[LogMessage], session: RiichiBooking | None) -> KnownTiles:
        """Return the known tiles of a play, opened for this one answer. Raises RuleError if it cannot be opened."""
        if session is not None:
            return KnownTiles(self._event.set_faces(session.set))
        read = _are_read(request, facts, self._event.form(request.deal))
        order = self._event.order(request.deal) if read else None
        return KnownTiles(self._event.faces(request.deal), order, *self._event.winds(request.deal))


def _play_of(request: CountRequest) -> tuple[int, int, int]:
    """Return table, round and deal. In a session the deal is the number of the hand."""
    return request.table, request.round, request.deal


def _facts(request: CountRequest, facts: Iterable[LogMessage]) -> list[Fact]:
    """Return a table's facts of this play, in their order."""
    of = [one for one in facts if (one.fact.round, one.fact.deal) == (request.round, request.deal)]
    return [one.fact for one in sorted(of, key=lambda one: one.seq)]


def _is_newest(request: CountRequest, facts: Iterable[LogMessage]) -> bool:
    """Return whether the table has not begun another play after this one."""
    begun = [one for one in facts if isinstance(one.fact, Restored | Confirmed | Declared)]
    newest = max(begun, key=lambda one: one.seq, default=None)
    return newest is not None and (newest.fact.round, newest.fact.deal) == (request.round, request.deal)


def _are_read(request: CountRequest, facts: Iterable[LogMessage], form: str) -> bool:
    """Return whether a device has verified that the walls had this form, rather than a person."""
    restored = _restored(request, facts)
    return bool(restored) and restored[-1].verified and restored[-1].form == form


def _restored(request: CountRequest, facts: Iterable[LogMessage]) -> list[Restored]:
    return [fact for fact in _facts(request, facts) if isinstance(fact, Restored)]


def _needs_walls(request: CountRequest) -> bool:
    """Return whether the walls are needed to know who drew which tile."""
    return isinstance(request.said, McrWinDetails) and request.said.laid is None


def _is_recorded(request: CountRequest, facts: Iterable[LogMessage]) -> bool:
    """Return whether this hand of a session is recorded. Faults end no hand, and records can be taken back."""
    over = False
    for fact in _facts(request, facts):
        if isinstance(fact, RiichiRecorded) and fact.event.kind != "minor_fault":
            over = True
        elif isinstance(fact, RiichiTakenBack):
            over = False
    return over


def _declarers(request: CountRequest, facts: Iterable[LogMessage]) -> frozenset[Seat]:
    """Return the seats that have declared by the button, or all seats if an arbiter has corrected the declarations."""
    found: set[Seat] = set()
    for fact in _facts(request, facts):
        if isinstance(fact, Declared):
            found.update(press.seat for press in fact.presses)
        elif isinstance(fact, Overridden) and CORRECTED in fact.guards:
            found.update(SEATS)
    return frozenset(found)
